#include <algorithm>
#include <unordered_set>
#include <utility>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/settle.h"
#include "runtime/unknown_paths.h"
#include "runtime/walk.h"

namespace apiserver::v0::runtime {

namespace {

// The number of fields that Go's decoder reports.
constexpr std::size_t kReportedMax = 100;

bool IsEnvelope(std::string_view key) {
  return key == "apiVersion" || key == "kind" || key == "metadata";
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
  known = parent.preserve_unknown_fields || (parent.embedded_resource && IsEnvelope(key));
  return nullptr;
}

std::vector<UnknownMember> UnknownMembers(const Object& object) {
  std::vector<UnknownMember> members;
  const KindVersion* const version = object.kind().FindVersion(object.version());
  if (version == nullptr || version->schema == nullptr) return members;
  std::unordered_set<std::string> seen;
  const bool structural = object.kind().semantics() == Semantics::kCustomResource;
  Walk walk;
  walk.Run(*version->schema, object.root(),
           [&](const Schema& parent, std::string_view key, Value) -> const Schema* {
             bool known = false;
             const Schema* const schema = MemberSchema(parent, key, known);
             const bool root = walk.frames().size() == 1;
             if (known || (structural && root && key == "metadata")) return schema;
             if (members.size() == kReportedMax) return nullptr;
             std::string path = walk.Path();
             if (seen.insert(path).second) members.push_back({std::move(path), key.data()});
             return nullptr;
           });
  // Structural pruning in Go reports them sorted.
  if (structural) {
    std::sort(members.begin(), members.end(),
              [](const UnknownMember& a, const UnknownMember& b) { return a.path < b.path; });
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
