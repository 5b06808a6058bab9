#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/runtime/schema_node.h"
#include "apiserver/runtime/value.h"

// Makes Schemas: with the builders below; the codec room also reads them from OpenAPI, CRD YAML and
// `.proto` files. schema_node.h declares the Schema itself.
namespace apiserver::inline v0::runtime {

// A JSON value that is part of a Schema: a default or an enum entry. Constructed from a literal (1,
// "cat") or from any Value, which is copied.
class OwnedValue {
 public:
  OwnedValue() = default;
  explicit OwnedValue(Value value) : value_(Copy(value, *arena_)) {}
  // NOLINTBEGIN(google-explicit-constructor): so that a literal can stand for it.
  OwnedValue(bool value) : value_(Value::Bool(value)) {}
  OwnedValue(int value) : value_(Value::Int(value)) {}
  OwnedValue(std::int64_t value) : value_(Value::Int(value)) {}
  OwnedValue(double value) : value_(Value::Double(value)) {}
  OwnedValue(std::string_view text) : OwnedValue(Value::String(text)) {}
  OwnedValue(const char* text) : OwnedValue(std::string_view(text)) {}
  OwnedValue(const std::string& text) : OwnedValue(std::string_view(text)) {}
  // NOLINTEND(google-explicit-constructor)
  Value get() const { return value_; }

 private:
  std::shared_ptr<Arena> arena_ = std::make_shared<Arena>();
  Value value_;
};

// A range of the bytes that schemas are read from. Empty if `size` is 0.
struct SourceText {
  std::uint32_t at = 0;
  std::uint32_t size = 0;
  bool escaped = false;  // The range contains JSON escapes.
};

// The parts that a Field is made from; Field documents their meaning.
struct FieldParts {
  using Presence = Field::Presence;
  using Omit = Field::Omit;

  std::string name;
  SchemaPtr schema;
  std::string description = "";
  // The description as a range of the bytes given to SchemaPool::ReadFrom(), instead of
  // `description`.
  SourceText source_description = {};
  bool required = false;
  Presence presence = Presence::kValue;
  Omit omit = Omit::kWhenEmpty;
  bool inlined = false;
  int proto_number = 0;
  std::optional<OwnedValue> default_value = std::nullopt;
};

// The constraints that a ConstraintsView shows.
struct Constraints {
  std::optional<double> minimum;
  std::optional<double> maximum;
  bool exclusive_minimum = false;
  bool exclusive_maximum = false;
  std::optional<double> multiple_of;
  std::optional<std::int64_t> min_length;  // Unicode code points.
  std::optional<std::int64_t> max_length;
  std::string pattern;  // RE2 syntax; empty: any.
  std::string format;   // "date-time", "uuid", …: OpenAPI's word, also when nothing is checked.
  std::optional<std::int64_t> min_items;
  std::optional<std::int64_t> max_items;
  bool unique_items = false;
  std::optional<std::int64_t> min_properties;
  std::optional<std::int64_t> max_properties;
  std::vector<OwnedValue> enum_values;  // Empty: any.
};

// The parts that a Schema is made from; Schema documents their meaning.
struct SchemaParts {
  SchemaParts() = default;
  // Copies the parts of `schema`, as the base of a similar one.
  explicit SchemaParts(const Schema& schema);

  SchemaType type = SchemaType::kAny;
  std::string name;
  std::string description;
  SourceText source_description;  // Instead of a `description`.
  int bits = 64;
  bool nullable = false;

  std::string title;
  std::vector<FieldParts> fields;
  SchemaPtr items;
  SchemaPtr members;
  bool closed = false;
  std::vector<std::string> required_names;  // Beyond fields, which say it themselves.
  // The default of an item or a map's value; a field's is in FieldParts.
  std::optional<OwnedValue> default_value;
  std::vector<SchemaPtr> all_of;
  std::vector<SchemaPtr> any_of;
  std::vector<SchemaPtr> one_of;
  SchemaPtr not_of;

  Schema::ListType list_type = Schema::ListType::kAtomic;
  std::vector<std::string> list_map_keys;
  bool atomic = false;
  std::string patch_strategy;
  std::string patch_merge_key;
  bool preserve_unknown_fields = false;
  bool embedded_resource = false;
  bool proto_message = false;
  Constraints constraints;
  std::vector<ValidationRule> rules;
};

// Makes a single Schema; use SchemaPool for many. Throws std::length_error: a text is longer than
// 128 MiB.
SchemaPtr MakeSchema(const SchemaParts& parts);

// Makes schemas and shares equal ones: repeated sub-trees, which are most of a
// CustomResourceDefinition, take memory once, and so do patterns with the same text. A schema may
// outlive its pool, and parts may come from other pools. Only one thread at a time may use it.
class SchemaPool {
 public:
  SchemaPool();
  SchemaPool(SchemaPool&&) noexcept;
  SchemaPool& operator=(SchemaPool&&) noexcept;
  ~SchemaPool();

