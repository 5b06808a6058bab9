#include "codec/json_schema_message.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "apiserver/codec/json.h"
#include "codec/protobuf_wire.h"

namespace apiserver::inline v0::codec {
namespace {

using runtime::Value;

// Returns what a schema's message is read as: its JSON, or the error.
std::string SchemaOfMessage(const std::string& message) {
  runtime::Arena arena;
  const Result<Value> schema =
      ReadJsonSchema(message, arena, codec::DecodedBytesMax(message.size()));
  if (!schema.ok()) return std::string(schema.status().message());
  std::string json;
  AppendJson(*schema, json);
  return json;
}

std::string FieldOf(int number, const std::string& bytes) {
  std::string out;
  wire::PutBytes(number, bytes, out);
  return out;
}

// Numbers of JSONSchemaProps.
constexpr int kTypeNumber = 5;
constexpr int kDefaultNumber = 8;
constexpr int kMaximumNumber = 9;
constexpr int kItemsNumber = 24;
constexpr int kNotNumber = 28;
constexpr int kPropertiesNumber = 29;
constexpr int kAdditionalNumber = 30;
constexpr int kDependenciesNumber = 32;

TEST_CASE("codec: a schema's message is read as gogo reads it") {
  const std::string text = FieldOf(kTypeNumber, "string");
  const std::string number = FieldOf(kTypeNumber, "number");
  const std::string entry = FieldOf(kPropertiesNumber, FieldOf(1, "a") + FieldOf(2, text));
  const std::pair<std::string, std::string> rows[] = {
      {"", "{}"},
      // Fields in any order; the last of a scalar counts, messages are merged, unknown ones
      // skipped.
      {FieldOf(kNotNumber, text) + number + text + FieldOf(99, "x") + FieldOf(kNotNumber, number),
       R"({"type":"string","not":{"type":"number"}})"},
      {entry + FieldOf(kPropertiesNumber, FieldOf(2, number)) +
           FieldOf(kPropertiesNumber, FieldOf(1, "a") + FieldOf(2, number)),
       R"({"properties":{"":{"type":"number"},"a":{"type":"number"}}})"},
      {FieldOf(kDefaultNumber, FieldOf(1, R"({"a": [1 ]})")), R"({"default":{"a":[1]}})"},
      {FieldOf(kDefaultNumber, FieldOf(1, "null")) + FieldOf(kDefaultNumber, ""), "{}"},
      {FieldOf(kItemsNumber, FieldOf(1, text)), R"({"items":{"type":"string"}})"},
      {FieldOf(kItemsNumber, FieldOf(1, text) + FieldOf(2, number)),
       R"({"items":[{"type":"number"}]})"},
      {FieldOf(kAdditionalNumber, ""), R"({"additionalProperties":false})"},
      {FieldOf(kAdditionalNumber, FieldOf(2, text)),
       R"({"additionalProperties":{"type":"string"}})"},
      {FieldOf(kDependenciesNumber, FieldOf(1, "a") + FieldOf(2, FieldOf(2, "b"))),
       R"({"dependencies":{"a":["b"]}})"},
  };
  for (const auto& [message, json] : rows) CHECK(SchemaOfMessage(message) == json);
}

TEST_CASE("codec: a schema's message that is malformed is refused in gogo's words") {
  std::string infinite;
  wire::PutTag(kMaximumNumber, wire::Type::kFixed64, infinite);
  wire::PutFixed64(0x7FF0000000000000, infinite);
  std::string flag;
  wire::PutInt(kTypeNumber, 1, flag);
  std::string allows;
  wire::PutBytes(1, "x", allows);
  const std::pair<std::string, std::string> rows[] = {
      {"\x0A", "unexpected EOF"},
      {flag, "proto: wrong wireType = 0 for field Type"},
      {FieldOf(kAdditionalNumber, allows), "proto: wrong wireType = 2 for field Allows"},
      {FieldOf(kNotNumber, "\x0A\x05x"), "unexpected EOF"},
      {infinite, "json: unsupported value: +Inf"},
      {FieldOf(kDefaultNumber, FieldOf(1, "{")), "unexpected end of JSON input"},
  };
  for (const auto& [message, error] : rows) CHECK(SchemaOfMessage(message) == error);
}

TEST_CASE("codec: messages of schemas are read and written however deep they are") {
  std::string message;
  for (int depth = 0; depth < 9000; ++depth) message = FieldOf(kNotNumber, message);
  runtime::Arena arena;
  const Value schema = ReadJsonSchema(message, arena, 1 << 24).value();
  const std::string written = WriteJsonSchema(schema);
  CHECK(ReadJsonSchema(written, arena, 1 << 28).value() == schema);
  for (int depth = 0; depth < 2000; ++depth) message = FieldOf(kNotNumber, message);
  CHECK(SchemaOfMessage(message) == "exceeded max depth");
}

TEST_CASE("codec: a small message does not become much content") {
  // An empty schema takes three bytes in a message, a value of 16 and its place to wait.
  std::string message;
  for (int i = 0; i < 100000; ++i) message += FieldOf(25, "");
  runtime::Arena arena;
  const Result<Value> read = ReadJsonSchema(message, arena, 1 << 16);
  CHECK(read.status().message() == "the message takes too much memory for its length");
}

}  // namespace
}  // namespace apiserver::inline v0::codec
