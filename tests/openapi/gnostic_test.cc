// Documents of v2 as messages of gnostic-models' OpenAPIv2.proto, field by field.
#include "openapi/gnostic.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "apiserver/codec/json.h"

namespace gnostic_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.

std::string Encoded(const std::string& json) {
  runtime::Arena arena;
  return openapi::GnosticV2(codec::ParseJson(json, arena).value());
}

std::string Varint(std::size_t number) {
  std::string out;
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  return out + static_cast<char>(number);
}
// A field with bytes: a text or a message.
std::string Bytes(std::size_t field, std::string_view bytes) {
  return Varint(field << 3 | 2) + Varint(bytes.size()) + std::string(bytes);
}
std::string Number(std::size_t field, std::size_t number) {
  return Varint(field << 3) + Varint(number);
}
// An Any with YAML.
std::string Any(const std::string& json) { return Bytes(2, json + "\n"); }
std::string Named(std::string_view name, const std::string& value) {
  return Bytes(1, name) + Bytes(2, value);
}

// The message of one schema, within definitions.
std::string SchemaMessage(const std::string& json) {
  const std::string all = Encoded(R"({"definitions":{"A":)" + json + "}}");
  // Each of the three messages around it has its length before it.
  for (std::size_t size = 0; size <= all.size(); ++size) {
    const std::string schema = all.substr(all.size() - size);
    if (Bytes(9, Bytes(1, Named("A", schema))) == all) return schema;
  }
  return "none";
}

}  // namespace

