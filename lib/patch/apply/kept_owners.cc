#include "patch/apply/kept_owners.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "patch/apply/type.h"
#include "text/scan.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Member;
using runtime::Value;

// Updater handles more: its maps find a manager faster than the comparisons here.
constexpr std::size_t kOwnersMax = 32;
constexpr std::string_view kItself = ".";
constexpr std::string_view kFieldPrefix = "f:";

bool NeedsNoEscapes(std::string_view text) { return text::UnescapedPrefix(text) == text.size(); }

// Returns the members of one level of fieldsV1 without the one for the place itself.
std::span<const Member> FieldsIn(const Value& level) {
  const auto members = level.members();
  return !members.empty() && members[0].key == kItself ? members.subspan(1) : members;
}

bool IsOwned(const Value& level) { return level.size() == 0 || level.members()[0].key == kItself; }

// Follows Reconciler of reconcile.cc: true if fields below a place of this type are owned as one.
bool IsOwnedAsOne(const Type& type) {
  if (type.map) return type.map_atomic && !type.untyped_deduced_map;
  return type.scalar == Type::Scalar::kNone && type.list && type.list_atomic;
}

// Returns the type whose atomic parts matter at this place. Null: none does.
const Type* WithAtomicParts(const Type* type) {
  if (type == nullptr || !type->has_atomic || !type->map || type->untyped_deduced_map) {
    return nullptr;
  }
  return type;
}

// Returns true if decoding `level` and encoding it again gives the same: the fields of structs and
// maps, in order, with names that need no escapes; and if the schema has not made a place in it
// atomic. `type` may be null.
bool IsInWrittenForm(const Value& level, const Type* type, std::size_t depth) {
  const auto fields = FieldsIn(level);
  if (fields.empty() || depth > FieldSet::kDepthMax) return false;
  if (fields.size() != level.size() && level.members()[0].value.size() != 0) return false;
  std::string_view before;
  for (const Member& field : fields) {
    const std::string_view key = field.key;
    if (!key.starts_with(kFieldPrefix) || key <= before || !NeedsNoEscapes(key)) return false;
    before = key;
    if (!field.value.is_map()) return false;
    if (field.value.size() == 0) continue;
    bool declared = false;
    const Type* const child =
        type == nullptr ? nullptr : type->FieldType(key.substr(kFieldPrefix.size()), declared);
    if (child != nullptr && IsOwnedAsOne(*child)) return false;
    if (!IsInWrittenForm(field.value, WithAtomicParts(child), depth + 1)) return false;
  }
  return true;
}

// Null: neither the field nor anything below it is owned.
const Value* OwnedField(const Value& level, const PathElement& element) {
  if (element.kind() != PathElement::Kind::kFieldName) return nullptr;
  const auto fields = FieldsIn(level);
  const auto at = std::lower_bound(fields.begin(), fields.end(), element.field_name(),
                                   [](const Member& field, std::string_view name) {
                                     return field.key.substr(kFieldPrefix.size()) < name;
                                   });
  const bool found =
      at != fields.end() && at->key.substr(kFieldPrefix.size()) == element.field_name();
  return found ? &at->value : nullptr;
}

// True if every member of `set` is owned.
bool HasAll(const Value& level, FieldSet set) {
  return std::ranges::all_of(set.entries(), [&level](const FieldSet::Entry& entry) {
    const Value* const field = OwnedField(level, entry.element);
    return field != nullptr && (!entry.member || IsOwned(*field)) && HasAll(*field, entry.children);
  });
}

// True if no member of `set` is owned.
bool HasNone(const Value& level, FieldSet set) {
  return std::ranges::none_of(set.entries(), [&level](const FieldSet::Entry& entry) {
    const Value* const field = OwnedField(level, entry.element);
    return field != nullptr &&
           ((entry.member && IsOwned(*field)) || !HasNone(*field, entry.children));
  });
}

bool HasNoneOf(const Value& level, const Comparison& changes) {
  return HasNone(level, changes.removed) && HasNone(level, changes.modified) &&
         HasNone(level, changes.added);
}

