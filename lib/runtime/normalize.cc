#include "runtime/normalize.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"
#include "base/status_macros.h"
#include "runtime/custom_prune.h"
#include "runtime/field_list.h"
#include "runtime/json_schema.h"
#include "runtime/member_index.h"
#include "runtime/passes.h"
#include "runtime/rewrite.h"
#include "runtime/scalar.h"
#include "runtime/value_kinds.h"
#include "runtime/walk.h"

namespace apiserver::v0::runtime {

namespace {

using Omit = Field::Omit;

// It is a type and no function so that the compiler puts it into the sort.
struct KeyLess {
  bool operator()(const Slot& a, const Slot& b) const { return a.key < b.key; }
};

// Normalizes the value in `slot` by `schema`; a container is left to a later step.
bool NormalizeSlot(const Schema& schema, Slot& slot, Arena& arena, bool& changed) {
  if (IsJsonSchema(schema)) {
    changed = true;
    return NormalizeJsonSchema(slot.value, {}, arena).ok();
  }
  if (!IsContainer(schema.type)) return NormalizeScalar(schema, slot.value, arena, changed);
  if (slot.value.is_null()) {
    slot.value = ZeroOf(schema);
    changed |= !slot.value.is_null();
  }
  slot.schema = &schema;
  const bool list = schema.type == SchemaType::kList;
  const bool null = slot.value.is_null() && schema.type != SchemaType::kStruct;
  return null || (list ? slot.value.is_list() : slot.value.is_map());
}

// Returns true if decoding `value` into the Go struct leaves every field zero.
bool IsZeroStruct(const Schema& schema, Value value) {
  std::vector<std::pair<const Schema*, Value>> pending = {{&schema, value}};
  Arena scratch;
  while (!pending.empty()) {
    const auto [at, content] = pending.back();
    pending.pop_back();
    const FieldList fields(*at);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Field& field = fields[i];
      Value member = content[field.name()];
      if (member.is_null()) continue;
      if (field.presence == Field::Presence::kPointer) return false;
      if (field.schema->type == SchemaType::kStruct) {
        pending.emplace_back(field.schema.get(), member);
        continue;
      }
      bool changed = false;
      const bool zero = !IsContainer(field.schema->type) &&
                        NormalizeScalar(*field.schema, member, scratch, changed) &&
                        IsZero(*field.schema, member);
      if (!zero) return false;
    }
  }
  return true;
}

// Returns true if the encoder leaves out a normalized value that the Go type holds by value.
bool LeftOut(const Field& field, const Value& value) {
  if (field.omit == Omit::kNever) return false;
  if (IsEmpty(*field.schema, value)) return true;
  if (field.omit != Omit::kWhenZero) return false;
  if (field.schema->type == SchemaType::kStruct) return IsZeroStruct(*field.schema, value);
  return IsZero(*field.schema, value);
}

// Returns true if the encoder leaves out a field by value that the content does not have: its zero
// value is left out.
bool AbsentIsLeftOut(const Field& field) {
  if (field.omit != Omit::kWhenEmpty) return field.omit == Omit::kWhenZero;
  switch (field.schema->type) {
    case SchemaType::kBoolean:
    case SchemaType::kInteger:
    case SchemaType::kNumber:
    case SchemaType::kString:
    case SchemaType::kBytes:
    case SchemaType::kMap:
    case SchemaType::kList:
    case SchemaType::kAny:
      return true;
    default:
      return false;  // Go's structs are never empty.
  }
}

// A pointer to a zero time, which Go writes as null. It is kept as raw text, because a null is no
// pointer at all.
bool HoldsZeroTime(const Field& field, const Value& value) {
  const SchemaType type = field.schema->type;
  return field.presence == Field::Presence::kPointer && value.is_null() &&
         (type == SchemaType::kTime || type == SchemaType::kMicroTime);
}

class StructPass final : public RewritePass {
 public:
  explicit StructPass(Arena& arena) : arena_(arena) {}

