#include <algorithm>
#include <limits>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "base/status_macros.h"
#include "runtime/field_list.h"
#include "runtime/passes.h"
#include "runtime/rewrite.h"
#include "runtime/scalar.h"
#include "runtime/unknown_paths.h"
#include "runtime/value_kinds.h"

namespace apiserver::v0::runtime {

namespace {

// Adds what is missing in an object of a Go type, as its generated functions do, for which zero is
// the same as absent. Custom resources have a pass of their own.
class DefaultsPass final : public RewritePass {
 public:
  explicit DefaultsPass(Arena& arena) : arena_(arena) {}

  bool Open(const Schema& schema, Value source, Slots& slots, bool& changed) override {
    const std::size_t begin = slots.size();
    for (const Value& item : source.items()) slots.push_back({"", item, Below(schema.items())});
    for (const Member& member : source.members()) AddMember(schema, member, slots, changed);
    if (schema.type != SchemaType::kStruct) return true;
    const std::size_t present = slots.size();
    // Added before the members are visited, so that a default's own members are defaulted too.
    AddMissing(schema, begin, slots);
    if (slots.size() == present) return true;
    changed = true;
    Order(schema, begin, slots);
    return true;
  }

 private:
  // Null where there is nothing to do further down.
  static const Schema* Below(const SchemaPtr& schema) {
    return schema != nullptr && schema->has_defaults ? schema.get() : nullptr;
  }

  // Returns true if a member with this value is treated as absent.
  static bool CountsAsAbsent(const Field& field, const Value& value) {
    if (value.is_null()) return true;
    return field.presence == Field::Presence::kValue && IsEmpty(*field.schema, value) &&
           !value.is_map() && !value.is_list();
  }

  // A default that makes no difference to a Go type: its zero value, which JSON leaves out.
  static bool WrittenAsAbsent(const Field& field) {
    return field.presence == Field::Presence::kValue && field.omit != Field::Omit::kNever &&
           field.schema->type != SchemaType::kStruct &&
           IsEmpty(*field.schema, *field.default_value());
  }

  static void AddMember(const Schema& schema, const Member& member, Slots& slots, bool& changed) {
    if (schema.type != SchemaType::kStruct) {
      slots.push_back({member.key, member.value, Below(schema.items())});
      return;
    }
    const Field* const field = schema.FindField(member.key);
    if (field == nullptr) {
      slots.push_back({member.key, member.value});
      return;
    }
    const bool absent = field->default_value() != nullptr && CountsAsAbsent(*field, member.value);
    if (!absent) slots.push_back({member.key, member.value, Below(field->schema)});
    changed |= absent;
  }

  void AddMissing(const Schema& schema, std::size_t begin, Slots& slots) {
    const std::size_t end = slots.size();
    const FieldList fields(schema);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Field& field = fields[i];
      if (field.default_value() == nullptr || WrittenAsAbsent(field)) continue;
      const auto has = [&](const Slot& slot) { return slot.key == field.name(); };
      const auto from = slots.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto to = slots.begin() + static_cast<std::ptrdiff_t>(end);
      if (std::any_of(from, to, has)) continue;
      slots.push_back({field.name(), Copy(*field.default_value(), arena_), Below(field.schema)});
    }
  }

  // Restores the order in which the encoders write, that of the fields.
  static void Order(const Schema& schema, std::size_t begin, Slots& slots) {
    const auto from = slots.begin() + static_cast<std::ptrdiff_t>(begin);
    const FieldList fields(schema);
    auto next = from;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto found = std::find_if(
          next, slots.end(), [&](const Slot& slot) { return slot.key == fields[i].name(); });
      if (found != slots.end()) std::rotate(next++, found, found + 1);
    }
  }

  Arena& arena_;
};

// Sets the defaults that the schema has.
Status SetSchemaDefaults(Object& object, const Schema& schema, std::size_t arena_max) {
  if (schema.type != SchemaType::kStruct) return {};
  if (object.kind().semantics() == Semantics::kCustomResource) {
    return SetCustomDefaults(object, schema, arena_max);
  }
  if (!schema.has_defaults) return {};
  Value root = object.root();
  DefaultsPass pass(object.arena());
  if (Rewrite(schema, pass, object.arena(), root, {.arena_max = arena_max}) ==
      Rewritten::kTooLarge) {
    return GrownTooLarge();
  }
  object.SetRoot(root);
  return {};
}

}  // namespace

Status SetDefaults(Object& object, std::size_t arena_max) {
  const KindVersion* const version = object.kind().FindVersion(object.version());
  if (version == nullptr) return {};
  const SettledRoot before{version->schema.get(), object.root()};
  RETURN_IF_ERROR(SetSchemaDefaults(object, *version->schema, arena_max));
  if (version->set_defaults == nullptr) return {};
  version->set_defaults(object);
  if (IsSameContainer(object.root(), before.root)) return {};
  // Normalizes the values that the function added. A value of a wrong type is reported when the
  // object is decoded next.
  const Status settled = Normalize(object, false, arena_max, before);
  return settled.reason() == Reason::kRequestEntityTooLarge ? settled : Status();
}

}  // namespace apiserver::v0::runtime