// True if both are one manager, for which BuildManagerIdentifier() has one text.
bool IsSameManager(const ManagerInfo& a, const ManagerInfo& b) {
  return a.manager == b.manager && a.operation == b.operation && a.subresource == b.subresource &&
         (a.operation == kApply || a.api_version == b.api_version);
}

bool IsTwice(const std::vector<Owner>& owners, const ManagerInfo& info) {
  return std::ranges::count_if(
             owners, [&info](const Owner& owner) { return IsSameManager(owner.info, info); }) > 1;
}

}  // namespace

std::optional<KeptOwners> KeptOwners::Read(Value entries, std::string_view api_version,
                                           const Type& type, std::size_t updaters_max) {
  if (entries.size() == 0 || entries.size() > kOwnersMax) return std::nullopt;
  // Fields below an atomic root are not adapted to the schema.
  const bool atomic = type.map && type.map_atomic;
  KeptOwners kept;
  std::size_t updaters = 0;
  for (const Value& entry : entries.items()) {
    Owner owner = OwnerOf(entry);
    const ManagerInfo& info = owner.info;
    if (info.api_version != api_version || !CheckOwner(entry, info, 0).ok()) return std::nullopt;
    if (!NeedsNoEscapes(info.manager) || !NeedsNoEscapes(info.subresource)) return std::nullopt;
    if (!IsInWrittenForm(owner.fields_v1, atomic ? nullptr : WithAtomicParts(&type), 0) ||
        IsOwned(owner.fields_v1)) {
      return std::nullopt;
    }
    updaters += info.operation == kUpdate ? 1 : 0;
    kept.owners_.push_back(std::move(owner));
    if (IsTwice(kept.owners_, kept.owners_.back().info)) return std::nullopt;
  }
  if (updaters > updaters_max) return std::nullopt;
  return kept;
}

bool KeptOwners::Stay(const Comparison& changes, FieldSet nobodys, const Owner& writer) {
  runtime::Arena scratch;
  const FieldSet modified = changes.modified.Difference(nobodys, scratch);
  const FieldSet added = changes.added.Difference(nobodys, scratch);
  const bool writes = !modified.Empty() || !added.Empty();
  Owner* mine = nullptr;
  for (Owner& owner : owners_) {
    if (writes && IsSameManager(owner.info, writer.info)) {
      mine = &owner;
    } else if (!HasNoneOf(owner.fields_v1, changes)) {
      return false;
    }
  }
  if (!writes) return true;
  if (mine == nullptr || !HasNone(mine->fields_v1, changes.removed) ||
      !HasNone(mine->fields_v1, nobodys) || !HasAll(mine->fields_v1, modified) ||
      !HasAll(mine->fields_v1, added)) {
    return false;
  }
  mine->time = writer.time;
  return true;
}

const Owner* KeptOwners::Find(const ManagerInfo& info) const {
  const auto found = std::ranges::find_if(
      owners_, [&info](const Owner& owner) { return IsSameManager(owner.info, info); });
  return found != owners_.end() ? &*found : nullptr;
}

bool KeptOwners::HasJust(const ManagerInfo& applier, FieldSet fields) const {
  const Owner* const owner = Find(applier);
  return owner != nullptr && IsAsWritten(owner->fields_v1, fields);
}

bool KeptOwners::OthersStay(const ManagerInfo& applier, const Comparison& changes) const {
  return std::ranges::all_of(owners_, [&](const Owner& owner) {
    return IsSameManager(owner.info, applier) || HasNoneOf(owner.fields_v1, changes);
  });
}

void KeptOwners::SetTime(const Owner& writer) {
  for (Owner& owner : owners_) {
    if (IsSameManager(owner.info, writer.info)) owner.time = writer.time;
  }
}

Value KeptOwners::Encode(bool share, runtime::Arena& arena) && {
  if (!share) {
    for (Owner& owner : owners_) owner.fields_v1 = runtime::Copy(owner.fields_v1, arena);
  }
  return ListOfOwners(std::move(owners_), arena);
}

}  // namespace apiserver::v0::patch::apply