  bool Open(const Schema& schema, Value source, Slots& slots, bool& changed) override {
    if (schema.type == SchemaType::kStruct) return OpenStruct(schema, source, slots, changed);
    const std::size_t begin = slots.size();
    for (const Value& item : source.items()) slots.push_back({"", item});
    for (const Member& member : source.members()) slots.push_back({member.key, member.value});
    for (std::size_t i = begin; i < slots.size(); ++i) {
      if (!NormalizeSlot(*schema.items(), slots[i], arena_, changed)) return false;
    }
    const auto from = slots.begin() + static_cast<std::ptrdiff_t>(begin);
    if (source.is_map() && !std::is_sorted(from, slots.end(), KeyLess())) {
      std::sort(from, slots.end(), KeyLess());
      changed = true;
    }
    return true;
  }

 private:
  bool OpenStruct(const Schema& schema, Value source, Slots& slots, bool& changed) {
    const FieldList fields(schema);
    const std::span<const Member> members = source.members();
    const std::size_t begin = slots.size();
    // Content that is in order already needs no search.
    std::size_t next = 0;
    bool same = true;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const bool here = next < members.size() && members[next].key == fields[i].name();
      if (!Add(fields[i], here ? &members[next].value : nullptr, slots, same)) return false;
      next += here ? 1 : 0;
    }
    if (next == members.size()) {
      changed |= !same;
      return true;
    }
    // The members are in another order, or some are no fields: start again, with an index.
    slots.resize(begin);
    changed = true;
    const MemberIndex index(members);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (!Add(fields[i], index.Find(fields[i].name()), slots, same)) return false;
    }
    if (schema.preserve_unknown_fields) changed = AddUnknown(schema, members, begin, slots);
    return true;
  }

  // `value` is null when the field is absent. Clears `same` if what is added differs.
  bool Add(const Field& field, const Value* value, Slots& slots, bool& same) {
    // The usual cases come first, which need no more than this.
    const bool by_value = field.presence == Field::Presence::kValue;
    if (value == nullptr && by_value && AbsentIsLeftOut(field)) return true;
    if (value != nullptr && value->is_string() && field.schema->type == SchemaType::kString &&
        (value->size() > 0 || !by_value || field.omit == Omit::kNever)) {
      slots.push_back({field.name(), *value});
      return true;
    }
    const bool null = value == nullptr || value->is_null();
    Slot slot{field.name(), null ? Value() : *value};
    if (null && field.presence == Field::Presence::kPointer) {
      if (field.omit == Omit::kNever) slots.push_back(slot);
      same &= (field.omit == Omit::kNever) == (value != nullptr);
      return true;
    }
    if (value == nullptr) {
      // An absent value is not parsed: some types refuse null, but not absence.
      slot.value = ZeroOf(*field.schema);
      if (IsContainer(field.schema->type)) slot.schema = field.schema.get();
    } else {
      bool changed = false;
      if (!NormalizeSlot(*field.schema, slot, arena_, changed)) return false;
      if (HoldsZeroTime(field, slot.value)) {
        changed = value->type() != Value::Type::kRaw;
        slot.value = Value::Raw("null");
      }
      same &= !changed;
    }
    const bool left_out = field.presence == Field::Presence::kValue && LeftOut(field, slot.value);
    if (!left_out) slots.push_back(slot);
    same &= left_out == (value == nullptr);
    return true;
  }

  // Unknown members follow the fields, in their order. Says whether anything moved.
  static bool AddUnknown(const Schema& schema, std::span<const Member> members, std::size_t begin,
                         Slots& slots) {
    for (const Member& member : members) {
      if (schema.FindField(member.key) == nullptr) slots.push_back({member.key, member.value});
    }
    if (slots.size() - begin != members.size()) return true;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Slot& slot = slots[begin + i];
      const bool same = slot.key == members[i].key && SameValue(slot.value, members[i].value);
      if (!same) return true;
    }
    return false;
  }
  // Shallow: one may still be rewritten below.
  static bool SameValue(const Value& a, const Value& b) {
    if (a.type() != b.type() || a.size() != b.size()) return false;
    if (a.is_map()) return a.members().data() == b.members().data();
    return a.is_list() ? a.items().data() == b.items().data() : a == b;
  }

  Arena& arena_;
};

