#include "runtime/json_schema_changes.h"

#include <algorithm>
#include <span>

#include "runtime/json_schema_members.h"

namespace apiserver::v0::runtime {
namespace {

using Form = MemberForm;

constexpr std::size_t kNoParent = static_cast<std::size_t>(-1);

bool IsPlain(const Value& value) { return !value.is_map() && !value.is_list(); }

// Tells if a value has no maps whose keys may have to be sorted.
bool NeedsNoOrder(const Value& value) {
  if (value.is_map()) return value.size() == 0;
  return std::all_of(value.items().begin(), value.items().end(), &IsPlain);
}

bool AreTexts(const Value& list) {
  return std::all_of(list.items().begin(), list.items().end(),
                     [](const Value& item) { return item.is_string(); });
}

// Tells if the members of a rule are those that Go writes, in their order.
bool IsRuleAsWritten(const Value& rule) {
  const std::span<const Member> members = rule.members();
  std::size_t next = 0;
  for (const SmallMember& known : RuleMembers()) {
    const bool here = next < members.size() && members[next].key == known.name;
    if (!here && known.always) return false;
    if (!here) continue;
    const Value& value = members[next++].value;
    if (value.is_null() || !FitsForm(known.form, value)) return false;
    if (!known.always && IsLeftOut(known.form, value)) return false;
  }
  return next == members.size();
}

bool AreRulesAsWritten(const Value& rules) {
  return std::all_of(rules.items().begin(), rules.items().end(), &IsRuleAsWritten);
}

}  // namespace

SchemaChanges::SchemaChanges(const Value& root) {
  open_.push_back({root, kNoParent});
  while (!open_.empty()) {
    const Open next = open_.back();
    open_.pop_back();
    const std::size_t at = nodes_.size();
    nodes_.push_back({next.schema.members().data(), next.parent});
    if (!Enter(next.schema, at)) Note(at);
  }
}

// Stops at one that is noted already: those above it are, too.
void SchemaChanges::Note(std::size_t at) {
  while (at != kNoParent && !nodes_[at].changed) {
    nodes_[at].changed = true;
    changed_.insert(nodes_[at].members);
    at = nodes_[at].parent;
  }
}

bool SchemaChanges::Enter(const Value& schema, std::size_t at) {
  std::size_t after = 0;  // Behind the member before.
  bool written = true;
  for (const Member& member : schema.members()) {
    const std::size_t index = FindSchemaMember(member.key);
    const bool in_order = index >= after && index != kSchemaMembers;
    after = index + 1;
    const bool as_written = in_order && !member.value.is_null() &&
                            FitsForm(SchemaMembers()[index].form, member.value) &&
                            !IsLeftOut(SchemaMembers()[index].form, member.value);
    // Enters the member in any case: a schema below may have to be written anew as well.
    if (index == kSchemaMembers || !EnterMember(index, member.value, at) || !as_written) {
      written = false;
    }
  }
  return written;
}

bool SchemaChanges::EnterMember(std::size_t member, const Value& value, std::size_t at) {
  switch (SchemaMembers()[member].form) {
    case Form::kNumber:
      return value.type() == Value::Type::kDouble;
    case Form::kJson:
    case Form::kJsons:
      return NeedsNoOrder(value);
    case Form::kTexts:
      return AreTexts(value);
    case Form::kSchema:
    case Form::kSchemaOrFlag:
      if (value.is_map()) open_.push_back({value, at});
      return true;
    case Form::kSchemaOrList:
      if (value.is_map()) open_.push_back({value, at});
      return value.is_map() || EnterList(value, at);
    case Form::kSchemas:
      return EnterList(value, at);
    case Form::kSchemaMap:
    case Form::kSchemasOrTexts:
      return EnterNamed(value, SchemaMembers()[member].form == Form::kSchemasOrTexts, at);
    case Form::kDocs:
      return false;
    case Form::kRules:
      return AreRulesAsWritten(value);
    default:
      return true;
  }
}

bool SchemaChanges::EnterList(const Value& list, std::size_t at) {
  bool written = list.is_list();
  for (const Value& item : list.items()) {
    written &= item.is_map();
    if (item.is_map()) open_.push_back({item, at});
  }
  return written;
}

bool SchemaChanges::EnterNamed(const Value& named, bool texts, std::size_t at) {
  bool written = true;
  const Member* before = nullptr;
  for (const Member& each : named.members()) {
    written &= before == nullptr || before->key < each.key;
    written &= each.value.is_map() || (texts && each.value.is_list() && AreTexts(each.value));
    before = &each;
    if (each.value.is_map()) open_.push_back({each.value, at});
  }
  return written;
}

}  // namespace apiserver::v0::runtime
