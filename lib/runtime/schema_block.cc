#include "runtime/schema_block.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <stdexcept>
#include <unordered_set>
#include <utility>

namespace apiserver::v0::runtime {

namespace {

// The limits of the distances and sizes within a block.
constexpr std::size_t kTextBytesMax = (1U << 27U) - 1;
constexpr std::size_t kSchemaBlockBytesMax = (1U << 31U) - 1;

std::uint64_t Pair(std::uint32_t at, std::size_t size) {
  return at | static_cast<std::uint64_t>(size) << 32U;
}

bool HoldsText(const Value& value) {
  return value.is_string() || value.type() == Value::Type::kRaw ||
         value.type() == Value::Type::kBytes;
}

bool HasJunctors(const SchemaParts& parts) {
  return !parts.all_of.empty() || !parts.any_of.empty() || !parts.one_of.empty() ||
         parts.not_of != nullptr;
}

// Returns true if a value of the right type can be invalid. A field that is always written is never
// missing.
bool LimitsValues(const SchemaParts& parts) {
  const Constraints& limits = parts.constraints;
  if (limits.minimum || limits.maximum || limits.multiple_of || limits.min_length ||
      limits.max_length || limits.min_items || limits.max_items || limits.unique_items ||
      limits.min_properties || limits.max_properties) {
    return true;
  }
  if (!limits.pattern.empty() || !limits.enum_values.empty()) return true;
  if (parts.type == SchemaType::kString && !limits.format.empty()) return true;
  if (parts.type == SchemaType::kInteger && parts.bits == 64 && limits.format == "int32") {
    return true;
  }
  if (parts.list_type != Schema::ListType::kAtomic) return true;
  if (parts.closed || !parts.required_names.empty() || HasJunctors(parts)) return true;
  return std::any_of(parts.fields.begin(), parts.fields.end(), [](const FieldParts& field) {
    return field.required && field.omit != Field::Omit::kNever;
  });
}

bool HasDefault(const SchemaParts& parts) {
  return parts.default_value.has_value() ||
         std::any_of(parts.fields.begin(), parts.fields.end(),
                     [](const FieldParts& field) { return field.default_value.has_value(); });
}

// Returns true if a part has no form in protobuf: unknown members, a field without a number, or a
// list or map of maps, or of lists that are no messages.
bool LacksProtobuf(const SchemaParts& parts) {
  if (parts.preserve_unknown_fields) return true;
  if (parts.items != nullptr) {
    const Schema& items = *parts.items;
    const bool message = items.type == SchemaType::kList && items.proto_message;
    return !message && (items.type == SchemaType::kList || items.type == SchemaType::kMap);
  }
  return std::any_of(parts.fields.begin(), parts.fields.end(), [](const FieldParts& field) {
    return field.proto_number == 0 && !field.inlined;
  });
}

// Returns a rule as its object in a CustomResourceDefinition. The texts are borrowed.
Value RuleObject(const ValidationRule& rule, Arena& arena) {
  MapBuilder object(arena);
  const auto add = [&object](std::string_view key, const std::string& text) {
    if (!text.empty()) object.Add(key, Value::String(text));
  };
  object.Add("rule", Value::String(rule.rule));
  add("message", rule.message);
  add("messageExpression", rule.message_expression);
  add("reason", rule.reason);
  add("fieldPath", rule.field_path);
  if (rule.optional_old_self) object.Add("optionalOldSelf", Value::Bool(*rule.optional_old_self));
  return object.Build();
}

// Returns true if `holds` is true for a schema that is a part of this one.
template <class Holds>
bool OfAnyPart(const SchemaParts& parts, const Holds& holds) {
  if (parts.items != nullptr && holds(*parts.items)) return true;
  if (parts.members != nullptr && holds(*parts.members)) return true;
  return std::any_of(parts.fields.begin(), parts.fields.end(), [&](const FieldParts& field) {
    return field.schema != nullptr && holds(*field.schema);
  });
}

}  // namespace

struct Schema::Content {
  const SchemaParts& parts;
  std::uint32_t mask;
};

Schema::Schema(const Content& content)
    : parts_(content.mask),
      field_count_(static_cast<std::uint32_t>(content.parts.fields.size())),
      type(content.parts.type),
      bits(static_cast<std::uint8_t>(std::clamp(content.parts.bits, 0, 255))),
      list_type(content.parts.list_type),
      nullable(content.parts.nullable),
      atomic(content.parts.atomic),
      preserve_unknown_fields(content.parts.preserve_unknown_fields),
      embedded_resource(content.parts.embedded_resource),
      proto_message(content.parts.proto_message),
      has_defaults(
          HasDefault(content.parts) ||
          OfAnyPart(content.parts, [](const Schema& part) { return bool{part.has_defaults}; })),
      limits_values(
          LimitsValues(content.parts) ||
          OfAnyPart(content.parts, [](const Schema& part) { return bool{part.limits_values}; })),
      lacks_protobuf(
          LacksProtobuf(content.parts) ||
          OfAnyPart(content.parts, [](const Schema& part) { return bool{part.lacks_protobuf}; })) {}

Schema::~Schema() {
  const auto kept = [this](Part part) {
    const std::uint64_t* const slot = Slot(part);
    return slot == nullptr ? nullptr : reinterpret_cast<const void*>(*slot);
  };
  const Counted<SchemaSource> source(static_cast<const SchemaSource*>(kept(kSource)));
  const Counted<Pattern> pattern(static_cast<const Pattern*>(kept(kPattern)));
  delete static_cast<const Arena*>(kept(kValues));
}

struct Field::Places {
  const FieldParts& parts;
  std::uint32_t name_at;
  std::uint32_t default_at;
  std::uint32_t description_at;
  std::uint32_t description_size;
};

Field::Field(SchemaPtr type, int number, const Places& places)
    : schema(std::move(type)),
      proto_number(number),
      name_at_(places.name_at),
      default_at_(places.default_at),
      description_at_(places.description_at),
      description_size_(places.description_size),
      name_size_(static_cast<std::uint32_t>(places.parts.name.size()) & kTextBytesMax),
      required(places.parts.required),
      presence(places.parts.presence),
      omit(places.parts.omit),
      inlined(places.parts.inlined) {}

SchemaBlock::SchemaBlock(const SchemaParts& parts, Counted<SchemaSource> source,
                         Counted<Pattern> pattern)
    : parts_(parts), source_(std::move(source)), pattern_(std::move(pattern)) {
  Gather();
}

// Counts the room that a text takes. A text of kFirstMark has no slot: fields and values point to
// it.
void SchemaBlock::AddText(Schema::Part part, std::string_view text) {
  if (text.size() > kTextBytesMax) throw std::length_error("a text of a schema is too long");
  text_bytes_ += text.size();
  if (part >= Schema::kFirstMark || text.empty()) return;
  mask_ |= Schema::Bit(part);
  texts_[part] = text;
}

void SchemaBlock::AddNumber(Schema::Part part, std::uint64_t number) {
  mask_ |= Schema::Bit(part);
  numbers_[part] = number;
}

void SchemaBlock::AddMark(Schema::Part part, bool holds) {
  if (holds) mask_ |= Schema::Bit(part);
}

template <class Number>
void SchemaBlock::AddLimit(Schema::Part part, const std::optional<Number>& limit) {
  if (limit) AddNumber(part, std::bit_cast<std::uint64_t>(*limit));
}

// Text stays in the block, and so does an empty list or map; what is larger is rare.
void SchemaBlock::AddValue(const Value& value) {
  if (HoldsText(value)) AddText(Schema::kFirstMark, value.AsString());
  const bool nested = value.size() > 0 && (value.is_list() || value.is_map());
  if (nested && arena_ == nullptr) arena_ = std::make_unique<Arena>();
  values_.push_back(nested ? Copy(value, *arena_) : value);
}

void SchemaBlock::GatherConstraints() {
  const Constraints& limits = parts_.constraints;
  AddLimit(Schema::kMinimum, limits.minimum);
  AddLimit(Schema::kMaximum, limits.maximum);
  AddLimit(Schema::kMultipleOf, limits.multiple_of);
  AddLimit(Schema::kMinLength, limits.min_length);
  AddLimit(Schema::kMaxLength, limits.max_length);
  AddText(Schema::kFormat, limits.format);
  AddLimit(Schema::kMinItems, limits.min_items);
  AddLimit(Schema::kMaxItems, limits.max_items);
  AddLimit(Schema::kMinProperties, limits.min_properties);
  AddLimit(Schema::kMaxProperties, limits.max_properties);
  AddMark(Schema::kExclusiveMinimum, limits.exclusive_minimum);
  AddMark(Schema::kExclusiveMaximum, limits.exclusive_maximum);
  AddMark(Schema::kUniqueItems, limits.unique_items);
  if (pattern_.get() != nullptr) AddNumber(Schema::kPattern, 0);
  if (!limits.enum_values.empty()) AddNumber(Schema::kEnumValues, 0);
  for (const OwnedValue& value : limits.enum_values) AddValue(value.get());
}

// Keeps rules as one list, which needs no room where there are none.
void SchemaBlock::GatherRules() {
  AddMark(Schema::kHasRules, !parts_.rules.empty() || OfAnyPart(parts_, [](const Schema& part) {
            return part.has_rules();
          }));
  if (parts_.rules.empty()) return;
  AddNumber(Schema::kRules, 0);
  Arena borrowing;
  ListBuilder list(borrowing);
  for (const ValidationRule& rule : parts_.rules) list.Add(RuleObject(rule, borrowing));
  AddValue(list.Build());
}

// Measures and marks what there is. Make() writes it afterwards, so that a schema is one
// allocation.
void SchemaBlock::Gather() {
  AddText(Schema::kName, parts_.name);
  AddText(Schema::kDescription, parts_.description);
  AddText(Schema::kPatchStrategy, parts_.patch_strategy);
  AddText(Schema::kPatchMergeKey, parts_.patch_merge_key);
  if (!parts_.list_map_keys.empty()) AddNumber(Schema::kListMapKeys, 0);
  for (const std::string& key : parts_.list_map_keys) AddText(Schema::kFirstMark, key);
  GatherConstraints();
  GatherStructural();
  if (parts_.items != nullptr) AddNumber(Schema::kItems, 0);
  bool described = parts_.source_description.size > 0;
  if (described) AddNumber(Schema::kDescription, 0);
  for (const FieldParts& field : parts_.fields) {
    AddText(Schema::kFirstMark, field.name);
    AddText(Schema::kFirstMark, field.description);
    described |= field.source_description.size > 0;
    if (field.default_value) AddValue(field.default_value->get());
  }
  if (parts_.default_value) {
    AddNumber(Schema::kDefault, 0);
    AddValue(parts_.default_value->get());
  }
  GatherRules();
  if (described) AddNumber(Schema::kSource, 0);
  if (arena_ != nullptr) AddNumber(Schema::kValues, 0);
}

// Measures what only structural schemas have.
void SchemaBlock::GatherStructural() {
  AddText(Schema::kTitle, parts_.title);
  if (parts_.members != nullptr) AddNumber(Schema::kMembers, 0);
  AddMark(Schema::kClosed, parts_.closed);
  if (!parts_.required_names.empty()) AddNumber(Schema::kRequired, 0);
  for (const std::string& name : parts_.required_names) AddText(Schema::kFirstMark, name);
  if (!HasJunctors(parts_)) return;
  constexpr std::size_t kMax = (std::size_t{1} << Schema::kJunctorBits) - 1;
  if (std::max({parts_.all_of.size(), parts_.any_of.size(), parts_.one_of.size()}) > kMax) {
    throw std::length_error("a schema has too many alternatives");
  }
  AddNumber(Schema::kJunctors, 0);
}

std::size_t SchemaBlock::JunctorCount() const {
  return parts_.all_of.size() + parts_.any_of.size() + parts_.one_of.size() +
         (parts_.not_of != nullptr ? 1 : 0);
}

std::size_t SchemaBlock::Words() const {
  const std::size_t junctors = JunctorCount();
  return parts_.list_map_keys.size() + parts_.required_names.size() +
         (junctors == 0 ? 0 : junctors + 1);
}

// A block is a Schema, its fields, a slot for each part in the mask, the words behind, the values,
// the texts.
std::size_t SchemaBlock::Size() const {
  return sizeof(Schema) + parts_.fields.size() * sizeof(Field) +
         (SlotCount(mask_) + Words()) * sizeof(std::uint64_t) + values_.size() * sizeof(Value) +
         text_bytes_;
}

SchemaPtr SchemaBlock::Make() {
  const std::size_t size = Size();
  if (size > kSchemaBlockBytesMax) throw std::length_error("a schema is too large");
  slots_at_ = static_cast<std::uint32_t>(sizeof(Schema) + parts_.fields.size() * sizeof(Field));
  keys_at_ = slots_at_ + static_cast<std::uint32_t>(SlotCount(mask_) * sizeof(std::uint64_t));
  values_at_ = keys_at_ + static_cast<std::uint32_t>(Words() * sizeof(std::uint64_t));
  end_ = values_at_ + static_cast<std::uint32_t>(values_.size() * sizeof(Value));
  memory_ = static_cast<char*>(::operator new(size));
  auto* const schema = new (memory_) Schema(Schema::Content{parts_, mask_});
  WriteFields(*schema);
  WriteSlots();
  WriteValues();
  return SchemaPtr(schema);
}

std::uint32_t SchemaBlock::PlaceOf(const SourceText& text) {
  return text.at | Schema::kInSource | (text.escaped ? Schema::kEscaped : 0);
}

std::uint32_t SchemaBlock::Write(std::string_view text) {
  const std::uint32_t at = end_;
  if (!text.empty()) std::memcpy(memory_ + at, text.data(), text.size());
  end_ += static_cast<std::uint32_t>(text.size());
  return at;
}

void SchemaBlock::WriteFields(Schema& schema) {
  auto value_at = values_at_ +
                  static_cast<std::uint32_t>(parts_.constraints.enum_values.size() * sizeof(Value));
  auto* const fields = reinterpret_cast<char*>(&schema + 1);
  for (std::size_t i = 0; i < parts_.fields.size(); ++i) {
    const FieldParts& parts = parts_.fields[i];
    const auto here = static_cast<std::uint32_t>(sizeof(Schema) + i * sizeof(Field));
    Field::Places places{parts, Write(parts.name) - here, 0, 0, 0};
    if (parts.default_value) {
      places.default_at = value_at - here;
      value_at += static_cast<std::uint32_t>(sizeof(Value));
    }
    if (parts.source_description.size > 0) {
      places.description_at = PlaceOf(parts.source_description);
      places.description_size = parts.source_description.size;
    } else if (!parts.description.empty()) {
      places.description_at = Write(parts.description);
      places.description_size = static_cast<std::uint32_t>(parts.description.size());
    }
    new (fields + i * sizeof(Field)) Field(parts.schema, parts.proto_number, places);
  }
}

// Writes the slots in the order of their bits: a slot is found by counting the bits below its own.
void SchemaBlock::WriteSlots() {
  for (std::uint32_t part = 0; part < Schema::kFirstMark; ++part) {
    if (const std::string_view text = texts_[part]; !text.empty()) {
      numbers_[part] = Pair(Write(text), text.size());
    }
  }
  const SourceText own = parts_.source_description;
  if (own.size > 0) numbers_[Schema::kDescription] = Pair(PlaceOf(own), own.size);
  auto word = keys_at_;
  const auto words = [&word](std::size_t count) {
    const std::uint32_t at = word;
    word += static_cast<std::uint32_t>(count * sizeof(std::uint64_t));
    return Pair(at, count);
  };
  numbers_[Schema::kListMapKeys] = words(parts_.list_map_keys.size());
  numbers_[Schema::kRequired] = words(parts_.required_names.size());
  numbers_[Schema::kJunctors] = words(JunctorCount() + 1);
  numbers_[Schema::kEnumValues] = Pair(values_at_, parts_.constraints.enum_values.size());
  const std::size_t behind = parts_.rules.empty() ? 0 : 1;
  const auto value = [this](std::size_t from_end) {
    const std::size_t at = (values_.size() - from_end) * sizeof(Value);
    return Pair(values_at_ + static_cast<std::uint32_t>(at), 1);
  };
  if (parts_.default_value) numbers_[Schema::kDefault] = value(behind + 1);
  if (behind > 0) numbers_[Schema::kRules] = value(behind);
  if ((mask_ & Schema::Bit(Schema::kSource)) != 0) {
    numbers_[Schema::kSource] = reinterpret_cast<std::uint64_t>(source_.Release());
  }
  numbers_[Schema::kPattern] = reinterpret_cast<std::uint64_t>(pattern_.Release());
  numbers_[Schema::kValues] = reinterpret_cast<std::uint64_t>(arena_.release());
  char* slot = memory_ + slots_at_;
  for (std::uint32_t part = 0; part < Schema::kFirstMark; ++part) {
    if ((mask_ & (1U << part)) == 0) continue;
    if (part == Schema::kItems || part == Schema::kMembers) {
      new (slot) SchemaPtr(part == Schema::kItems ? parts_.items : parts_.members);
    } else {
      new (slot) std::uint64_t(numbers_[part]);
    }
    slot += sizeof(std::uint64_t);
  }
}

Value SchemaBlock::Stored(const Value& value) {
  if (!HoldsText(value)) return value;
  const std::string_view text = value.AsString();
  const std::string_view stored(memory_ + Write(text), text.size());
  if (value.is_string()) return Value::String(stored);
  return value.type() == Value::Type::kRaw ? Value::Raw(stored) : Value::Bytes(stored);
}

void SchemaBlock::WriteTexts(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    new (memory_ + written_) std::uint64_t(Pair(Write(text), text.size()));
    written_ += static_cast<std::uint32_t>(sizeof(std::uint64_t));
  }
}

