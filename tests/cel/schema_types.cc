#include "cel/schema_types.h"

#include <vector>

#include "apiserver/cel/names.h"
#include "apiserver/codec/json.h"
#include "base/status_macros.h"

namespace apiserver::celtest {
namespace {

using cel::Type;
using runtime::Schema;
using runtime::SchemaType;

constexpr std::pair<std::string_view, cel::TypeKind> kPlainTypes[] = {
    {"bool", cel::TypeKind::kBool},     {"bytes", cel::TypeKind::kBytes},
    {"double", cel::TypeKind::kDouble}, {"duration", cel::TypeKind::kDuration},
    {"dyn", cel::TypeKind::kDyn},       {"any", cel::TypeKind::kAny},
    {"int", cel::TypeKind::kInt},       {"null", cel::TypeKind::kNull},
    {"string", cel::TypeKind::kString}, {"timestamp", cel::TypeKind::kTimestamp},
    {"uint", cel::TypeKind::kUint},
};

Status Unknown(std::string_view name) {
  return Status(Reason::kInvalid, "unknown type " + std::string(name));
}

Result<Type> Plain(std::string_view name) {
  for (const auto& [known, kind] : kPlainTypes) {
    if (known == name) return Type::Of(kind);
  }
  if (name.starts_with("net.")) return Type::Opaque(std::string(name));
  if (name.starts_with("kubernetes.")) return Type::Struct(std::string(name));
  return Unknown(name);
}

Result<Type> Parameterized(std::string_view name, const std::vector<Type>& parameters) {
  if (name == "list" && parameters.size() == 1) return Type::List(parameters[0]);
  if (name == "map" && parameters.size() == 2) return Type::Map(parameters[0], parameters[1]);
  if (name == "optional_type" && parameters.size() == 1) return Type::Optional(parameters[0]);
  if (name == "type" && parameters.size() == 1) return Type::TypeOf(parameters[0]);
  if (name == "wrapper" && parameters.size() == 1) return Type::Wrapper(parameters[0]);
  return Unknown(name);
}

// Reads a type and moves `text` behind it.
Result<Type> TakeType(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of("(,)"), text.size());
  const std::string_view name = text.substr(0, end);
  text.remove_prefix(end);
  if (!text.starts_with('(')) return Plain(name);
  std::vector<Type> parameters;
  while (text.starts_with('(') || text.starts_with(',')) {
    text.remove_prefix(1);
    while (text.starts_with(' ')) text.remove_prefix(1);
    ASSIGN_OR_RETURN(Type parameter, TakeType(text));
    parameters.push_back(std::move(parameter));
  }
  if (!text.starts_with(')')) return Unknown(text);
  text.remove_prefix(1);
  return Parameterized(name, parameters);
}

std::optional<Type> TypeOfStruct(const Schema& schema, const std::string& name) {
  cel::StructType type = {.name = name};
  for (const runtime::Field& field : schema.fields()) {
    const std::optional<std::string> escaped = cel::Escape(field.name());
    if (!escaped) continue;
    std::optional<Type> member = TypeOfSchema(*field.schema, name + "." + *escaped);
    if (member) type.fields.push_back({*escaped, std::move(*member)});
  }
  return Type::Struct(std::move(type));
}

Type TypeOfText(const Schema& schema) {
  const std::string_view format = schema.constraints().format();
  if (format == "byte") return Type::Bytes();
  if (format == "duration") return Type::Duration();
  if (format == "date" || format == "date-time") return Type::Timestamp();
  return Type::String();
}

}  // namespace

Result<Type> TypeOfText(std::string_view text) {
  ASSIGN_OR_RETURN(Type type, TakeType(text));
  if (!text.empty()) return Unknown(text);
  return type;
}

std::optional<Type> TypeOfSchema(const Schema& schema, const std::string& name) {
  switch (schema.type) {
    case SchemaType::kBoolean:
      return Type::Bool();
    case SchemaType::kInteger:
      return Type::Int();
    case SchemaType::kNumber:
      return Type::Double();
    case SchemaType::kIntOrString:
      return Type::Dyn();
    case SchemaType::kString:
      return TypeOfText(schema);
    case SchemaType::kStruct:
      return TypeOfStruct(schema, name);
    case SchemaType::kList: {
      const std::optional<Type> items = TypeOfSchema(*schema.items(), name + ".@idx");
      if (!items) return std::nullopt;
      return Type::List(*items);
    }
    case SchemaType::kMap: {
      if (schema.items() == runtime::AnySchema())
        return Type::Struct(cel::StructType{.name = name});
      const std::optional<Type> values = TypeOfSchema(*schema.items(), name + ".@elem");
      if (!values) return std::nullopt;
      return Type::Map(Type::String(), *values);
    }
    default:
      return std::nullopt;
  }
}

runtime::Value WithTypeAndObjectMeta(const runtime::Value& schema, runtime::Arena& arena) {
  const runtime::Value properties = schema["properties"];
  const auto is = [&](const runtime::Value& property, std::string_view type) {
    return property["type"].AsString() == type;
  };
  const runtime::Value metadata = properties["metadata"];
  if (is(properties["kind"], "string") && is(properties["apiVersion"], "string") &&
      is(metadata, "object") && is(metadata["properties"]["name"], "string") &&
      is(metadata["properties"]["generateName"], "string")) {
    return schema;
  }
  static constexpr std::string_view kAdded =
      R"({"kind":{"type":"string"},"apiVersion":{"type":"string"},"metadata":{"type":"object",)"
      R"("properties":{"name":{"type":"string"},"generateName":{"type":"string"}}}})";
  const Result<runtime::Value> added = codec::ParseJson(kAdded, arena);
  runtime::Value completed = properties;
  for (const runtime::Member& member : added->members()) {
    completed = runtime::With(completed, member.key, member.value, arena);
  }
  return runtime::With(schema, "properties", completed, arena);
}

}  // namespace apiserver::celtest
