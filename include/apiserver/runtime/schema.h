#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/runtime/value.h"

// The single description of a kind's shape. Immutable once built and shared; from the builders
// below, from OpenAPI or CRD YAML (codec), or from `.proto` (codec).
namespace apiserver::inline v0::runtime {

struct Schema;
using SchemaPtr = std::shared_ptr<const Schema>;

enum class SchemaType : std::uint8_t {
  kAny,  // Whatever JSON there is, kept as it is.
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
  kStruct,       // `fields`.
  kMap,          // String keys, values of `items`.
  kList,         // Elements of `items`.
};

// A JSON value that belongs to a Schema (a default, an enum entry).
class OwnedValue {
 public:
  OwnedValue() = default;
  explicit OwnedValue(Value value) : value_(Copy(value, *arena_)) {}
  Value get() const { return value_; }

 private:
  std::shared_ptr<Arena> arena_ = std::make_shared<Arena>();
  Value value_;
};

struct Field {
  // How the Go type holds the field: decides whether "absent" and "zero" differ.
  enum class Presence : std::uint8_t { kValue, kPointer };
  // When the Go type leaves the field out of JSON: never (zero value or null is written), when
  // empty (omitempty: false, 0, "", nil, no elements; never for structs held by value), when zero
  // (omitzero: also a struct whose every field is zero).
  enum class Omit : std::uint8_t { kNever, kWhenEmpty, kWhenZero };

  std::string name;
  SchemaPtr schema;
  std::string description;
  bool required = false;
  Presence presence = Presence::kValue;
  Omit omit = Omit::kWhenEmpty;
  bool inlined = false;  // The members of `schema` (a struct) stand in the outer object.
  // Zero: neither the field nor what holds it has a form in protobuf. kNotInProto: protobuf leaves
  // out this field alone.
  int proto_number = 0;
  static constexpr int kNotInProto = -1;
  std::optional<OwnedValue> default_value;  // Filled in when the field is absent.
};

// Value validation as OpenAPI v3 has it; what is not set is not checked.
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

struct Schema {
  // Takes nested schemas apart one by one, so that their depth cannot exhaust the stack.
  ~Schema();

  enum class ListType : std::uint8_t { kAtomic, kSet, kMap };

  SchemaType type = SchemaType::kAny;
  // The OpenAPI definition's name, "com.example.wardle.v1alpha1.FlunderSpec"; empty: written in
  // place.
  std::string name;
  std::string description;
  int bits = 64;  // kInteger: 32 or 64.
  bool nullable = false;

  std::vector<Field> fields;  // kStruct, in declaration order, which is the order of its JSON.
  SchemaPtr items;            // kMap, kList.

  ListType list_type = ListType::kAtomic;
  std::vector<std::string> list_map_keys;  // kList of ListType::kMap.
  bool atomic = false;                     // kStruct, kMap: x-kubernetes-map-type: atomic.
  std::string patch_strategy;              // x-kubernetes-patch-strategy: "merge", "replace", ….
  std::string patch_merge_key;
  bool preserve_unknown_fields = false;  // kStruct: keep members that are no fields.
  bool embedded_resource = false;        // Has apiVersion, kind and metadata of its own.
  // kList: in protobuf a message of its own, whose field 1 has the items; so a list can be nil, and
  // stand within a list or map.
  bool proto_message = false;
  Constraints constraints;

  // Null when there is no such field; looks into inlined structs.
  const Field* FindField(std::string_view json_name) const;
};

// The word OpenAPI has for the type: "object", "integer", …; empty for kAny and kIntOrString.
std::string_view OpenApiType(const Schema& schema);

// Schemas of what every kind shares; built once per call, cheap to share afterwards.
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
// x-kubernetes-list-type: set, and map with these keys.
SchemaPtr SetOf(SchemaPtr items);
SchemaPtr ListMapOf(SchemaPtr items, std::vector<std::string> keys);
// meta/v1 ObjectMeta and ListMeta with Go's order, presence, omission and protobuf numbers.
SchemaPtr ObjectMetaSchema();
SchemaPtr ListMetaSchema();

// Builds a kStruct.
//
//   SchemaPtr spec = StructBuilder("com.example.v1.WidgetSpec", "What the widget should be.")
//       .Field("size", IntegerSchema(32), {.description = "In metres.", .required = true})
//       .Build();
class StructBuilder {
 public:
  struct Options {
    std::string description = "";
    bool required = false;
    runtime::Field::Presence presence = runtime::Field::Presence::kValue;
    runtime::Field::Omit omit = runtime::Field::Omit::kWhenEmpty;
    bool inlined = false;
    int proto_number = 0;
    std::optional<OwnedValue> default_value = std::nullopt;
  };
  explicit StructBuilder(std::string name, std::string description = "");
  StructBuilder& Field(std::string name, SchemaPtr schema, Options options);
  StructBuilder& Field(std::string name, SchemaPtr schema) {
    return Field(std::move(name), std::move(schema), Options());
  }
  SchemaPtr Build();

 private:
  Schema schema_;
};

}  // namespace apiserver::inline v0::runtime
