#pragma once

#include <optional>
#include <string_view>

#include "apiserver/cel/value.h"
#include "text/same.h"

// Data as expressions see it: k8s.io/apiserver/pkg/cel/common/valuesunstructured.go.
namespace apiserver::inline v0::cel {

// Makes lists and maps of data.
struct DataViews {
  static Value List(const runtime::Value& list, const runtime::Schema* schema) {
    const std::span<const runtime::Value> items = list.items();
    Value made = Container(Value::Kind::kList, items.size(), schema);
    made.payload_.data_items = items.data();
    return made;
  }
  static Value Map(const runtime::Value& map, const runtime::Schema* schema) {
    const std::span<const runtime::Member> members = map.members();
    Value made = Container(Value::Kind::kMap, members.size(), schema);
    made.payload_.data_members = members.data();
    return made;
  }
  // Sets `place` to what Value::FromData() returns without a schema. The usual types are written
  // where they stay: reading a copy of what was just written in parts stalls.
  static void SetPlain(Value& place, const runtime::Value& data, Arena& arena) {
    switch (data.type()) {
      case runtime::Value::Type::kMap:
        place = Map(data, nullptr);
        return;
      case runtime::Value::Type::kList:
        place = List(data, nullptr);
        return;
      case runtime::Value::Type::kString:
        place = Value::String(data.AsString());
        return;
      case runtime::Value::Type::kInt:
        place = Value::Int(data.AsInt());
        return;
      default:
        SetOther(place, data, arena);
    }
  }
  // Returns a list or map without the schema that it is seen through.
  static Value WithoutSchema(const Value& container);

 private:
  static void SetOther(Value& place, const runtime::Value& data, Arena& arena);
  static Value Container(Value::Kind kind, std::size_t size, const runtime::Schema* schema) {
    Value made(kind);
    made.data_ = true;
    made.size_ = static_cast<std::uint32_t>(size);
    made.extra_.schema = schema;
    return made;
  }
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
