#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "apiserver/codec/codec.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/codec/yaml.h"
#include "codec/protobuf_message.h"
#include "codec/text.h"

// The encodings of a Go server, byte for byte: tests/testdata/api-v1.35/README.md.
namespace apiserver::inline v0::codec {
namespace {

using runtime::Arena;
using runtime::Value;

std::string ReadGolden(const std::string& kind, const std::string& extension) {
  std::ifstream file(std::string(APISERVER_TESTDATA) + "/api-v1.35/core.v1." + kind + extension,
                     std::ios::binary);
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

runtime::SchemaPtr ConfigMapSchema() {
  return runtime::StructBuilder("io.k8s.api.core.v1.ConfigMap")
      .Field("metadata", runtime::ObjectMetaSchema(), {.proto_number = 1})
      .Field("immutable", runtime::BooleanSchema(),
             {.presence = runtime::Field::Presence::kPointer, .proto_number = 4})
      .Field("data", runtime::MapOf(runtime::StringSchema()), {.proto_number = 2})
      .Field("binaryData", runtime::MapOf(runtime::BytesSchema()), {.proto_number = 3})
      .Build();
}

runtime::KindPtr ConfigMapKind() {
  runtime::KindOptions options;
  options.kind = "ConfigMap";
  options.plural = "configmaps";
  options.versions = {{.version = "v1", .schema = ConfigMapSchema()}};
  return runtime::Kind::New(std::move(options)).value();
}

const char* const kAll[] = {"Status",      "DeleteOptions", "CreateOptions", "GetOptions",
                            "ListOptions", "PatchOptions",  "UpdateOptions", "ConfigMap"};

TEST_CASE("codec: published JSON and YAML are written as a Go server writes them", "[codec]") {
  for (const std::string kind : kAll) {
    INFO(kind);
    const std::string json = ReadGolden(kind, ".json");
    const std::string yaml = ReadGolden(kind, ".yaml");
    Arena arena;
    const Result<Value> from_json = ParseJson(json, arena);
    const Result<Value> from_yaml = ParseYaml(yaml, arena);
    REQUIRE(from_json.ok());
    REQUIRE(from_yaml.ok());
    CHECK(*from_json == *from_yaml);
    std::string json_again;
    std::string yaml_again;
    AppendPrettyJson(*from_json, json_again);
    AppendYaml(*from_json, yaml_again);
    CHECK(json_again == json);
    CHECK(yaml_again == yaml);
  }
}

TEST_CASE("codec: published meta/v1 protobuf is read and written byte for byte", "[codec]") {
  for (const std::string kind : kAll) {
    INFO(kind);
    const runtime::SchemaPtr schema =
        kind == "ConfigMap" ? ConfigMapSchema() : MetaMessageSchema(kind);
    REQUIRE(schema != nullptr);
    const std::string golden = ReadGolden(kind, ".pb");
    const std::string json = ReadGolden(kind, ".json");
    Arena arena;
    Value content = ParseJson(json, arena).value();
    content = runtime::Without(runtime::Without(content, "kind", arena), "apiVersion", arena);

    std::string message;
    REQUIRE(AppendMessage(content, *schema, message).ok());
    const Result<ProtobufEnvelope> envelope = OpenProtobufEnvelope(golden);
    REQUIRE(envelope.ok());
    const Result<Value> decoded = DecodeMessage(envelope->raw, *schema, arena);

    CHECK(Envelope("v1", kind, message) == golden);
    CHECK(envelope->kind == kind);
    CHECK(envelope->api_version == "v1");
    REQUIRE(decoded.ok());
    CHECK(testing::Json(*decoded) == testing::Json(content));
  }
}

TEST_CASE("codec: a published watch event is read and written byte for byte", "[codec]") {
  const std::string golden = ReadGolden("WatchEvent", ".pb");
  const runtime::SchemaPtr schema = MetaMessageSchema("WatchEvent");
  Arena arena;

  const ProtobufEnvelope envelope = OpenProtobufEnvelope(golden).value();
  const Value event = DecodeMessage(envelope.raw, *schema, arena).value();
  std::string message;
  REQUIRE(AppendMessage(event, *schema, message).ok());

  CHECK(event["type"].AsString() == "typeValue");
  CHECK(event["object"].type() == Value::Type::kRaw);
  CHECK(Envelope("", "", message) == golden);
}

TEST_CASE("codec: a published object passes through decoding, storage and each encoding",
          "[codec]") {
  const runtime::KindPtr kind = ConfigMapKind();
  const auto json = std::make_shared<const std::string>(ReadGolden("ConfigMap", ".json"));
  const auto yaml = std::make_shared<const std::string>(ReadGolden("ConfigMap", ".yaml"));
  const auto protobuf = std::make_shared<const std::string>(ReadGolden("ConfigMap", ".pb"));
  for (const auto& [type, body] : {std::pair{MediaType::kJson, json},
                                   {MediaType::kYaml, yaml},
                                   {MediaType::kProtobuf, protobuf}}) {
    INFO(MediaTypeName(type));
    Result<DecodedObject> decoded = DecodeObject(type, body, {.kind = kind, .version = "v1"});
    INFO(decoded.status().ToString());
    REQUIRE(decoded.ok());
    CHECK(decoded->strict_errors.empty());
    const runtime::ObjectPtr object = std::move(decoded->object);

    CHECK(EncodeProtobuf(Context::Background(), *object, "v1").value() == *protobuf);
    const runtime::EncodingPtr encoding =
        EncodingOf(Context::Background(), *object, "v1", runtime::Format::kJson).value();
    CHECK(IndentJson(std::string(kind->JsonPrefix("v1")) + encoding->ToString()) == *json);
  }
}

}  // namespace
}  // namespace apiserver::inline v0::codec
