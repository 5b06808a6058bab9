#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/runtime/value.h"

// The Schema: the single description of a kind's shape, for reading. schema.h makes Schemas.
namespace apiserver::inline v0::runtime {

class Schema;
class Pattern;  // Private: a regular expression, compiled when it is first matched.

// The type of the values that a schema describes.
enum class SchemaType : std::uint8_t {
  kAny,  // Any JSON value, kept unchanged.
  kBoolean,
  kInteger,  // See Schema::bits.
  kNumber,
  kString,
  kBytes,        // base64 in JSON.
  kTime,         // RFC 3339, seconds, UTC; null when zero.
  kMicroTime,    // RFC 3339 with microseconds.
  kDuration,     // Go's "1h2m3s".
  kQuantity,     // Canonical resource.Quantity.
  kIntOrString,  // A number or a string.
  kRaw,          // JSON text kept as received: RawExtension, FieldsV1.
  kStruct,       // `fields()`.
  kMap,          // String keys, values of `items()`.
  kList,         // Elements of `items()`.
};

// A counted reference to an immutable Schema, or null. 8 bytes.
class SchemaPtr {
 public:
  SchemaPtr() = default;
  SchemaPtr(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): as for every pointer.
  SchemaPtr(const SchemaPtr& other);
  SchemaPtr(SchemaPtr&& other) noexcept : schema_(std::exchange(other.schema_, nullptr)) {}
  SchemaPtr& operator=(SchemaPtr other) noexcept;
  ~SchemaPtr() { reset(); }

  const Schema* get() const { return schema_; }
  const Schema& operator*() const { return *schema_; }
  const Schema* operator->() const { return schema_; }
  explicit operator bool() const { return schema_ != nullptr; }
  friend bool operator==(const SchemaPtr&, const SchemaPtr&) = default;
  friend bool operator==(const SchemaPtr& a, std::nullptr_t) { return a.schema_ == nullptr; }
  // Releases the reference. The last one destroys the schema, without recursion at any depth.
  void reset();

 private:
  friend class SchemaBlock;
  // Takes over a reference that is already counted.
  explicit SchemaPtr(const Schema* schema) : schema_(schema) {}
  const Schema* schema_ = nullptr;
};

// A field of a kStruct. Lives in its Schema, 32 bytes.
class Field {
 public:
  // The way the Go type holds the field. Only kPointer tells an absent field from a zero one.
  enum class Presence : std::uint8_t { kValue, kPointer };
  // The values that the Go type leaves out of JSON. kNever: none; a zero value or null is written.
  // kWhenEmpty (omitempty): false, 0, "", nil, no elements; never a struct held by value. kWhenZero
  // (omitzero): also a struct in which every field is zero.
  enum class Omit : std::uint8_t { kNever, kWhenEmpty, kWhenZero };
  static constexpr int kNotInProto = -1;

  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  // The field's name in JSON. The views of name and default value are valid as long as the Schema.
  std::string_view name() const { return {Here() + name_at_, name_size_}; }
  // The value that is set when the field is absent. Null: there is no default.
  const Value* default_value() const;

  const SchemaPtr schema;
  // The field's number in protobuf. Zero: neither the field nor its struct can be encoded as
  // protobuf. kNotInProto: protobuf leaves out this field only.
  const int proto_number;

 private:
  friend class Schema;
  friend class SchemaBlock;
  struct Places;
  Field(SchemaPtr type, int number, const Places& places);
  const char* Here() const { return reinterpret_cast<const char*>(this); }

  // Distances from this field to its name and default value (0: none); the description is a place
  // as Schema has it.
  std::uint32_t name_at_;
  std::uint32_t default_at_;
  std::uint32_t description_at_;
  std::uint32_t description_size_;
  std::uint32_t name_size_ : 27;

 public:
  const bool required : 1;
  const Presence presence : 1;
  const Omit omit : 2;
  const bool inlined : 1;  // The members of `schema` (a struct) stand in the outer object.
};

// A view of a Schema's value constraints, which are those of OpenAPI v3. A constraint that is not
// set is not checked.
class ConstraintsView {
 public:
  explicit ConstraintsView(const Schema& schema) : schema_(&schema) {}

