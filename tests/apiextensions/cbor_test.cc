// Custom resources in CBOR, behind its feature gate.
#include <catch2/catch.hpp>

#include <string>

#include "apiextensions/fixture.h"
#include "apiserver/codec/cbor.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Answer;
using testing::CustomServer;
using testing::Foo;
using testing::FooDefinition;
using testing::kDefinitions;
using testing::kFoos;

namespace {

constexpr char kScaled[] = R"("subresources":{"status":{},"scale":{
"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},)";

testing::TestServerOptions CborGate(bool on) {
  testing::TestServerOptions options;
  if (on) REQUIRE(options.features.Set("CBORServingAndStorage=true").ok());
  return options;
}

std::string CborBody(const std::string& json) {
  return std::string(codec::kSelfDescribedCbor) + codec::CborOfJson(json);
}

// The JSON of a body in CBOR.
std::string JsonOfCbor(const std::string& body) {
  INFO(body);
  REQUIRE(body.starts_with(codec::kSelfDescribedCbor));
  runtime::Arena arena;
  const auto value = codec::ParseCbor(body, arena);
  REQUIRE(value.ok());
  std::string json;
  codec::AppendJson(*value, json);
  return json;
}

const http::Headers kAcceptCbor{{"Accept", "application/cbor"}};
const http::Headers kSendCbor{{"Content-Type", "application/cbor"}};
const http::Headers kApplyCbor{{"Content-Type", "application/apply-patch+cbor"}};

}  // namespace

// TestCBORServingEnablement
TEST_CASE("apiextensions: custom resources and their subresources are read and written in CBOR",
          "[apiextensions]") {
  const CustomServer server(CborGate(true));
  server.Define(FooDefinition(kScaled));
  REQUIRE(server.Call("POST", kFoos, Foo("one", R"({"replicas":2})")).code == 201);
  const std::string one = std::string(kFoos) + "/one";

  for (const char* const subresource : {"", "/status", "/scale"}) {
    INFO(subresource);
    const Answer binary = server.Call("GET", one + subresource, "", kAcceptCbor);
    CHECK(binary.code == 200);
    CHECK(binary.headers.Get("Content-Type") == "application/cbor");
    const Answer text = server.Get(one + subresource);
    CHECK(JsonOfCbor(binary.body) == JsonOfCbor(CborBody(text.body)));
  }

  CHECK(server.Call("POST", kFoos, CborBody(Foo("two", R"({"replicas":0})")), kSendCbor).code ==
        201);
  const std::string scale =
      R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"one","namespace":)"
      R"("default"},"spec":{"replicas":3}})";
  CHECK(server.Call("PUT", one + "/scale", CborBody(scale), kSendCbor).code == 200);
  CHECK(server.Get(one)["spec"]["replicas"].AsInt() == 3);
}

TEST_CASE("apiextensions: CBOR of custom resources is pruned, checked and applied as JSON is",
          "[apiextensions]") {
  const CustomServer server(CborGate(true));
  server.Define(FooDefinition());

  const Answer pruned =
      server.Call("POST", kFoos, CborBody(Foo("one", R"({"color":"red","typo":1})")), kSendCbor);
  CHECK(pruned.code == 201);
  CHECK(pruned["spec"]["color"].AsString() == "red");
  CHECK(pruned["spec"]["typo"].is_null());
  const Answer strict = server.Call("POST", std::string(kFoos) + "?fieldValidation=Strict",
                                    CborBody(Foo("two", R"({"color":"red","typo":1})")), kSendCbor);
  CHECK(strict.code == 400);
  CHECK(testing::Contains(strict.message(), R"(unknown field "spec.typo")"));
  const Answer invalid =
      server.Call("POST", kFoos, CborBody(Foo("two", R"({"color":1})")), kSendCbor);
  CHECK(invalid.code == 422);
  CHECK(testing::Contains(invalid.message(), "spec.color"));

  const Answer applied = server.Call("PATCH", std::string(kFoos) + "/one?fieldManager=m&force=true",
                                     CborBody(Foo("one", R"({"color":"blue"})")), kApplyCbor);
  CHECK(applied.code == 200);
  CHECK(applied["spec"]["color"].AsString() == "blue");
}

TEST_CASE("apiextensions: without its gate CBOR of custom resources is refused",
          "[apiextensions]") {
  const CustomServer server(CborGate(false));
  server.Define(FooDefinition(kScaled));
  REQUIRE(server.Call("POST", kFoos, Foo("one")).code == 201);
  for (const char* const subresource : {"", "/status", "/scale"}) {
    INFO(subresource);
    const std::string target = std::string(kFoos) + "/one" + subresource;
    CHECK(server.Call("GET", target, "", kAcceptCbor).code == 406);
    CHECK(server.Call("PUT", target, CborBody(Foo("one")), kSendCbor).code == 415);
  }
  CHECK(server.Call("POST", kFoos, CborBody(Foo("two")), kSendCbor).code == 415);
  CHECK(server
            .Call("PATCH", std::string(kFoos) + "/one?fieldManager=m", CborBody(Foo("one")),
                  kApplyCbor)
            .code == 415);
}
