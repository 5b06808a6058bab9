// CustomResourceDefinitions over HTTP in protobuf, as generated clients of Go send and read them.
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "apiextensions/definitions.h"
#include "apiextensions/fixture.h"
#include "apiserver/apiextensions/definition.h"
#include "apiserver/codec/codec.h"
#include "apiserver/codec/protobuf.h"
#include "codec/protobuf_wire.h"
#include "contains.h"

namespace {

using namespace apiserver;
using namespace apiserver::testing;

constexpr char kProtobuf[] = "application/vnd.kubernetes.protobuf";
const http::Headers kWantsProtobuf = {{"Accept", kProtobuf}};
const std::string kFooPath = std::string(kDefinitions) + "/foos.example.com";

std::string FooMessage() {
  const auto definition = apiextensions_test::DefinitionOf(FooDefinition());
  return codec::EncodeProtobuf(Context::Background(), *definition, "v1").value();
}

std::unique_ptr<runtime::Object> Received(const std::string& body) {
  auto decoded =
      codec::DecodeObject(codec::MediaType::kProtobuf, std::make_shared<const std::string>(body),
                          {.kind = apiextensions::DefinitionKind(), .version = "v1"});
  INFO(decoded.status().ToString());
  REQUIRE(decoded.ok());
  return std::move(decoded->object);
}

TEST_CASE("apiextensions: a definition is created, read and replaced in protobuf") {
  const CustomServer server;
  const http::Headers both = {{"Accept", kProtobuf}, {"Content-Type", kProtobuf}};
  const Answer created = server.Call("POST", kDefinitions, FooMessage(), both);
  REQUIRE(created.code == 201);
  CHECK(created.headers.Get("Content-Type") == kProtobuf);
  CHECK((*Received(created.body))["spec"]["names"]["plural"].AsString() == "foos");
  REQUIRE(Eventually([&] { return server.IsEstablished("foos.example.com"); }));
  CHECK(server.Call("POST", kFoos, Foo("a")).code == 201);

  const Answer got = server.Call("GET", kFooPath, "", kWantsProtobuf);
  const auto definition = Received(got.body);
  CHECK(apiextensions_test::JsonOf(definition->root()["spec"]) ==
        apiextensions_test::JsonOf(server.Get(kFooPath)["spec"]));
  definition->Edit("metadata", "labels", "a") = "b";
  const std::string next = codec::EncodeProtobuf(Context::Background(), *definition, "v1").value();
  CHECK(server.Call("PUT", kFooPath, next, both).code == 200);
  CHECK(server.Get(kFooPath)["metadata"]["labels"]["a"].AsString() == "b");
}

TEST_CASE("apiextensions: definitions are listed and watched in protobuf") {
  const CustomServer server;
  server.Define(FooDefinition());
  const Answer list = server.Call("GET", kDefinitions, "", kWantsProtobuf);
  const auto envelope = codec::OpenProtobufEnvelope(list.body).value();
  CHECK(envelope.kind == "CustomResourceDefinitionList");
  CHECK(envelope.api_version == "apiextensions.k8s.io/v1");
  std::size_t items = 0;
  for (codec::wire::Reader reader(envelope.raw); !reader.done();) {
    items += reader.Next().value().number == 2 ? 1 : 0;
  }
  CHECK(items == 1);

  Lines watch(*server.server, std::string(kDefinitions) + "?watch=true",
              {{"Accept", std::string(kProtobuf) + ";stream=watch"}});
  CHECK(watch.head().headers.Get("Content-Type") == std::string(kProtobuf) + ";stream=watch");
  CHECK(watch.NextBytes().find("ADDED") != std::string::npos);
}

TEST_CASE("apiextensions: a definition in protobuf is refused in the words of one in JSON") {
  const CustomServer server;
  auto definition = apiextensions_test::DefinitionOf(FooDefinition());
  definition->Edit("metadata", "name") = "other.example.com";
  const std::string body = codec::EncodeProtobuf(Context::Background(), *definition, "v1").value();
  const Answer refused = server.Call("POST", kDefinitions, body, {{"Content-Type", kProtobuf}});
  CHECK(refused.code == 422);
  CHECK(Contains(refused.message(), "must be spec.names.plural"));
  const Answer cut = server.Call("POST", kDefinitions, body.substr(0, body.size() / 2),
                                 {{"Content-Type", kProtobuf}});
  CHECK(cut.code == 400);
  CHECK(Contains(cut.message(), "unexpected EOF"));
}

}  // namespace