  std::optional<double> minimum() const;
  std::optional<double> maximum() const;
  bool exclusive_minimum() const;
  bool exclusive_maximum() const;
  std::optional<double> multiple_of() const;
  std::optional<std::int64_t> min_length() const;  // Unicode code points.
  std::optional<std::int64_t> max_length() const;
  std::string_view pattern() const;  // RE2 syntax; empty: any.
  std::string_view format() const;   // OpenAPI's word, also when nothing is checked.
  std::optional<std::int64_t> min_items() const;
  std::optional<std::int64_t> max_items() const;
  bool unique_items() const;
  std::optional<std::int64_t> min_properties() const;
  std::optional<std::int64_t> max_properties() const;
  std::span<const Value> enum_values() const;  // Empty: any.
  // The compiled form of pattern(), shared by equal patterns of a SchemaPool. Null: any text is
  // valid.
  const Pattern* compiled_pattern() const;

 private:
  template <class Number>
  static std::optional<Number> Limit(const std::uint64_t* slot);

  const Schema* schema_;
};

// A rule in CEL that values of a schema must obey: an entry of x-kubernetes-validations. Room `cel`
// compiles and runs rules (cel/rules.h).
struct ValidationRule {
  std::string rule;     // An expression about `self` and `oldSelf` that yields a bool.
  std::string message;  // The error's text. Empty: the rule itself.
  // An expression that yields the error's text instead of `message`. Empty: there is none.
  std::string message_expression = "";
  // "FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired" or "FieldValueDuplicate".
  // Empty: invalid.
  std::string reason = "";
  // The field that the error names, below the rule's own: ".spec.size". Empty: the rule's own.
  std::string field_path = "";
  // True: `oldSelf` is an optional, and the rule runs for new values too. nullopt: not given, the
  // same as false.
  std::optional<bool> optional_old_self = std::nullopt;

  friend bool operator==(const ValidationRule&, const ValidationRule&) = default;
};

// A node of a kind's schema: a type with its fields, items and constraints. Immutable and reference
// counted. One piece of memory: 16 bytes, the fields, then those of the rare parts (names,
// constraints, markers, defaults, texts) that are set.
class Schema {
 public:
  enum class ListType : std::uint8_t { kAtomic, kSet, kMap };  // x-kubernetes-list-type.

  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;

  // The name of the OpenAPI definition: "com.example.wardle.v1alpha1.FlunderSpec". Empty: the
  // schema is written inline.
  std::string_view name() const { return Text(kName); }
  std::string description() const;
  std::string DescriptionOf(const Field& field) const;
  // The fields of a kStruct in declaration order, which is also the order in JSON.
  std::span<const Field> fields() const {
    return {reinterpret_cast<const Field*>(this + 1), field_count_};
  }
  const SchemaPtr& items() const {  // Null unless a kMap or kList.
    const std::uint64_t* const slot = Slot(kItems);
    return slot == nullptr ? kNone : *reinterpret_cast<const SchemaPtr*>(slot);
  }
  // The schema of members that are no fields: OpenAPI's additionalProperties beside properties, or
  // of a schema without a type. Null: there is none, and for a kMap, whose members have items().
  const SchemaPtr& members() const {
    const std::uint64_t* const slot = Slot(kMembers);
    return slot == nullptr ? kNone : *reinterpret_cast<const SchemaPtr*>(slot);
  }
  // True: a member that is no field is an error, which is what `additionalProperties: false` says.
  bool closed() const { return Has(kClosed); }
  // The members that must be present and are no fields.
  std::vector<std::string_view> required_names() const;
  // The value that stands for an item of a list or a value of a map that is null and must not be. A
  // field has its own. Null: there is none.
  const Value* default_value() const;
  std::string_view title() const { return Text(kTitle); }
  // The schemas that a value must obey: all, at least one, exactly one of them, and not the last.
  // They are of value validations only; their type is kAny but where int-or-string is spelled out.
  std::span<const SchemaPtr> all_of() const { return Junctor(0); }
  std::span<const SchemaPtr> any_of() const { return Junctor(1); }
  std::span<const SchemaPtr> one_of() const { return Junctor(2); }
  const SchemaPtr& not_of() const;
  bool has_junctors() const { return Has(kJunctors); }
  // Returns the field of that name, also in inlined structs. Null: there is none.
  const Field* FindField(std::string_view json_name) const;
  std::vector<std::string_view> list_map_keys() const;  // kList of ListType::kMap.
  // x-kubernetes-patch-strategy: "merge", "replace", ….
  std::string_view patch_strategy() const { return Text(kPatchStrategy); }
  std::string_view patch_merge_key() const { return Text(kPatchMergeKey); }
  ConstraintsView constraints() const { return ConstraintsView(*this); }
  // Returns copies of the rules of values of this schema.
  std::vector<ValidationRule> rules() const;
  // Returns the rules as the list that x-kubernetes-validations is in JSON; lives in this schema.
  // Null: there are none.
  Value rule_list() const;
  // Tells if this schema or one below it has rules.
  bool has_rules() const { return Has(kHasRules); }
  // The heap memory in bytes of this schema and all schemas below it, each counted once, without
  // the source's bytes and compiled patterns.
  std::size_t MemoryBytes() const;