  // Sets the bytes that the next schemas are read from, at most 1 GiB. Null: there are none.
  // Schemas whose descriptions lie in the bytes keep them alive.
  void ReadFrom(std::shared_ptr<const std::string> source);
  // Finds `text` in the bytes: it is a part of them, or it is searched in a JSON string shortly
  // after the last one found. Empty: not found.
  SourceText Find(std::string_view text);
  // Makes a schema, or returns the equal one that the pool holds.
  SchemaPtr Make(const SchemaParts& parts);
  // The number of schemas that the pool holds.
  std::size_t size() const;
  // Drops the schemas and patterns that only the pool references. Make() does this from time to
  // time.
  void Sweep();

 private:
  class State;
  std::unique_ptr<State> state_;
};

// Return the schemas of common types. See SchemaType for their JSON forms.
SchemaPtr StringSchema();
SchemaPtr BooleanSchema();
SchemaPtr IntegerSchema(int bits);
SchemaPtr NumberSchema();
SchemaPtr AnySchema();
SchemaPtr BytesSchema();
SchemaPtr TimeSchema();
SchemaPtr MicroTimeSchema();
SchemaPtr DurationSchema();
SchemaPtr QuantitySchema();
SchemaPtr IntOrStringSchema();
SchemaPtr RawExtensionSchema();
SchemaPtr ListOf(SchemaPtr items);
SchemaPtr MapOf(SchemaPtr values);
// Return lists of x-kubernetes-list-type set, and of type map with the given keys.
SchemaPtr SetOf(SchemaPtr items);
SchemaPtr ListMapOf(SchemaPtr items, std::vector<std::string> keys);
// Return the schemas of meta/v1 ObjectMeta and ListMeta with Go's field order, presence, omission
// and protobuf numbers.
SchemaPtr ObjectMetaSchema();
SchemaPtr ListMetaSchema();

// Builds a kStruct.
//
//   SchemaPtr spec = StructBuilder("com.example.v1.WidgetSpec", "What the widget should be.")
//       .Field("size", IntegerSchema(32), {.required = true, .minimum = 1, .maximum = 9})
//       .Field("color", StringSchema(), {.default_value = "red", .one_of = {"red", "blue"}})
//       .Build();
class StructBuilder {
 public:
  // The options of a field besides name and type. Constraints are those of OpenAPI v3; one that is
  // not set is not checked. They override those of the field's schema, in a copy of it, and are
  // checked on every write of an object (registry::StoreOptions::validate_schema).
  struct Options {
    std::string description = "";
    bool required = false;
    runtime::Field::Presence presence = runtime::Field::Presence::kValue;
    runtime::Field::Omit omit = runtime::Field::Omit::kWhenEmpty;
    bool inlined = false;
    int proto_number = 0;
    std::optional<OwnedValue> default_value = std::nullopt;

    // Numbers.
    std::optional<double> minimum = std::nullopt;
    std::optional<double> maximum = std::nullopt;
    bool exclusive_minimum = false;  // The value must be greater than `minimum`.
    bool exclusive_maximum = false;
    std::optional<double> multiple_of = std::nullopt;
    // Texts; lengths in Unicode code points.
    std::optional<std::int64_t> min_length = std::nullopt;
    std::optional<std::int64_t> max_length = std::nullopt;
    std::string pattern = "";  // RE2 syntax, found anywhere in the text; empty: any.
    std::string format = "";  // "uuid", "ipv4", "date-time", …: OpenAPI's word; empty: the type's.
    // Lists.
    std::optional<std::int64_t> min_items = std::nullopt;
    std::optional<std::int64_t> max_items = std::nullopt;
    bool unique_items = false;
    // Maps and structs.
    std::optional<std::int64_t> min_properties = std::nullopt;
    std::optional<std::int64_t> max_properties = std::nullopt;
    // Values of any type. OpenAPI's enum; empty: any.
    std::vector<OwnedValue> one_of = {};
  };
  explicit StructBuilder(std::string name, std::string description = "");
  StructBuilder& Field(std::string name, SchemaPtr schema, Options options);
  StructBuilder& Field(std::string name, SchemaPtr schema) {
    return Field(std::move(name), std::move(schema), Options());
  }
  // Adds a rule about the whole struct, which every write of an object must obey:
  // {.rule = "self.min <= self.max", .message = "min must not exceed max"}.
  StructBuilder& Rule(ValidationRule rule);
  SchemaPtr Build() { return MakeSchema(parts_); }
  SchemaPtr Build(SchemaPool& pool) { return pool.Make(parts_); }

 private:
  SchemaParts parts_;
};

}  // namespace apiserver::inline v0::runtime
