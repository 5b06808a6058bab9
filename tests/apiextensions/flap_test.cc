// Definitions that change, come and go as fast as a client can write them.
#include <catch2/catch.hpp>

#include <string>

#include "apiextensions/fixture.h"

namespace {

using namespace apiserver;  // NOLINT: a test.
using testing::Answer;
using testing::Contains;
using testing::CustomServer;
using testing::Eventually;
using testing::Foo;
using testing::FooDefinition;
using testing::kDefinitions;
using testing::kFoos;

const std::string kFlapping = std::string(kDefinitions) + "/foos.example.com";
const std::string kFlappingFoo = std::string(kFoos) + "/one";
constexpr int kFlaps = 200;

}  // namespace

TEST_CASE("apiextensions: a definition that changes all the time serves on", "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  REQUIRE(server.Call("POST", kFoos, Foo("one")).code == 201);
  for (int i = 0; i < kFlaps; ++i) {
    const std::string number = std::to_string(i);
    const Answer changed = server.Call(
        "PATCH", kFlapping,
        R"([{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/description","value":")" +
            number + "\"}]",
        {{"Content-Type", "application/json-patch+json"}});
    REQUIRE(changed.code == 200);
    // Each change is served by an entry of its own, which the next request makes.
    const Answer written =
        server.Patch(kFlappingFoo, R"({"metadata":{"labels":{"n":")" + number + R"("}}})");
    INFO(written.body);
    REQUIRE(written.code == 200);
  }
  const Answer read = server.Get(kFlappingFoo);
  CHECK(read["metadata"]["labels"]["n"].AsString() == std::to_string(kFlaps - 1));
  CHECK(read["spec"]["color"].AsString() == "red");
  testing::Lines watch(*server.server, std::string(kFoos) + "?watch=1");
  CHECK(Contains(watch.Next(), R"("n":")" + std::to_string(kFlaps - 1) + "\""));
}

TEST_CASE("apiextensions: a version that is served and not served in turn loses nothing",
          "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  REQUIRE(server.Call("POST", kFoos, Foo("one")).code == 201);
  for (int i = 0; i < kFlaps; ++i) {
    const bool served = i % 2 == 1;
    const Answer changed = server.Call("PATCH", kFlapping,
                                       std::string(R"([{"op":"replace",
"path":"/spec/versions/0/served","value":)") +
                                           (served ? "true" : "false") + "}]",
                                       {{"Content-Type", "application/json-patch+json"}});
    REQUIRE(changed.code == 200);
    // It is served as it was written.
    REQUIRE(server.Get(kFlappingFoo).code == (served ? 200 : 404));
  }
  CHECK(server.Get(kFoos)["items"].size() == 1);
}

TEST_CASE("apiextensions: a definition that comes and goes all the time comes in the end",
          "[apiextensions]") {
  CustomServer server;
  for (int i = 0; i < kFlaps / 4; ++i) {
    const Answer created = server.Call("POST", kDefinitions, FooDefinition());
    INFO(created.body);
    REQUIRE(created.code == 201);
    const Answer deleted = server.Call("DELETE", kFlapping);
    REQUIRE(deleted.code == 200);
    REQUIRE(Eventually([&] { return server.Get(kFlapping).code == 404; }));
  }
  server.Define(FooDefinition());
  CHECK(server.Call("POST", kFoos, Foo("one")).code == 201);
  CHECK(server.Get(kFoos)["items"].size() == 1);
}