 private:
  friend class ConstraintsView;
  friend class SchemaBlock;
  friend class SchemaPtr;

  // The rare parts, 8 bytes each in this order; those from kFirstMark on are bits alone.
  enum Part : std::uint8_t {
    kItems,
    kMembers,
    kName,
    kTitle,
    kDescription,
    kSource,  // The counted bytes that descriptions may lie in.
    kPatchStrategy,
    kPatchMergeKey,
    kListMapKeys,
    kRequired,
    kJunctors,  // The place of a word with the sizes of the junctors, and then their schemas.
    kMinimum,
    kMaximum,
    kMultipleOf,
    kMinLength,
    kMaxLength,
    kPattern,
    kFormat,
    kMinItems,
    kMaxItems,
    kMinProperties,
    kMaxProperties,
    kEnumValues,
    kDefault,  // The place of the default value, which follows those of the fields.
    kRules,    // The place of the list of rules, which is the last of the values.
    kValues,   // The arena of defaults, enum values and rules, as far as they are lists or maps.
    kFirstMark,
    kExclusiveMinimum = kFirstMark,
    kExclusiveMaximum,
    kUniqueItems,
    kHasRules,
    kClosed,
  };
  // The sizes of allOf, anyOf and oneOf in their common word; the last bit is that of `not`.
  static constexpr std::uint32_t kJunctorBits = 21;
  // A text is the distance from this schema to it, and its size. With the first bit of the
  // distance set it lies in the source instead; with the second too it has JSON's escapes there.
  static constexpr std::uint32_t kInSource = 1U << 31U;
  static constexpr std::uint32_t kEscaped = 1U << 30U;

  static const SchemaPtr kNone;

  struct Content;
  explicit Schema(const Content& content);
  ~Schema();

  static constexpr std::uint32_t Bit(Part part) { return 1U << part; }
  bool Has(Part part) const { return (parts_ & Bit(part)) != 0; }
  // Returns the slot of `part`. Null: this schema does not have it.
  const std::uint64_t* Slot(Part part) const {
    if (!Has(part)) return nullptr;
    return Slots() + std::popcount(parts_ & (Bit(part) - 1));
  }
  const std::uint64_t* Slots() const {
    return reinterpret_cast<const std::uint64_t*>(fields().data() + field_count_);
  }
  const char* Here() const { return reinterpret_cast<const char*>(this); }
  // The bytes of this schema's piece of memory.
  std::size_t Size() const;
  // The enum and default values and the list of rules, which are stored side by side.
  std::span<const Value> Values() const;
  // The words behind the slots: list map keys, required names, junctors.
  std::size_t WordsBehindSlots() const;
  std::vector<std::string_view> Texts(Part part) const;
  // Returns the schemas of a junctor: 0 is allOf, 1 anyOf, 2 oneOf, 3 not.
  std::span<const SchemaPtr> Junctor(std::uint32_t which) const;
  // Returns the schemas of all junctors.
  std::span<const SchemaPtr> Junctors() const;
  std::string_view Text(Part part) const;
  std::string_view TextAt(std::uint32_t at, std::uint32_t size) const;
  std::string DescriptionAt(std::uint32_t at, std::uint32_t size) const;

  mutable std::atomic<std::uint32_t> owners_ = 1;
  std::uint32_t parts_;
  std::uint32_t field_count_;

