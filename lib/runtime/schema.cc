#include "apiserver/runtime/schema.h"

#include <utility>

namespace apiserver::v0::runtime {

namespace {

Schema OfType(SchemaType type, std::string format = "", std::string name = "") {
  Schema schema;
  schema.type = type;
  schema.name = std::move(name);
  schema.constraints.format = std::move(format);
  return schema;
}

SchemaPtr Share(const Schema& schema) { return std::make_shared<Schema>(schema); }

void TakeParts(Schema& schema, std::vector<SchemaPtr>& parts) {
  parts.push_back(std::move(schema.items));
  for (Field& field : schema.fields) parts.push_back(std::move(field.schema));
}

}  // namespace

Schema::~Schema() {
  if (items == nullptr && fields.empty()) return;
  std::vector<SchemaPtr> parts;
  TakeParts(*this, parts);
  while (!parts.empty()) {
    SchemaPtr part = std::move(parts.back());
    parts.pop_back();
    if (part.use_count() != 1) continue;
    // Giving a copy back orders what other owners read before what follows; nobody else can get
    // at the schema any more.
    SchemaPtr(part).reset();
    TakeParts(const_cast<Schema&>(*part), parts);  // NOLINT: its end has come.
  }
}

const Field* Schema::FindField(std::string_view json_name) const {
  std::vector<const Schema*> inlined;
  for (const Schema* at = this; at != nullptr;) {
    for (const Field& field : at->fields) {
      if (field.inlined) {
        inlined.push_back(field.schema.get());
      } else if (field.name == json_name) {
        return &field;
      }
    }
    // As in Go, what stands nearer to the outside hides what is deeper.
    at = inlined.empty() ? nullptr : inlined.front();
    if (at != nullptr) inlined.erase(inlined.begin());
  }
  return nullptr;
}

std::string_view OpenApiType(const Schema& schema) {
  switch (schema.type) {
    case SchemaType::kAny:
    case SchemaType::kIntOrString:
      return "";
    case SchemaType::kBoolean:
      return "boolean";
    case SchemaType::kInteger:
      return "integer";
    case SchemaType::kNumber:
      return "number";
    case SchemaType::kString:
    case SchemaType::kBytes:
    case SchemaType::kTime:
    case SchemaType::kMicroTime:
    case SchemaType::kDuration:
    case SchemaType::kQuantity:
      return "string";
    case SchemaType::kRaw:
    case SchemaType::kStruct:
    case SchemaType::kMap:
      return "object";
    case SchemaType::kList:
      return "array";
  }
  return "";
}

SchemaPtr StringSchema() { return Share(OfType(SchemaType::kString)); }

SchemaPtr BooleanSchema() { return Share(OfType(SchemaType::kBoolean)); }

SchemaPtr IntegerSchema(int bits) {
  Schema schema = OfType(SchemaType::kInteger, bits == 32 ? "int32" : "int64");
  schema.bits = bits;
  return Share(schema);
}

SchemaPtr NumberSchema() { return Share(OfType(SchemaType::kNumber, "double")); }

SchemaPtr AnySchema() { return Share(OfType(SchemaType::kAny)); }

SchemaPtr BytesSchema() { return Share(OfType(SchemaType::kBytes, "byte")); }

SchemaPtr TimeSchema() {
  return Share(OfType(SchemaType::kTime, "date-time", "io.k8s.apimachinery.pkg.apis.meta.v1.Time"));
}

SchemaPtr MicroTimeSchema() {
  return Share(OfType(SchemaType::kMicroTime, "date-time",
                      "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime"));
}

SchemaPtr DurationSchema() {
  return Share(OfType(SchemaType::kDuration, "", "io.k8s.apimachinery.pkg.apis.meta.v1.Duration"));
}

SchemaPtr QuantitySchema() {
  return Share(OfType(SchemaType::kQuantity, "", "io.k8s.apimachinery.pkg.api.resource.Quantity"));
}

SchemaPtr IntOrStringSchema() {
  return Share(OfType(SchemaType::kIntOrString, "int-or-string",
                      "io.k8s.apimachinery.pkg.util.intstr.IntOrString"));
}

SchemaPtr RawExtensionSchema() {
  return Share(OfType(SchemaType::kRaw, "", "io.k8s.apimachinery.pkg.runtime.RawExtension"));
}

SchemaPtr ListOf(SchemaPtr items) {
  Schema schema = OfType(SchemaType::kList);
  schema.items = std::move(items);
  return Share(schema);
}

SchemaPtr MapOf(SchemaPtr values) {
  Schema schema = OfType(SchemaType::kMap);
  schema.items = std::move(values);
  return Share(schema);
}

SchemaPtr SetOf(SchemaPtr items) {
  Schema schema = OfType(SchemaType::kList);
  schema.items = std::move(items);
  schema.list_type = Schema::ListType::kSet;
  return Share(schema);
}

SchemaPtr ListMapOf(SchemaPtr items, std::vector<std::string> keys) {
  Schema schema = OfType(SchemaType::kList);
  schema.items = std::move(items);
  schema.list_type = Schema::ListType::kMap;
  schema.list_map_keys = std::move(keys);
  return Share(schema);
}

StructBuilder::StructBuilder(std::string name, std::string description) {
  schema_.type = SchemaType::kStruct;
  schema_.name = std::move(name);
  schema_.description = std::move(description);
}

StructBuilder& StructBuilder::Field(std::string name, SchemaPtr schema, Options options) {
  runtime::Field field;
  field.name = std::move(name);
  field.schema = std::move(schema);
  field.description = std::move(options.description);
  field.required = options.required;
  field.presence = options.presence;
  field.omit = options.omit;
  field.inlined = options.inlined;
  field.proto_number = options.proto_number;
  field.default_value = std::move(options.default_value);
  schema_.fields.push_back(std::move(field));
  return *this;
}

SchemaPtr StructBuilder::Build() { return Share(schema_); }

}  // namespace apiserver::v0::runtime