void SchemaBlock::WriteJunctors() {
  if (!HasJunctors(parts_)) return;
  constexpr std::uint32_t kBits = Schema::kJunctorBits;
  const std::uint64_t sizes = parts_.all_of.size() | parts_.any_of.size() << kBits |
                              parts_.one_of.size() << (2 * kBits) |
                              std::uint64_t{parts_.not_of != nullptr} << (3 * kBits);
  new (memory_ + written_) std::uint64_t(sizes);
  const auto write = [this](const SchemaPtr& schema) {
    written_ += static_cast<std::uint32_t>(sizeof(std::uint64_t));
    new (memory_ + written_) SchemaPtr(schema);
  };
  for (const auto* const junctor : {&parts_.all_of, &parts_.any_of, &parts_.one_of}) {
    for (const SchemaPtr& schema : *junctor) write(schema);
  }
  if (parts_.not_of != nullptr) write(parts_.not_of);
}

void SchemaBlock::WriteValues() {
  written_ = keys_at_;
  WriteTexts(parts_.list_map_keys);
  WriteTexts(parts_.required_names);
  WriteJunctors();
  char* at = memory_ + values_at_;
  for (const Value& value : values_) {
    new (at) Value(Stored(value));
    at += sizeof(Value);
  }
}

// The ranges of bytes that are the same in equal schemas. Values hold addresses, so that they are
// left out and compared one by one.
std::array<std::string_view, 3> SchemaBlock::Comparable(const Schema& schema) {
  const auto between = [](const void* begin, const void* end) {
    const auto* const from = static_cast<const char*>(begin);
    return std::string_view(from, static_cast<std::size_t>(static_cast<const char*>(end) - from));
  };
  const std::uint64_t* const keys = schema.Slots() + SlotCount(schema.parts_);
  // The last slot: equal values, not the same memory.
  const bool nested = schema.Has(Schema::kValues);
  const std::span<const Value> values = schema.Values();
  return {between(&schema.parts_, nested ? keys - 1 : keys), between(keys, values.data()),
          between(values.data() + values.size(), schema.Here() + schema.Size())};
}