 public:
  const SchemaType type;
  const std::uint8_t bits;   // kInteger: 32 or 64.
  const ListType list_type;  // kList.
  const bool nullable : 1;
  const bool atomic : 1;                   // kStruct, kMap: x-kubernetes-map-type: atomic.
  const bool preserve_unknown_fields : 1;  // kStruct: keep members that are no fields.
  const bool embedded_resource : 1;        // Has apiVersion, kind and metadata of its own.
  // kList: in protobuf a message of its own, whose field 1 has the items; so a list can be nil, and
  // stand within a list or map.
  const bool proto_message : 1;
  // A field here or below has a default value.
  const bool has_defaults : 1;
  // A value of the right Go type can be invalid, here or below.
  const bool limits_values : 1;
  // This cannot be encoded as protobuf: it is or contains a field without a number or a list in a
  // list.
  const bool lacks_protobuf : 1;
};

// Returns OpenAPI's name of the type: "object", "integer", …; empty for kAny and kIntOrString.
std::string_view OpenApiType(const Schema& schema);

static_assert(sizeof(SchemaPtr) == 8);
static_assert(sizeof(Field) == 32);
static_assert(sizeof(Schema) == 16);

inline SchemaPtr::SchemaPtr(const SchemaPtr& other) : schema_(other.schema_) {
  if (schema_ != nullptr) schema_->owners_.fetch_add(1, std::memory_order_relaxed);
}
inline SchemaPtr& SchemaPtr::operator=(SchemaPtr other) noexcept {
  std::swap(schema_, other.schema_);
  return *this;
}
inline const Value* Field::default_value() const {
  return default_at_ == 0 ? nullptr : reinterpret_cast<const Value*>(Here() + default_at_);
}

template <class Number>
std::optional<Number> ConstraintsView::Limit(const std::uint64_t* slot) {
  if (slot == nullptr) return std::nullopt;
  return std::bit_cast<Number>(*slot);
}
inline std::optional<double> ConstraintsView::minimum() const {
  return Limit<double>(schema_->Slot(Schema::kMinimum));
}
inline std::optional<double> ConstraintsView::maximum() const {
  return Limit<double>(schema_->Slot(Schema::kMaximum));
}
inline std::optional<double> ConstraintsView::multiple_of() const {
  return Limit<double>(schema_->Slot(Schema::kMultipleOf));
}
inline std::optional<std::int64_t> ConstraintsView::min_length() const {
  return Limit<std::int64_t>(schema_->Slot(Schema::kMinLength));
}
inline std::optional<std::int64_t> ConstraintsView::max_length() const {
  return Limit<std::int64_t>(schema_->Slot(Schema::kMaxLength));
}
inline std::optional<std::int64_t> ConstraintsView::min_items() const {
  return Limit<std::int64_t>(schema_->Slot(Schema::kMinItems));
}
inline std::optional<std::int64_t> ConstraintsView::max_items() const {
  return Limit<std::int64_t>(schema_->Slot(Schema::kMaxItems));
}
inline std::optional<std::int64_t> ConstraintsView::min_properties() const {
  return Limit<std::int64_t>(schema_->Slot(Schema::kMinProperties));
}
inline std::optional<std::int64_t> ConstraintsView::max_properties() const {
  return Limit<std::int64_t>(schema_->Slot(Schema::kMaxProperties));
}
inline bool ConstraintsView::exclusive_minimum() const {
  return schema_->Has(Schema::kExclusiveMinimum);
}
inline bool ConstraintsView::exclusive_maximum() const {
  return schema_->Has(Schema::kExclusiveMaximum);
}
inline bool ConstraintsView::unique_items() const { return schema_->Has(Schema::kUniqueItems); }
inline std::string_view ConstraintsView::format() const { return schema_->Text(Schema::kFormat); }
inline const Pattern* ConstraintsView::compiled_pattern() const {
  const std::uint64_t* const slot = schema_->Slot(Schema::kPattern);
  return slot == nullptr ? nullptr : reinterpret_cast<const Pattern*>(*slot);
}
inline std::span<const Value> ConstraintsView::enum_values() const {
  const std::uint64_t* const slot = schema_->Slot(Schema::kEnumValues);
  if (slot == nullptr) return {};
  const auto* const values = schema_->Here() + static_cast<std::uint32_t>(*slot);
  return {reinterpret_cast<const Value*>(values), static_cast<std::size_t>(*slot >> 32U)};
}
inline std::string_view Schema::Text(Part part) const {
  const std::uint64_t* const slot = Slot(part);
  if (slot == nullptr) return {};
  return TextAt(static_cast<std::uint32_t>(*slot), static_cast<std::uint32_t>(*slot >> 32U));
}
inline std::string_view Schema::TextAt(std::uint32_t at, std::uint32_t size) const {
  return {Here() + at, size};
}

}  // namespace apiserver::inline v0::runtime
