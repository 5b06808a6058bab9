#include "cel/run/views.h"

#include <string>

#include "apiserver/codec/json.h"
#include "cel/run/time_text.h"
#include "cel/types/spell.h"
#include "text/base64.h"

namespace apiserver::v0::cel {
namespace {

using runtime::Schema;
using runtime::SchemaType;
using DataType = runtime::Value::Type;

bool SameData(const void* a, const void* b) {
  return *static_cast<const runtime::Value*>(a) == *static_cast<const runtime::Value*>(b);
}

constexpr TypeNode kUnknownType = types::Opaque("unknown");

Value Encoded(std::string_view bytes, Arena& arena) {
  std::string text;
  text::AppendBase64(bytes, text);
  return Value::String(arena.Copy(text));
}

// Parses JSON that the object keeps as text.
Value Parsed(std::string_view json, Arena& arena) {
  const runtime::Value* const parsed = arena.ParsedOnce(json);
  return parsed == nullptr ? Value() : Value::FromData(*parsed, nullptr, arena);
}

// Returns data as the plain JSON that a Go server's unstructured object holds.
Value Plain(const runtime::Value& data, Arena& arena) {
  switch (data.type()) {
    case DataType::kNull:
      return {};
    case DataType::kBool:
      return Value::Bool(data.AsBool());
    case DataType::kInt:
      return Value::Int(data.AsInt());
    case DataType::kDouble:
      return Value::Double(data.AsDouble());
    case DataType::kString:
      return Value::String(data.AsString());
    case DataType::kList:
      return DataViews::List(data, nullptr);
    case DataType::kMap:
      return DataViews::Map(data, nullptr);
    case DataType::kRaw:
      return Parsed(data.AsString(), arena);
    case DataType::kBytes:
      return Encoded(data.AsString(), arena);
  }
  return {};
}

// Names a type of data as Go's %T does.
std::string_view GoTypeName(const runtime::Value& data) {
  switch (data.type()) {
    case DataType::kBool:
      return "bool";
    case DataType::kInt:
      return "int64";
    case DataType::kDouble:
      return "float64";
    case DataType::kString:
      return "string";
    case DataType::kList:
      return "[]interface {}";
    default:
      return "map[string]interface {}";
  }
}

Value Expected(std::string_view type, const runtime::Value& got, Arena& arena) {
  std::string text = "invalid data, expected ";
  text.append(type).append(", got ").append(GoTypeName(got));
  return Value::Error(arena.Copy(text));
}

Value BadFormat(std::string_view what, std::string_view text, std::string_view why, Arena& arena) {
  std::string message(what);
  message.append(" ").append(text).append(": ").append(why);
  return Value::Error(arena.Copy(message));
}

// The formats that are types of the language; text of every other one is a string.
Value TextView(std::string_view text, std::string_view format, Arena& arena) {
  std::string error;
  if (format == "date-time") {
    const std::optional<Time> time = ParseDateTime(text, error);
    if (time.has_value()) return Value::Timestamp(*time);
    return BadFormat("Invalid date-time formatted string", text, error, arena);
  }
  if (format == "date") {
    const std::optional<Time> date = ParseDate(text, error);
    if (date.has_value()) return Value::Timestamp(*date);
    return BadFormat("Invalid date formatted string", text, error, arena);
  }
  if (format == "duration") {
    const std::optional<std::int64_t> duration = ParseWordyDuration(text);
    if (duration.has_value()) return Value::Duration(*duration);
    return BadFormat("Invalid duration", text,
                     "unable to parse " + std::string(text) + " as duration", arena);
  }
  if (format == "byte") {
    // strfmt.Base64 decodes the alphabet of URLs, and that of base64 is translated to it.
    std::string standard(text);
    for (char& c : standard) {
      if (c == '-') c = '+';
      if (c == '_') c = '/';
    }
    std::size_t error_at = 0;
    const std::optional<std::string> bytes = text::DecodeBase64(standard, &error_at);
    if (bytes.has_value()) return Value::Bytes(arena.Copy(*bytes));
    return BadFormat("Invalid byte formatted string", text,
                     "illegal base64 data at input byte " + std::to_string(error_at), arena);
  }
  return Value::String(text);
}

// Returns a scalar as its schema's type says.
Value ScalarView(const runtime::Value& data, const Schema& schema, Arena& arena) {
  switch (schema.type) {
    case SchemaType::kBoolean:
      if (data.type() == DataType::kBool) return Value::Bool(data.AsBool());
      return Expected("bool", data, arena);
    case SchemaType::kInteger:
      if (data.type() == DataType::kInt) return Value::Int(data.AsInt());
      return Expected("int", data, arena);
    case SchemaType::kNumber:
      if (data.is_number()) return Value::Double(data.AsDouble());
      return Expected("float", data, arena);
    case SchemaType::kIntOrString:
      if (data.is_string()) return Value::String(data.AsString());
      if (data.type() == DataType::kInt) return Value::Int(data.AsInt());
      return Value::Error(
          "invalid data, expected XIntOrString value to be either a string or integer");
    case SchemaType::kBytes:
      if (data.type() == DataType::kBytes) return Value::Bytes(data.AsString());
      [[fallthrough]];
    default:
      if (!data.is_string()) return Expected("string", data, arena);
      if (schema.type == SchemaType::kBytes) return TextView(data.AsString(), "byte", arena);
      return TextView(data.AsString(), schema.constraints().format(), arena);
  }
}

}  // namespace

constexpr OpaqueKind kUnknownPreserved = {.type = &kUnknownType, .equal = SameData};

void DataViews::SetOther(Value& place, const runtime::Value& data, Arena& arena) {
  place = Plain(data, arena);
}

Value DataViews::WithoutSchema(const Value& container) {
  Value made = container;
  made.extra_.schema = nullptr;
  return made;
}

Value Value::FromData(const runtime::Value& data, const Schema* schema, Arena& arena) {
  if (schema == nullptr) return Plain(data, arena);
  if (data.is_null()) {
    if (schema->nullable) return {};
    return Error("invalid data, got null for schema with nullable=false");
  }
  switch (schema->type) {
    case SchemaType::kAny:
    case SchemaType::kRaw:
      return Opaque(kUnknownPreserved, &data);
    case SchemaType::kStruct:
    case SchemaType::kMap:
      if (data.is_map()) return DataViews::Map(data, schema);
      return Error("invalid data, expected a map for the provided schema with type=object");
    case SchemaType::kList:
      if (data.is_list()) return DataViews::List(data, schema);
      return Error("invalid data, expected an array for the provided schema with type=array");
    default:
      return ScalarView(data, *schema, arena);
  }
}

Value Value::DataItem(std::size_t index, Arena& arena) const {
  const Schema* const schema = extra_.schema;
  return FromData(payload_.data_items[index], schema == nullptr ? nullptr : schema->items().get(),
                  arena);
}

const Schema* SchemaOfMember(const Schema& schema, std::string_view property) {
  if (schema.type == SchemaType::kMap) {
    const Schema* const items = schema.items().get();
    // additionalProperties: true declares nothing.
    const bool declared =
        items != nullptr && (items->type != SchemaType::kAny || items->preserve_unknown_fields);
    return declared ? items : nullptr;
  }
  const runtime::Field* const field = schema.FindField(property);
  return field == nullptr ? nullptr : field->schema.get();
}

std::optional<Value> FindProperty(const Value& map, std::string_view property, Arena& arena) {
  const runtime::Value* const found = arena.FindMember(map.data_members(), property);
  if (found == nullptr) return std::nullopt;
  const Schema* const schema = map.schema();
  if (schema == nullptr) return Value::FromData(*found, nullptr, arena);
  if (found->is_null() && IsStructView(map)) return std::nullopt;
  const Schema* const declared = SchemaOfMember(*schema, property);
  if (declared == nullptr) return std::nullopt;
  return Value::FromData(*found, declared, arena);
}

}  // namespace apiserver::v0::cel
