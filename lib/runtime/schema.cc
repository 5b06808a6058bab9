#include "apiserver/runtime/schema.h"

#include <utility>

namespace apiserver::v0::runtime {

namespace {

SchemaPtr Scalar(SchemaType type, std::string format = "", std::string name = "") {
  SchemaParts parts;
  parts.type = type;
  parts.name = std::move(name);
  parts.constraints.format = std::move(format);
  return MakeSchema(parts);
}

SchemaPtr Integer(int bits) {
  SchemaParts parts;
  parts.type = SchemaType::kInteger;
  parts.constraints.format = bits == 32 ? "int32" : "int64";
  parts.bits = bits;
  return MakeSchema(parts);
}

SchemaParts Collection(SchemaType type, SchemaPtr items) {
  SchemaParts parts;
  parts.type = type;
  parts.items = std::move(items);
  return parts;
}

Constraints ConstraintsOf(const Schema& schema) {
  const ConstraintsView view = schema.constraints();
  Constraints constraints{
      .minimum = view.minimum(),
      .maximum = view.maximum(),
      .exclusive_minimum = view.exclusive_minimum(),
      .exclusive_maximum = view.exclusive_maximum(),
      .multiple_of = view.multiple_of(),
      .min_length = view.min_length(),
      .max_length = view.max_length(),
      .pattern = std::string(view.pattern()),
      .format = std::string(view.format()),
      .min_items = view.min_items(),
      .max_items = view.max_items(),
      .unique_items = view.unique_items(),
      .min_properties = view.min_properties(),
      .max_properties = view.max_properties(),
      .enum_values = {},
  };
  for (const Value& value : view.enum_values()) constraints.enum_values.emplace_back(value);
  return constraints;
}

template <class Limit>
bool Override(std::optional<Limit>& limit, const std::optional<Limit>& option) {
  if (!option) return false;
  limit = option;
  return true;
}

bool Override(std::string& text, std::string& option) {
  if (option.empty()) return false;
  text = std::move(option);
  return true;
}

bool Override(bool& flag, bool option) {
  flag = flag || option;
  return option;
}

// Returns true if `options` have any constraint on the value.
bool Constrain(StructBuilder::Options& options, Constraints& constraints) {
  bool any = Override(constraints.minimum, options.minimum);
  any |= Override(constraints.maximum, options.maximum);
  any |= Override(constraints.exclusive_minimum, options.exclusive_minimum);
  any |= Override(constraints.exclusive_maximum, options.exclusive_maximum);
  any |= Override(constraints.multiple_of, options.multiple_of);
  any |= Override(constraints.min_length, options.min_length);
  any |= Override(constraints.max_length, options.max_length);
  any |= Override(constraints.pattern, options.pattern);
  any |= Override(constraints.format, options.format);
  any |= Override(constraints.min_items, options.min_items);
  any |= Override(constraints.max_items, options.max_items);
  any |= Override(constraints.unique_items, options.unique_items);
  any |= Override(constraints.min_properties, options.min_properties);
  any |= Override(constraints.max_properties, options.max_properties);
  if (options.one_of.empty()) return any;
  constraints.enum_values = std::move(options.one_of);
  return true;
}

// Returns `schema` with the constraints of `options`: itself if there are none.
SchemaPtr Constrained(SchemaPtr schema, StructBuilder::Options& options) {
  if (schema == nullptr) return schema;  // Kind::New names the place.
  SchemaParts parts(*schema);
  if (!Constrain(options, parts.constraints)) return schema;
  // A name refers to one definition in OpenAPI, so a schema that differs from it is written inline.
  parts.name.clear();
  return MakeSchema(parts);
}

}  // namespace

SchemaParts::SchemaParts(const Schema& schema)
    : type(schema.type),
      name(schema.name()),
      description(schema.description()),
      bits(schema.bits),
      nullable(schema.nullable),
      title(schema.title()),
      items(schema.items()),
      members(schema.members()),
      closed(schema.closed()),
      all_of(schema.all_of().begin(), schema.all_of().end()),
      any_of(schema.any_of().begin(), schema.any_of().end()),
      one_of(schema.one_of().begin(), schema.one_of().end()),
      not_of(schema.not_of()),
      list_type(schema.list_type),
      atomic(schema.atomic),
      patch_strategy(schema.patch_strategy()),
      patch_merge_key(schema.patch_merge_key()),
      preserve_unknown_fields(schema.preserve_unknown_fields),
      embedded_resource(schema.embedded_resource),
      proto_message(schema.proto_message),
      constraints(ConstraintsOf(schema)),
      rules(schema.rules()) {
  for (const std::string_view key : schema.list_map_keys()) list_map_keys.emplace_back(key);
  for (const std::string_view name : schema.required_names()) required_names.emplace_back(name);
  if (schema.default_value() != nullptr) default_value = OwnedValue(*schema.default_value());
  for (const Field& field : schema.fields()) {
    FieldParts& parts = fields.emplace_back();
    parts.name = field.name();
    parts.schema = field.schema;
    parts.description = schema.DescriptionOf(field);
    parts.required = field.required;
    parts.presence = field.presence;
    parts.omit = field.omit;
    parts.inlined = field.inlined;
    parts.proto_number = field.proto_number;
    if (field.default_value() != nullptr) parts.default_value = OwnedValue(*field.default_value());
  }
}

SchemaPtr StringSchema() {
  static const SchemaPtr schema = Scalar(SchemaType::kString);
  return schema;
}

SchemaPtr BooleanSchema() {
  static const SchemaPtr schema = Scalar(SchemaType::kBoolean);
  return schema;
}

SchemaPtr IntegerSchema(int bits) {
  static const SchemaPtr short_integer = Integer(32);
  static const SchemaPtr long_integer = Integer(64);
  return bits == 32 ? short_integer : bits == 64 ? long_integer : Integer(bits);
}

SchemaPtr NumberSchema() {
  static const SchemaPtr schema = Scalar(SchemaType::kNumber, "double");
  return schema;
}

SchemaPtr AnySchema() {
  static const SchemaPtr schema = Scalar(SchemaType::kAny);
  return schema;
}

SchemaPtr BytesSchema() {
  static const SchemaPtr schema = Scalar(SchemaType::kBytes, "byte");
  return schema;
}

SchemaPtr TimeSchema() {
  static const SchemaPtr schema =
      Scalar(SchemaType::kTime, "date-time", "io.k8s.apimachinery.pkg.apis.meta.v1.Time");
  return schema;
}

SchemaPtr MicroTimeSchema() {
  static const SchemaPtr schema =
      Scalar(SchemaType::kMicroTime, "date-time", "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime");
  return schema;
}

SchemaPtr DurationSchema() {
  static const SchemaPtr schema =
      Scalar(SchemaType::kDuration, "", "io.k8s.apimachinery.pkg.apis.meta.v1.Duration");
  return schema;
}

SchemaPtr QuantitySchema() {
  static const SchemaPtr schema =
      Scalar(SchemaType::kQuantity, "", "io.k8s.apimachinery.pkg.api.resource.Quantity");
  return schema;
}

SchemaPtr IntOrStringSchema() {
  static const SchemaPtr schema = Scalar(SchemaType::kIntOrString, "int-or-string",
                                         "io.k8s.apimachinery.pkg.util.intstr.IntOrString");
  return schema;
}

SchemaPtr RawExtensionSchema() {
  static const SchemaPtr schema =
      Scalar(SchemaType::kRaw, "", "io.k8s.apimachinery.pkg.runtime.RawExtension");
  return schema;
}

SchemaPtr ListOf(SchemaPtr items) {
  return MakeSchema(Collection(SchemaType::kList, std::move(items)));
}

SchemaPtr MapOf(SchemaPtr values) {
  return MakeSchema(Collection(SchemaType::kMap, std::move(values)));
}

SchemaPtr SetOf(SchemaPtr items) {
  SchemaParts parts = Collection(SchemaType::kList, std::move(items));
  parts.list_type = Schema::ListType::kSet;
  return MakeSchema(parts);
}

SchemaPtr ListMapOf(SchemaPtr items, std::vector<std::string> keys) {
  SchemaParts parts = Collection(SchemaType::kList, std::move(items));
  parts.list_type = Schema::ListType::kMap;
  parts.list_map_keys = std::move(keys);
  return MakeSchema(parts);
}

StructBuilder::StructBuilder(std::string name, std::string description) {
  parts_.type = SchemaType::kStruct;
  parts_.name = std::move(name);
  parts_.description = std::move(description);
}

StructBuilder& StructBuilder::Field(std::string name, SchemaPtr schema, Options options) {
  FieldParts field;
  field.name = std::move(name);
  field.schema = Constrained(std::move(schema), options);
  field.description = std::move(options.description);
  field.required = options.required;
  field.presence = options.presence;
  field.omit = options.omit;
  field.inlined = options.inlined;
  field.proto_number = options.proto_number;
  field.default_value = std::move(options.default_value);
  parts_.fields.push_back(std::move(field));
  return *this;
}

StructBuilder& StructBuilder::Rule(ValidationRule rule) {
  parts_.rules.push_back(std::move(rule));
  return *this;
}

}  // namespace apiserver::v0::runtime
