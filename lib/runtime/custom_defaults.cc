#include <algorithm>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "runtime/custom_old.h"
#include "runtime/custom_prune.h"
#include "runtime/field_list.h"
#include "runtime/passes.h"
#include "runtime/rewrite.h"

namespace apiserver::v0::runtime {

namespace {

// Adds what is missing in a custom object: schema/defaulting of apiextensions-apiserver.
class CustomDefaultsPass final : public RewritePass {
 public:
  explicit CustomDefaultsPass(Arena& arena) : arena_(arena) {}

  bool Open(const Schema& schema, Value source, std::vector<Slot>& slots, bool& changed) override {
    embedded_ |= schema.embedded_resource;
    const std::size_t begin = slots.size();
    const Schema* const items = CustomItems(schema);
    for (const Value& item : source.items()) {
      slots.push_back({"", Replaced(items, item, changed), items});
    }
    for (const Member& member : source.members()) AddMember(schema, member, slots, changed);
    if (!source.is_map()) return true;
    // Added before the members are visited, so that a default's own members are defaulted too.
    if (AddMissing(schema, begin, slots)) {
      changed = true;
      added_ = true;
      std::sort(slots.begin() + static_cast<std::ptrdiff_t>(begin), slots.end(),
                [](const Slot& a, const Slot& b) { return a.key < b.key; });
    }
    return true;
  }

  // Tells if a default was added to an object that has embedded resources, or may have got one.
  bool added_to_embedded() const { return added_ && embedded_; }

 private:
  // Returns the default of an item or value that is null and must not be; else the value.
  Value Replaced(const Schema* schema, const Value& value, bool& changed) {
    if (!value.is_null() || schema == nullptr || schema->nullable) return value;
    const Value* const fallback = schema->default_value();
    if (fallback == nullptr) return value;
    changed = true;
    added_ = true;
    return Copy(*fallback, arena_);
  }

  void AddMember(const Schema& schema, const Member& member, std::vector<Slot>& slots,
                 bool& changed) {
    bool additional = false;
    const Schema* const below = CustomMember(schema, member.key, additional);
    const bool null = member.value.is_null() && below != nullptr && !below->nullable;
    const Field* const field = null && !additional ? schema.FindField(member.key) : nullptr;
    if (field != nullptr && field->default_value() != nullptr) {
      changed = true;  // The default takes its place. A null without one has been kept on purpose.
    } else {
      slots.push_back({member.key, Replaced(below, member.value, changed), below});
    }
  }

  bool AddMissing(const Schema& schema, std::size_t begin, std::vector<Slot>& slots) const {
    const std::size_t end = slots.size();
    const FieldList fields(schema);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Field& field = fields[i];
      if (field.default_value() == nullptr) continue;
      const auto has = [&](const Slot& slot) { return slot.key == field.name(); };
      const auto from = slots.begin() + static_cast<std::ptrdiff_t>(begin);
      if (std::any_of(from, slots.begin() + static_cast<std::ptrdiff_t>(end), has)) continue;
      slots.push_back({field.name(), Copy(*field.default_value(), arena_), field.schema.get()});
    }
    return slots.size() > end;
  }

  Arena& arena_;
  bool added_ = false;
  bool embedded_ = false;
};

}  // namespace

Status SetCustomDefaults(Object& object, const Schema& schema, std::size_t arena_max) {
  Value root = object.root();
  CustomDefaultsPass pass(object.arena());
  if (Rewrite(schema, pass, object.arena(), root, arena_max) == Rewritten::kTooLarge) {
    return GrownTooLarge();
  }
  object.SetRoot(root);
  // Upstream drops from the schema's defaults what metadata of an embedded resource cannot have.
  if (pass.added_to_embedded()) {
    return PruneCustom(object, {.stored = true, .keep_nulls = true, .arena_max = arena_max});
  }
  return {};
}

}  // namespace apiserver::v0::runtime
