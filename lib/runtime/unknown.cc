#include <algorithm>
#include <unordered_set>
#include <utility>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/settle.h"
#include "runtime/custom_prune.h"
#include "runtime/json_schema.h"
#include "runtime/unknown_paths.h"
#include "runtime/walk.h"

namespace apiserver::v0::runtime {

namespace {

// The number of fields that Go's decoder reports.
constexpr std::size_t kReportedMax = 100;

constexpr std::string_view kMetadata = "metadata.";

// Returns the schema of the visited member of a custom object, or of the metadata that every
// resource has.
const Schema* CustomSchema(const Schema& parent, const Walk& walk, std::string_view key,
                           PreservedItems& preserved, bool& known) {
  const bool resource = walk.frames().size() == 1 || parent.embedded_resource;
  if (!resource || !IsResourceMember(key)) {
    return KeptMember(parent, walk.frames().back().value, key, preserved, known);
  }
  known = true;
  return key == "metadata" ? ObjectMetaSchema().get() : nullptr;
}

}  // namespace

const Schema* MemberSchema(const Schema& parent, std::string_view key, bool& known) {
  known = true;
  if (parent.type == SchemaType::kMap || parent.type == SchemaType::kList) {
    return parent.items().get();
  }
  if (parent.type != SchemaType::kStruct && parent.type != SchemaType::kAny) return nullptr;
  const Field* const field = parent.FindField(key);
  if (field != nullptr) return field->schema.get();
  if (parent.members() != nullptr) return parent.members().get();
  if (parent.type == SchemaType::kAny) return nullptr;
  known = parent.preserve_unknown_fields || (parent.embedded_resource && IsResourceMember(key));
  return nullptr;
}

std::vector<UnknownMember> UnknownMembers(const Object& object) {
  std::vector<UnknownMember> members;
  const KindVersion* const version = object.kind().FindVersion(object.version());
  if (version == nullptr || version->schema == nullptr) return members;
  std::unordered_set<std::string> seen;
  const auto report = [&](UnknownMember member) {
    if (members.size() == kReportedMax) return;
    if (seen.insert(member.path).second) members.push_back(std::move(member));
  };
  const bool structural = object.kind().semantics() == Semantics::kCustomResource;
  PreservedItems preserved;
  Walk walk;
  walk.Run(*version->schema, object.root(),
           [&](const Schema& parent, std::string_view key, const Value& value) -> const Schema* {
             bool known = false;
             const Schema* const schema = structural
                                              ? CustomSchema(parent, walk, key, preserved, known)
                                              : MemberSchema(parent, key, known);
             if (members.size() == kReportedMax) return nullptr;
             if (!known) {
               report({walk.Path(), key.data()});
               return nullptr;
             }
             if (schema == nullptr || !IsJsonSchema(*schema)) return schema;
             std::vector<UnknownMember> below;
             FindUnknownInJsonSchema(value, walk.Path(), below);
             for (UnknownMember& member : below) report(std::move(member));
             return nullptr;
           });
  // Go reports them sorted, metadata first.
  if (structural) {
    std::sort(members.begin(), members.end(), [](const UnknownMember& a, const UnknownMember& b) {
      const bool a_first = a.path.starts_with(kMetadata);
      const bool b_first = b.path.starts_with(kMetadata);
      return a_first != b_first ? a_first : a.path < b.path;
    });
  }
  return members;
}

std::vector<std::string> UnknownFields(const Object& object) {
  std::vector<std::string> errors;
  for (const UnknownMember& member : UnknownMembers(object)) {
    errors.push_back("unknown field " + field::QuoteShort(member.path));
  }
  return errors;
}

}  // namespace apiserver::v0::runtime
