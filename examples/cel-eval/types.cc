#include "types.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "apiserver/base/status_macros.h"
#include "apiserver/runtime/schema.h"

using namespace apiserver;  // NOLINT(google-build-using-namespace): a program.

namespace cel_eval {
namespace {

constexpr std::array<std::pair<std::string_view, cel::TypeKind>, 11> kTypes = {{
    {"dyn", cel::TypeKind::kDyn},
    {"bool", cel::TypeKind::kBool},
    {"int", cel::TypeKind::kInt},
    {"double", cel::TypeKind::kDouble},
    {"string", cel::TypeKind::kString},
    {"bytes", cel::TypeKind::kBytes},
    {"timestamp", cel::TypeKind::kTimestamp},
    {"duration", cel::TypeKind::kDuration},
    {"uint", cel::TypeKind::kUint},
    {"null_type", cel::TypeKind::kNull},
    {"type", cel::TypeKind::kType},
}};

Status Unknown(std::string_view text) {
  return {Reason::kInvalid,
          "unknown type " + std::string(text) +
              "; there are dyn, bool, int, double, string, bytes, timestamp, duration, list(T) and "
              "map(string, T)"};
}

// Returns what stands in the parentheses of NAME(…). nullopt: the text is not of that form.
std::optional<std::string_view> Inside(std::string_view text, std::string_view name) {
  if (!text.starts_with(name) || !text.ends_with(')')) return std::nullopt;
  text.remove_prefix(name.size());
  if (!text.starts_with('(')) return std::nullopt;
  return text.substr(1, text.size() - 2);
}

std::optional<std::string_view> ValuesOfMap(std::string_view text) {
  const std::optional<std::string_view> inside = Inside(text, "map");
  constexpr std::string_view kKeys = "string,";
  if (!inside.has_value() || !inside->starts_with(kKeys)) return std::nullopt;
  std::string_view values = inside->substr(kKeys.size());
  while (values.starts_with(' ')) values.remove_prefix(1);
  return values;
}

// The schema of strings with a format of OpenAPI.
runtime::SchemaPtr Formatted(const char* format) {
  runtime::SchemaParts parts;
  parts.type = runtime::SchemaType::kString;
  parts.constraints.format = format;
  return runtime::MakeSchema(parts);
}

// Returns the schema of a type that is no list or map. Null: it has none.
runtime::SchemaPtr SchemaOf(cel::TypeKind kind) {
  switch (kind) {
    case cel::TypeKind::kBool:
      return runtime::BooleanSchema();
    case cel::TypeKind::kInt:
      return runtime::IntegerSchema(64);
    case cel::TypeKind::kDouble:
      return runtime::NumberSchema();
    case cel::TypeKind::kString:
      return runtime::StringSchema();
    case cel::TypeKind::kBytes:
      return Formatted("byte");
    case cel::TypeKind::kTimestamp:
      return Formatted("date-time");
    case cel::TypeKind::kDuration:
      return Formatted("duration");
    default:
      return nullptr;
  }
}

}  // namespace

Result<DataType> ReadDataType(std::string_view text) {
  if (const auto items = Inside(text, "list")) {
    APISERVER_ASSIGN_OR_RETURN(const DataType type, ReadDataType(*items));
    return DataType{cel::Type::List(type.type),
                    type.schema ? runtime::ListOf(type.schema) : nullptr};
  }
  if (const auto values = ValuesOfMap(text)) {
    APISERVER_ASSIGN_OR_RETURN(const DataType type, ReadDataType(*values));
    return DataType{cel::Type::Map(cel::Type::String(), type.type),
                    type.schema ? runtime::MapOf(type.schema) : nullptr};
  }
  for (const auto& [name, kind] : kTypes) {
    if (name != text) continue;
    runtime::SchemaPtr schema = SchemaOf(kind);
    if (schema || kind == cel::TypeKind::kDyn) return DataType{cel::Type::Of(kind), schema};
  }
  return Unknown(text);
}

Result<cel::Type> ReadType(std::string_view text) {
  if (const auto value = Inside(text, "optional_type")) {
    APISERVER_ASSIGN_OR_RETURN(const cel::Type type, ReadType(*value));
    return cel::Type::Optional(type);
  }
  for (const auto& [name, kind] : kTypes) {
    if (name == text) return cel::Type::Of(kind);
  }
  APISERVER_ASSIGN_OR_RETURN(const DataType type, ReadDataType(text));
  return type.type;
}

}  // namespace cel_eval