TEST_CASE("openapi: the members of a schema in protobuf", "[openapi]") {
  struct Case {
    const char* json;
    std::string message;
  };
  const std::string double_one("\0\0\0\0\0\0\xf0\x3f", 8);
  const Case cases[] = {
      {"{}", ""},
      {R"({"$ref":"#/definitions/B"})", Bytes(1, "#/definitions/B")},
      {R"({"format":"int32","title":"T","description":"D"})",
       Bytes(2, "int32") + Bytes(3, "T") + Bytes(4, "D")},
      {R"({"default":{"a":[1]}})", Bytes(5, Any(R"({"a":[1]})"))},
      {R"({"multipleOf":1,"maximum":1,"exclusiveMaximum":true})",
       "\x31" + double_one + "\x39" + double_one + Number(8, 1)},
      {R"({"minimum":1.0,"exclusiveMinimum":false})", "\x49" + double_one + Number(10, 0)},
      {R"({"maxLength":300,"minLength":1,"pattern":"^a$"})",
       Number(11, 300) + Number(12, 1) + Bytes(13, "^a$")},
      {R"({"maxItems":2,"minItems":1,"uniqueItems":true})",
       Number(14, 2) + Number(15, 1) + Number(16, 1)},
      {R"({"maxProperties":3,"minProperties":2})", Number(17, 3) + Number(18, 2)},
      {R"({"required":["a","b"],"enum":["x",1]})",
       Bytes(19, "a") + Bytes(19, "b") + Bytes(20, Any("\"x\"")) + Bytes(20, Any("1"))},
      {R"({"additionalProperties":true})", Bytes(21, Number(2, 1))},
      {R"({"additionalProperties":{"type":"string"}})",
       Bytes(21, Bytes(1, Bytes(22, Bytes(1, "string"))))},
      {R"({"type":["string","null"]})", Bytes(22, Bytes(1, "string") + Bytes(1, "null"))},
      {R"({"items":{"$ref":"B"}})", Bytes(23, Bytes(1, Bytes(1, "B")))},
      {R"({"allOf":[{"$ref":"B"},{}]})", Bytes(24, Bytes(1, "B")) + Bytes(24, "")},
      {R"({"properties":{"p":{"format":"f"},"q":{}}})",
       Bytes(25, Bytes(1, Named("p", Bytes(2, "f"))) + Bytes(1, Named("q", "")))},
      {R"({"x-kubernetes-int-or-string":true})",
       Bytes(31, Named("x-kubernetes-int-or-string", Any("true")))},
      // Members that the message has no field for are left out.
      {R"({"nullable":true,"format":"f"})", Bytes(2, "f")}};
  for (const Case& test : cases) {
    INFO(test.json);
    CHECK(SchemaMessage(test.json) == test.message);
  }
}

TEST_CASE("openapi: the parts of a document in protobuf", "[openapi]") {
  const auto operation = [](const std::string& message) {
    return Bytes(8, Bytes(2, Named("/a", Bytes(2, message))));
  };
  struct Case {
    const char* json;
    std::string message;
  };
  const Case cases[] = {
      {R"({"swagger":"2.0","info":{"title":"T","version":"v1"}})",
       Bytes(1, "2.0") + Bytes(2, Bytes(1, "T") + Bytes(2, "v1"))},
      {R"({"paths":{"/a":{"get":{"tags":["t"],"description":"d","operationId":"o",
          "produces":["p"],"consumes":["c"],"schemes":["https"]}}}})",
       operation(Bytes(1, "t") + Bytes(3, "d") + Bytes(5, "o") + Bytes(6, "p") + Bytes(7, "c") +
                 Bytes(10, "https"))},
      {R"({"paths":{"/a":{"get":{"parameters":[{"in":"query","name":"q","type":"string",
          "uniqueItems":true}]}}}})",
       operation(Bytes(8, Bytes(1, Bytes(2, Bytes(3, Bytes(2, "query") + Bytes(4, "q") +
                                                         Bytes(6, "string") + Number(20, 1))))))},
      {R"({"paths":{"/a":{"get":{"parameters":[{"in":"path","name":"p","type":"string",
          "required":true}]}}}})",
       operation(Bytes(8, Bytes(1, Bytes(2, Bytes(4, Bytes(2, "path") + Bytes(4, "p") +
                                                         Bytes(5, "string") + Number(1, 1))))))},
      {R"({"paths":{"/a":{"get":{"parameters":[{"in":"body","name":"body","schema":{
          "$ref":"B"}}]}}}})",
       operation(Bytes(
           8, Bytes(1, Bytes(1, Bytes(3, "body") + Bytes(2, "body") + Bytes(5, Bytes(1, "B"))))))},
      {R"({"paths":{"/a":{"get":{"parameters":[{"$ref":"#/parameters/p"}]}}}})",
       operation(Bytes(8, Bytes(2, Bytes(1, "#/parameters/p"))))},
      {R"({"paths":{"/a":{"get":{"responses":{"200":{"description":"OK","schema":{
          "$ref":"B"}}}}}}})",
       operation(Bytes(
           9,
           Bytes(1, Named("200", Bytes(1, Bytes(1, "OK") + Bytes(2, Bytes(1, Bytes(1, "B"))))))))},
      {R"({"paths":{"/a":{"get":{"x-kubernetes-action":"list"}}}})",
       operation(Bytes(13, Named("x-kubernetes-action", Any("\"list\""))))},
      {R"({"parameters":{"p":{"in":"query","name":"q"}}})",
       Bytes(10, Bytes(1, Named("p", Bytes(2, Bytes(3, Bytes(2, "query") + Bytes(4, "q"))))))},
      {R"({"securityDefinitions":{"BearerToken":{"type":"apiKey","name":"authorization",
          "in":"header"}}})",
       Bytes(13,
             Bytes(1, Named("BearerToken", Bytes(2, Bytes(1, "apiKey") + Bytes(2, "authorization") +
                                                        Bytes(3, "header")))))},
      {R"({"x-mine":1})", Bytes(16, Named("x-mine", Any("1")))}};
  for (const Case& test : cases) {
    INFO(test.json);
    CHECK(Encoded(test.json) == test.message);
  }
}

// Each method has a field of its own.
TEST_CASE("openapi: the methods of a path in protobuf", "[openapi]") {
  struct Case {
    const char* method;
    std::size_t field;
  };
  for (const Case& test : {Case{"get", 2}, Case{"put", 3}, Case{"post", 4}, Case{"delete", 5},
                           Case{"options", 6}, Case{"head", 7}, Case{"patch", 8}}) {
    CHECK(Encoded(R"({"paths":{"/a":{")" + std::string(test.method) +
                  R"(":{"operationId":"o"}}}})") ==
          Bytes(8, Bytes(2, Named("/a", Bytes(test.field, Bytes(5, "o"))))));
  }
}

}  // namespace gnostic_test