// Sorts the keys of every map below. Its one schema is handed to all levels, since null would end
// the descent.
class SortPass final : public RewritePass {
 public:
  bool Open(const Schema& schema, Value source, Slots& slots, bool& changed) override {
    const std::size_t begin = slots.size();
    for (const Value& item : source.items()) slots.push_back({"", item, &schema});
    for (const Member& member : source.members()) {
      slots.push_back({member.key, member.value, &schema});
    }
    const auto from = slots.begin() + static_cast<std::ptrdiff_t>(begin);
    if (source.is_map() && !std::is_sorted(from, slots.end(), KeyLess())) {
      std::sort(from, slots.end(), KeyLess());
      changed = true;
    }
    return true;
  }
};

// Tells if the members of every map are sorted already, which costs less than to sort them.
bool AreKeysSorted(const Value& root) {
  constexpr std::size_t kUsual = 16;
  std::vector<const Value*> pending;
  pending.reserve(kUsual);
  pending.push_back(&root);
  while (!pending.empty()) {
    const Value& at = *pending.back();
    pending.pop_back();
    const Member* before = nullptr;
    for (const Member& member : at.members()) {
      if (before != nullptr && member.key < before->key) return false;
      before = &member;
      if (IsContainer(member.value)) pending.push_back(&member.value);
    }
    for (const Value& item : at.items()) {
      if (IsContainer(item)) pending.push_back(&item);
    }
  }
  return true;
}

// A field whose type in Go is a string with a name, which a Schema does not say.
struct NamedText {
  std::string_view owner;
  std::string_view field;
  const char* type;
};
// Those of metadata and of definitions; of other kinds they are called string.
constexpr NamedText kNamedTexts[] = {
    {"ObjectMeta", "uid", "types.UID"},
    {"OwnerReference", "uid", "types.UID"},
    {"ManagedFieldsEntry", "operation", "v1.ManagedFieldsOperationType"},
    {"CustomResourceDefinitionSpec", "scope", "v1.ResourceScope"},
    {"CustomResourceConversion", "strategy", "v1.ConversionStrategyType"},
    {"CustomResourceDefinitionCondition", "type", "v1.CustomResourceDefinitionConditionType"},
    {"CustomResourceDefinitionCondition", "status", "v1.ConditionStatus"}};

// Returns the type, "string" if it has no name.
std::string TextType(std::string_view owner, std::string_view field) {
  for (const NamedText& named : kNamedTexts) {
    if (named.owner == owner && named.field == field) return named.type;
  }
  return "string";
}

// The error of Go's decoder for content that does not fit, which goes through it in document order:
// the first type that does not match is what it reports at the end, unless a type's own parser
// fails.
class Complaint {
 public:
  Complaint(const Schema& schema, std::string_view type) : root_(schema), type_(type) {}

  Status Of(Value root) {
    Walk walk;
    walk.Run(root_, root, [&](const Schema& parent, std::string_view key, Value child) {
      const Schema* const schema = ChildSchema(parent, key);
      if (schema == nullptr || final_) return static_cast<const Schema*>(nullptr);
      const bool null = child.is_null() && schema->type != SchemaType::kDuration;
      // A null pointer is not parsed at all.
      const Field* const field =
          parent.type == SchemaType::kStruct ? parent.FindField(key) : nullptr;
      const bool pointer = field != nullptr && field->presence == Field::Presence::kPointer;
      if (null || (child.is_null() && pointer)) return static_cast<const Schema*>(nullptr);
      Slot slot{key, child};
      bool changed = false;
      if (NormalizeSlot(*schema, slot, scratch_, changed)) return slot.schema;
      Report(walk,
             IsJsonSchema(*schema) ? SchemaMisfit(child, walk.Path()) : WhyUnfit(*schema, child));
      return static_cast<const Schema*>(nullptr);
    });
    return Status(Reason::kBadRequest, message_);
  }

 private:
  static const Schema* ChildSchema(const Schema& parent, std::string_view key) {
    if (parent.type != SchemaType::kStruct) return parent.items().get();
    const Field* const field = parent.FindField(key);
    return field != nullptr ? field->schema.get() : nullptr;
  }

  Misfit SchemaMisfit(Value schema, const std::string& path) {
    Misfit misfit;
    misfit.message = NormalizeJsonSchema(schema, path, scratch_).message();
    misfit.ends = !misfit.message.starts_with("json: ");
    return misfit;
  }

