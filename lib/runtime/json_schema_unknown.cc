#include "runtime/json_schema.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/json_schema_members.h"

namespace apiserver::v0::runtime {
namespace {

constexpr std::size_t kUnknownMembersMax = 100;

// Tells the type of a map, or of each item of a list.
enum class SchemaPartForm : std::uint8_t { kSchema, kSchemasByName, kDocs, kRule };

bool DeclaresSmall(std::span<const SmallMember> members, std::string_view name) {
  return std::any_of(members.begin(), members.end(),
                     [name](const SmallMember& member) { return member.name == name; });
}

class UnknownSearch {
 public:
  UnknownSearch(std::string_view path, std::vector<UnknownMember>& unknown)
      : path_(path), unknown_(unknown) {}

  void Run(const Value& schema) {
    Enter(schema, SchemaPartForm::kSchema);
    while (!frames_.empty() && unknown_.size() < kUnknownMembersMax) {
      Frame& frame = frames_.back();
      if (frame.next == frame.value.size()) {
        frames_.pop_back();
        continue;
      }
      const std::size_t at = frame.next++;
      const SchemaPartForm part = frame.part;
      if (frame.value.is_list()) {
        Enter(frame.value.items()[at], part);
      } else {
        Visit(frame.value.members()[at], part);
      }
    }
  }

 private:
  struct Frame {
    Value value;
    SchemaPartForm part;
    std::size_t next = 0;  // One past the child that is being visited.
  };

  void Enter(const Value& value, SchemaPartForm part) {
    if (value.is_map() || value.is_list()) frames_.push_back({value, part});
  }

  void Visit(const Member& member, SchemaPartForm part) {
    switch (part) {
      case SchemaPartForm::kSchema:
        return VisitSchema(member);
      case SchemaPartForm::kSchemasByName:
        return Enter(member.value, SchemaPartForm::kSchema);
      case SchemaPartForm::kDocs:
        if (!DeclaresSmall(DocsMembers(), member.key)) Report(member.key);
        return;
      case SchemaPartForm::kRule:
        if (!DeclaresSmall(RuleMembers(), member.key)) Report(member.key);
    }
  }

  void VisitSchema(const Member& member) {
    const std::size_t at = FindSchemaMember(member.key);
    if (at == kSchemaMembers) return Report(member.key);
    switch (SchemaMembers()[at].form) {
      case MemberForm::kSchema:
      case MemberForm::kSchemas:
        return Enter(member.value, SchemaPartForm::kSchema);
      case MemberForm::kSchemaMap:
        return Enter(member.value, SchemaPartForm::kSchemasByName);
      case MemberForm::kDocs:
        return Enter(member.value, SchemaPartForm::kDocs);
      case MemberForm::kRules:
        return Enter(member.value, SchemaPartForm::kRule);
      default:
        return;
    }
  }

  void Report(std::string_view key) {
    std::string path(path_);
    for (const Frame& frame : frames_) {
      const std::size_t at = frame.next - 1;
      if (frame.value.is_list()) {
        path += "[" + std::to_string(at) + "]";
      } else {
        path.append(".").append(frame.value.members()[at].key);
      }
    }
    unknown_.push_back({std::move(path), key.data()});
  }

  const std::string_view path_;
  std::vector<UnknownMember>& unknown_;
  std::vector<Frame> frames_;
};

}  // namespace

void FindUnknownInJsonSchema(const Value& schema, std::string_view path,
                             std::vector<UnknownMember>& unknown) {
  UnknownSearch(path, unknown).Run(schema);
}

}  // namespace apiserver::v0::runtime
