#include <algorithm>
#include <utility>
#include <vector>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "runtime/custom_old.h"
#include "runtime/custom_prune.h"
#include "runtime/field_list.h"
#include "runtime/passes.h"
#include "runtime/rewrite.h"
#include "runtime/value_kinds.h"

namespace apiserver::v0::runtime {

namespace {

// Tells if a default has an embedded resource in it, or is one.
bool HoldsEmbedded(const Schema* schema, const Value& value) {
  std::vector<std::pair<const Schema*, const Value*>> pending = {{schema, &value}};
  while (!pending.empty()) {
    const auto [at, content] = pending.back();
    pending.pop_back();
    if (at == nullptr || !IsContainer(*content)) continue;
    if (at->embedded_resource) return true;
    for (const Value& item : content->items()) pending.emplace_back(CustomItems(*at), &item);
    for (const Member& member : content->members()) {
      bool additional = false;
      pending.emplace_back(CustomMember(*at, member.key, additional), &member.value);
    }
  }
  return false;
}

// Adds what is missing in a custom object: schema/defaulting of apiextensions-apiserver.
class CustomDefaultsPass final : public RewritePass {
 public:
  explicit CustomDefaultsPass(Arena& arena) : arena_(arena) {}

  bool Open(const Schema& schema, Value source, Slots& slots, bool& changed) override {
    embedded_ |= schema.embedded_resource;
    const std::size_t begin = slots.size();
    const Schema* const items = CustomItems(schema);
    for (const Value& item : source.items()) {
      slots.push_back({"", Replaced(items, item, changed), Below(items)});
    }
    for (const Member& member : source.members()) AddMember(schema, member, slots, changed);
    if (!source.is_map()) return true;
    // Added before the members are visited, so that a default's own members are defaulted too.
    if (AddMissing(schema, begin, slots)) {
      changed = true;
      std::sort(slots.begin() + static_cast<std::ptrdiff_t>(begin), slots.end(),
                [](const Slot& a, const Slot& b) { return a.key < b.key; });
    }
    return true;
  }

  // Tells if a default was added that an embedded resource came with, or may have got.
  bool added_to_embedded() const { return added_ && embedded_; }

 private:
  // Returns null where there is nothing to add further down.
  static const Schema* Below(const Schema* schema) {
    return schema != nullptr && schema->has_defaults ? schema : nullptr;
  }

  // Copies a default of `schema`.
  Value Added(const Schema* schema, const Value& fallback) {
    added_ = true;
    embedded_ = embedded_ || HoldsEmbedded(schema, fallback);
    return Copy(fallback, arena_);
  }

  // Returns the default of an item or value that is null and must not be; else the value.
  Value Replaced(const Schema* schema, const Value& value, bool& changed) {
    if (!value.is_null() || schema == nullptr || schema->nullable) return value;
    const Value* const fallback = schema->default_value();
    if (fallback == nullptr) return value;
    changed = true;
    return Added(schema, *fallback);
  }

  void AddMember(const Schema& schema, const Member& member, Slots& slots, bool& changed) {
    bool additional = false;
    const Schema* const below = CustomMember(schema, member.key, additional);
    const bool null = member.value.is_null() && below != nullptr && !below->nullable;
    const Field* const field = null && !additional ? schema.FindField(member.key) : nullptr;
    if (field != nullptr && field->default_value() != nullptr) {
      changed = true;  // The default takes its place. A null without one has been kept on purpose.
    } else {
      slots.push_back({member.key, Replaced(below, member.value, changed), Below(below)});
    }
  }

  bool AddMissing(const Schema& schema, std::size_t begin, Slots& slots) {
    const std::size_t end = slots.size();
    const FieldList fields(schema);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Field& field = fields[i];
      if (field.default_value() == nullptr) continue;
      const auto has = [&](const Slot& slot) { return slot.key == field.name(); };
      const auto from = slots.begin() + static_cast<std::ptrdiff_t>(begin);
      if (std::any_of(from, slots.begin() + static_cast<std::ptrdiff_t>(end), has)) continue;
      const Schema* const below = field.schema.get();
      slots.push_back({field.name(), Added(below, *field.default_value()), Below(below)});
    }
    return slots.size() > end;
  }

  Arena& arena_;
  bool added_ = false;
  bool embedded_ = false;
};

}  // namespace

Status SetCustomDefaults(Object& object, const Schema& schema, std::size_t arena_max) {
  if (!schema.has_defaults) return {};
  Value root = object.root();
  CustomDefaultsPass pass(object.arena());
  if (Rewrite(schema, pass, object.arena(), root, {.arena_max = arena_max}) ==
      Rewritten::kTooLarge) {
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