  void Report(const Walk& walk, const Misfit& misfit) {
    if (!message_.empty() && !misfit.ends) return;
    final_ = misfit.ends;
    message_ = misfit.message;
    if (!message_.empty()) return;
    std::string path;
    const Schema* inner = &root_;
    for (const Walk::Frame& frame : walk.frames()) {
      if (frame.schema->type != SchemaType::kStruct) continue;
      inner = frame.schema;
      path += '.';
      path += frame.value.members()[frame.next - 1].key;
    }
    const bool unnamed = inner == &root_ && inner->name().empty();
    const std::string owner(unnamed ? type_ : GoName(*inner));
    // The type of a list's or map's values is not that of a field.
    const bool text = misfit.type == "string" && walk.frames().back().schema == inner;
    message_ = "json: cannot unmarshal " + misfit.found + " into Go struct field " + owner + path +
               " of type " +
               (text ? TextType(owner, path.substr(path.rfind('.') + 1)) : misfit.type);
  }

  const Schema& root_;
  std::string_view type_;
  Arena scratch_;
  std::string message_;
  bool final_ = false;
};

Status NormalizeBy(const Schema& schema, std::string_view type, Arena& arena, Value& root,
                   const RewriteRules& rules) {
  if (!root.is_map()) {
    if (root.is_null()) root = Value::Map({});
    if (!root.is_map()) {
      return Status(Reason::kBadRequest, "json: cannot unmarshal " + WhyUnfit(schema, root).found +
                                             " into Go value of type " + GoType(schema));
    }
  }
  StructPass pass(arena);
  switch (Rewrite(schema, pass, arena, root, rules)) {
    case Rewritten::kWhole:
      return {};
    case Rewritten::kTooLarge:
      return GrownTooLarge();
    case Rewritten::kEndedByPass:
      break;
  }
  // The pass only says that something does not fit. Go's message needs a second, slower walk.
  return Complaint(schema, type).Of(root);
}

Status NormalizeStructural(Object& object, bool stored, std::size_t arena_max,
                           const SettledRoot& settled) {
  Value root = object.root();
  const Value metadata = root["metadata"];
  Value normalized = metadata;
  const bool known = settled.schema != nullptr && metadata.is_map() &&
                     IsSameContainer(metadata, settled.root["metadata"]);
  if (!metadata.is_null() && !known) {
    // Metadata is the Go type everywhere. Its fields are in the order of their names here, so that
    // settled metadata is not made anew only to be sorted again.
    Status fits = NormalizeBy(*SortedObjectMeta(), "ObjectMeta", object.arena(), normalized,
                              {.arena_max = arena_max});
    if (!fits.ok() && !(stored && metadata.is_map())) return fits;
    if (!fits.ok()) normalized = FittingMetadata(metadata, object.arena());
    if (normalized.members().data() != metadata.members().data()) {
      root = With(root, "metadata", normalized, object.arena());
    }
  }
  SortKeys(object.arena(), root);
  object.SetRoot(root);
  return {};
}

}  // namespace

Status NormalizeStruct(const Schema& schema, std::string_view type, Arena& arena, Value& root,
                       std::size_t arena_max) {
  return NormalizeBy(schema, type, arena, root, {.arena_max = arena_max});
}

void SortKeys(Arena& arena, Value& root) {
  if (AreKeysSorted(root)) return;
  static const SchemaPtr any = AnySchema();
  SortPass pass;
  (void)Rewrite(*any, pass, arena, root);  // Sorting cannot fail.
}

Status Normalize(Object& object, bool stored, std::size_t arena_max, const SettledRoot& settled) {
  const KindVersion* const version = object.kind().FindVersion(object.version());
  if (version == nullptr || version->schema->type == SchemaType::kAny) return {};
  if (object.kind().semantics() == Semantics::kCustomResource) {
    return NormalizeStructural(object, stored, arena_max, settled);
  }
  Value root = object.root();
  RETURN_IF_ERROR(NormalizeBy(*version->schema, object.kind().kind(), object.arena(), root,
                              {.arena_max = arena_max, .settled = settled}));
  object.SetRoot(root);
  return {};
}

}  // namespace apiserver::v0::runtime