bool SchemaBlock::Equal(const Schema& a, const Schema& b) {
  return a.parts_ == b.parts_ && Comparable(a) == Comparable(b) &&
         std::ranges::equal(a.Values(), b.Values());
}

std::uint32_t SchemaBlock::Hash(const Schema& schema) {
  std::size_t hash = 0;
  for (const std::string_view part : Comparable(schema)) {
    hash = hash * 31 + std::hash<std::string_view>()(part);
  }
  return static_cast<std::uint32_t>(hash ^ hash >> 32U);
}

// Detaches a schema's parts before it destroys the schema, so that depth cannot exhaust the stack.
void SchemaBlock::Destroy(const Schema* schema) {
  std::vector<const Schema*> dead = {schema};
  const auto take = [&dead](const SchemaPtr& part) {
    // The const_cast is safe: the last reference is gone, so no other thread can read the part.
    const Schema* const taken = std::exchange(const_cast<SchemaPtr&>(part).schema_, nullptr);
    if (taken == nullptr) return;
    if (taken->owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) dead.push_back(taken);
  };
  while (!dead.empty()) {
    const Schema* const last = dead.back();
    dead.pop_back();
    // Without any, items() is what all schemas without have in common.
    if (last->Has(Schema::kItems)) take(last->items());
    if (last->Has(Schema::kMembers)) take(last->members());
    for (const SchemaPtr& part : last->Junctors()) take(part);
    for (const Field& field : last->fields()) take(field.schema);
    last->~Schema();
    ::operator delete(const_cast<Schema*>(last));
  }
}

}  // namespace apiserver::v0::runtime
