#pragma once

#include <optional>
#include <string_view>

#include "apiserver/cel/value.h"
#include "text/same.h"

// Data as expressions see it: k8s.io/apiserver/pkg/cel/common/valuesunstructured.go.
namespace apiserver::inline v0::cel {

// Makes lists and maps of data.
struct DataViews {
  static Value List(const runtime::Value& list, const runtime::Schema* schema);
  static Value Map(const runtime::Value& map, const runtime::Schema* schema);
  // Returns a list or map without the schema that it is seen through.
  static Value WithoutSchema(const Value& container);
};

// Data that x-kubernetes-preserve-unknown-fields kept without a type: only equality is defined for
// it. The object is a runtime::Value.
extern const OpaqueKind kUnknownPreserved;

// A map of data whose schema declares properties: keys are escaped names, null members are absent.
inline bool IsStructView(const Value& map) {
  return map.is_data() && map.schema() != nullptr &&
         map.schema()->type == runtime::SchemaType::kStruct && !map.schema()->fields().empty();
}
// Returns the schema of a member's value. nullptr: the schema declares no such member, so that
// expressions do not see it. For maps of data that have a schema.
const runtime::Schema* SchemaOfMember(const runtime::Schema& schema, std::string_view property);

// Finds a member of a map of data. `name` is the property itself, unescaped. nullopt: it is
// missing, null in a struct view, or not declared by the schema.
std::optional<Value> FindProperty(const Value& map, std::string_view property, Arena& arena);

// Finds a member among others.
inline const runtime::Value* FindMember(std::span<const runtime::Member> members,
                                        std::string_view key) {
  for (const runtime::Member& member : members) {
    if (text::SameName(member.key, key)) return &member.value;
  }
  return nullptr;
}

}  // namespace apiserver::inline v0::cel
