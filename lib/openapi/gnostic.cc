#include "openapi/gnostic.h"

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

#include "apiserver/codec/json.h"

namespace apiserver::v0::openapi {

namespace {

using runtime::Member;
using runtime::Value;

void AppendVarint(std::uint64_t number, std::string& out) {
  while (number >= 0x80) {
    out += static_cast<char>(number | 0x80);
    number >>= 7;
  }
  out += static_cast<char>(number);
}

void AppendBytes(int field, std::string_view bytes, std::string& out) {
  AppendVarint(static_cast<std::uint64_t>(field) << 3 | 2, out);
  AppendVarint(bytes.size(), out);
  out += bytes;
}

void AppendNumber(int field, std::uint64_t number, std::string& out) {
  AppendVarint(static_cast<std::uint64_t>(field) << 3, out);
  AppendVarint(number, out);
}

void AppendDouble(int field, double number, std::string& out) {
  AppendVarint(static_cast<std::uint64_t>(field) << 3 | 1, out);
  const auto bits = std::bit_cast<std::uint64_t>(number);
  for (int i = 0; i < 8; ++i) out += static_cast<char>(bits >> (8 * i));
}

// Encodes Any{yaml}: JSON is YAML.
std::string AnyOf(Value value) {
  std::string yaml;
  codec::AppendJson(value, yaml);
  yaml += '\n';
  std::string any;
  AppendBytes(2, yaml, any);
  return any;
}

// Encodes NamedX{name = 1, value = 2}.
std::string Named(std::string_view name, const std::string& value) {
  std::string named;
  AppendBytes(1, name, named);
  AppendBytes(2, value, named);
  return named;
}

// A message made from a JSON value; null for one of the scalar types below.
using Encode = std::string (*)(Value value);

// The encoding of one member of a JSON object.
struct Row {
  enum class Type { kText, kTexts, kBool, kInt, kDouble, kAny, kAnys, kMessage, kMessages, kNamed };
  std::string_view name;
  int field;
  Type type;
  // Encodes kMessage and kMessages; for kNamed each member, which a NamedX message carries.
  Encode encode = nullptr;
};

void AppendMember(const Row& row, Value value, std::string& out) {
  switch (row.type) {
    case Row::Type::kText:
      return AppendBytes(row.field, value.AsString(), out);
    case Row::Type::kTexts:
      for (const Value& item : value.items()) AppendBytes(row.field, item.AsString(), out);
      return;
    case Row::Type::kBool:
      return AppendNumber(row.field, value.AsBool() ? 1 : 0, out);
    case Row::Type::kInt:
      return AppendNumber(row.field, static_cast<std::uint64_t>(value.AsInt()), out);
    case Row::Type::kDouble:
      return AppendDouble(row.field, value.AsDouble(), out);
    case Row::Type::kAny:
      return AppendBytes(row.field, AnyOf(value), out);
    case Row::Type::kAnys:
      for (const Value& item : value.items()) AppendBytes(row.field, AnyOf(item), out);
      return;
    case Row::Type::kMessage:
      return AppendBytes(row.field, row.encode(value), out);
    case Row::Type::kMessages:
      for (const Value& item : value.items()) AppendBytes(row.field, row.encode(item), out);
      return;
    case Row::Type::kNamed: {
      std::string message;
      for (const Member& member : value.members()) {
        AppendBytes(1, Named(member.key, row.encode(member.value)), message);
      }
      return AppendBytes(row.field, message, out);
    }
  }
}

// Encodes a message whose members are `rows`; "x-" members go to `extension`.
std::string Message(Value value, std::span<const Row> rows, int extension) {
  std::string out;
  for (const Member& member : value.members()) {
    if (member.key.starts_with("x-")) {
      if (extension > 0) AppendBytes(extension, Named(member.key, AnyOf(member.value)), out);
      continue;
    }
    for (const Row& row : rows) {
      if (row.name == member.key) AppendMember(row, member.value, out);
    }
  }
  return out;
}

// Encodes a message with the one field `field`, by which a oneof is wrapped.
std::string Wrapped(int field, const std::string& message) {
  std::string out;
  AppendBytes(field, message, out);
  return out;
}

std::string SchemaOf(Value value);

std::string TypeOf(Value value) {
  std::string out;
  if (value.is_string()) AppendBytes(1, value.AsString(), out);
  for (const Value& item : value.items()) AppendBytes(1, item.AsString(), out);
  return out;
}

std::string ItemsOf(Value value) { return Wrapped(1, SchemaOf(value)); }

std::string AdditionalPropertiesOf(Value value) {
  if (value.is_map()) return Wrapped(1, SchemaOf(value));
  std::string out;
  AppendNumber(2, value.AsBool() ? 1 : 0, out);
  return out;
}

constexpr Row kSchemaRows[] = {
    {"$ref", 1, Row::Type::kText},
    {"format", 2, Row::Type::kText},
    {"title", 3, Row::Type::kText},
    {"description", 4, Row::Type::kText},
    {"default", 5, Row::Type::kAny},
    {"multipleOf", 6, Row::Type::kDouble},
    {"maximum", 7, Row::Type::kDouble},
    {"exclusiveMaximum", 8, Row::Type::kBool},
    {"minimum", 9, Row::Type::kDouble},
    {"exclusiveMinimum", 10, Row::Type::kBool},
    {"maxLength", 11, Row::Type::kInt},
    {"minLength", 12, Row::Type::kInt},
    {"pattern", 13, Row::Type::kText},
    {"maxItems", 14, Row::Type::kInt},
    {"minItems", 15, Row::Type::kInt},
    {"uniqueItems", 16, Row::Type::kBool},
    {"maxProperties", 17, Row::Type::kInt},
    {"minProperties", 18, Row::Type::kInt},
    {"required", 19, Row::Type::kTexts},
    {"enum", 20, Row::Type::kAnys},
    {"additionalProperties", 21, Row::Type::kMessage, &AdditionalPropertiesOf},
    {"type", 22, Row::Type::kMessage, &TypeOf},
    {"items", 23, Row::Type::kMessage, &ItemsOf},
    {"allOf", 24, Row::Type::kMessages, &SchemaOf},
    {"properties", 25, Row::Type::kNamed, &SchemaOf},
};

std::string SchemaOf(Value value) { return Message(value, kSchemaRows, 31); }

constexpr Row kBodyRows[] = {
    {"description", 1, Row::Type::kText},
    {"name", 2, Row::Type::kText},
    {"in", 3, Row::Type::kText},
    {"required", 4, Row::Type::kBool},
    {"schema", 5, Row::Type::kMessage, &SchemaOf},
};
constexpr Row kQueryRows[] = {
    {"required", 1, Row::Type::kBool},     {"in", 2, Row::Type::kText},
    {"description", 3, Row::Type::kText},  {"name", 4, Row::Type::kText},
    {"type", 6, Row::Type::kText},         {"format", 7, Row::Type::kText},
    {"uniqueItems", 20, Row::Type::kBool},
};
constexpr Row kPathRows[] = {
    {"required", 1, Row::Type::kBool},     {"in", 2, Row::Type::kText},
    {"description", 3, Row::Type::kText},  {"name", 4, Row::Type::kText},
    {"type", 5, Row::Type::kText},         {"format", 6, Row::Type::kText},
    {"uniqueItems", 19, Row::Type::kBool},
};

// Encodes Parameter{body | non-body{query | path}}.
std::string SharedParameterOf(Value value) {
  const std::string_view in = value["in"].AsString();
  if (in == "body") return Wrapped(1, Message(value, kBodyRows, 6));
  const std::string non_body = in == "path" ? Wrapped(4, Message(value, kPathRows, 22))
                                            : Wrapped(3, Message(value, kQueryRows, 23));
  return Wrapped(2, non_body);
}

// Encodes ParametersItem{parameter | json_reference}.
std::string ParameterOf(Value value) {
  if (const Value ref = value["$ref"]; ref.is_string()) {
    std::string reference;
    AppendBytes(1, ref.AsString(), reference);
    return Wrapped(2, reference);
  }
  return Wrapped(1, SharedParameterOf(value));
}

std::string SchemaItemOf(Value value) { return Wrapped(1, SchemaOf(value)); }

constexpr Row kResponseRows[] = {
    {"description", 1, Row::Type::kText},
    {"schema", 2, Row::Type::kMessage, &SchemaItemOf},
};

std::string ResponsesOf(Value value) {
  std::string out;
  for (const Member& member : value.members()) {
    AppendBytes(1, Named(member.key, Wrapped(1, Message(member.value, kResponseRows, 5))), out);
  }
  return out;
}

constexpr Row kOperationRows[] = {
    {"tags", 1, Row::Type::kTexts},
    {"summary", 2, Row::Type::kText},
    {"description", 3, Row::Type::kText},
    {"operationId", 5, Row::Type::kText},
    {"produces", 6, Row::Type::kTexts},
    {"consumes", 7, Row::Type::kTexts},
    {"parameters", 8, Row::Type::kMessages, &ParameterOf},
    {"responses", 9, Row::Type::kMessage, &ResponsesOf},
    {"schemes", 10, Row::Type::kTexts},
    {"deprecated", 11, Row::Type::kBool},
};

std::string OperationOf(Value value) { return Message(value, kOperationRows, 13); }

constexpr Row kPathItemRows[] = {
    {"get", 2, Row::Type::kMessage, &OperationOf},
    {"put", 3, Row::Type::kMessage, &OperationOf},
    {"post", 4, Row::Type::kMessage, &OperationOf},
    {"delete", 5, Row::Type::kMessage, &OperationOf},
    {"options", 6, Row::Type::kMessage, &OperationOf},
    {"head", 7, Row::Type::kMessage, &OperationOf},
    {"patch", 8, Row::Type::kMessage, &OperationOf},
    {"parameters", 9, Row::Type::kMessages, &ParameterOf},
};

// Encodes Paths{path = 2}: unlike the other maps, its entries are not field 1.
std::string PathsMessage(Value value) {
  std::string out;
  for (const Member& member : value.members()) {
    AppendBytes(2, Named(member.key, Message(member.value, kPathItemRows, 10)), out);
  }
  return out;
}

constexpr Row kInfoRows[] = {
    {"title", 1, Row::Type::kText},
    {"version", 2, Row::Type::kText},
    {"description", 3, Row::Type::kText},
};

std::string InfoMessage(Value value) { return Message(value, kInfoRows, 7); }

constexpr Row kApiKeyRows[] = {
    {"type", 1, Row::Type::kText},
    {"name", 2, Row::Type::kText},
    {"in", 3, Row::Type::kText},
    {"description", 4, Row::Type::kText},
};

// Encodes SecurityDefinitionsItem{api_key_security = 2}: there are no other kinds here.
std::string SecurityMessage(Value value) { return Wrapped(2, Message(value, kApiKeyRows, 5)); }

constexpr Row kDocumentRows[] = {
    {"swagger", 1, Row::Type::kText},
    {"info", 2, Row::Type::kMessage, &InfoMessage},
    {"paths", 8, Row::Type::kMessage, &PathsMessage},
    {"definitions", 9, Row::Type::kNamed, &SchemaOf},
    {"parameters", 10, Row::Type::kNamed, &SharedParameterOf},
    {"securityDefinitions", 13, Row::Type::kNamed, &SecurityMessage},
};

}  // namespace

std::string GnosticV2(Value document) { return Message(document, kDocumentRows, 16); }

}  // namespace apiserver::v0::openapi
