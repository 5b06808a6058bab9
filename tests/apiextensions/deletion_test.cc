// The deletion of definitions with their objects. Go: finalization_test.go.
#include <catch2/catch.hpp>

#include <string>

#include "apiextensions/fixture.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Answer;
using testing::Contains;
using testing::CustomServer;
using testing::Eventually;
using testing::Foo;
using testing::FooDefinition;
using testing::kDefinitions;
using testing::kFoos;

namespace {

const std::string kTheDefinition = std::string(kDefinitions) + "/foos.example.com";

// A foo that stays until its finalizer goes.
std::string HeldFoo(const std::string& name) {
  return R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":")" + name +
         R"(","finalizers":["example.com/hold"]},"spec":{}})";
}

// Deletes the definition while an object holds it.
struct Held {
  Held() {
    server.Define(FooDefinition());
    REQUIRE(server.Call("POST", kFoos, HeldFoo("held")).code == 201);
    REQUIRE(server.Call("POST", kFoos, Foo("free")).code == 201);
    deleted = server.Call("DELETE", kTheDefinition).body;
    REQUIRE(Eventually([&] { return server.Get(std::string(kFoos) + "/free").code == 404; }));
  }
  void Release() const {
    REQUIRE(
        server.Patch(std::string(kFoos) + "/held", R"({"metadata":{"finalizers":null}})").code ==
        200);
  }

  CustomServer server;
  std::string deleted;
};

}  // namespace

TEST_CASE("apiextensions: the objects of a definition go with it", "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  for (const std::string space : {"ns-a", "ns-b"}) {
    REQUIRE(server.Call("POST", "/apis/example.com/v1/namespaces/" + space + "/foos", Foo("one"))
                .code == 201);
  }
  testing::Lines watch(*server.server, "/apis/example.com/v1/foos?watch=1");
  CHECK(Contains(watch.Next(), "ADDED"));
  CHECK(Contains(watch.Next(), "ADDED"));
  CHECK(server.Call("DELETE", kTheDefinition).code == 200);
  CHECK(Eventually([&] { return server.Get(kTheDefinition).code == 404; }));
  CHECK(Eventually([&] { return server.Get(kFoos).code == 404; }));
  // Watches see the objects go, and end then.
  CHECK(Contains(watch.Next(), "DELETED"));
  CHECK(Contains(watch.Next(), "DELETED"));
  CHECK(watch.Next().empty());
  // A definition of the same name begins without objects.
  server.Define(FooDefinition());
  CHECK(server.Get("/apis/example.com/v1/foos")["items"].size() == 0);
}

TEST_CASE("apiextensions: the first delete sets finalizer and condition", "[apiextensions]") {
  Held held;
  CHECK(Contains(held.deleted, R"("customresourcecleanup.apiextensions.k8s.io")"));
  CHECK(Contains(held.deleted, R"("deletionTimestamp")"));
  CHECK(Contains(held.deleted,
                 R"("message":"CustomResourceDefinition marked for deletion; CustomResource )"
                 R"(deletion will begin soon")"));
  CHECK(Contains(held.deleted, R"("reason":"InstanceDeletionPending")"));
  CHECK(Eventually([&] {
    return held.server.Condition("foos.example.com", "Terminating") ==
           "True/InstanceDeletionInProgress/CustomResource deletion is in progress";
  }));
  held.Release();
  CHECK(Eventually([&] { return held.server.Get(kTheDefinition).code == 404; }));
}

// TestApplyCRDuringCRDFinalization
TEST_CASE("apiextensions: under a definition that goes objects are changed but not created",
          "[apiextensions]") {
  Held held;
  const std::string refused =
      R"(foos.example.com "new" is forbidden: create not allowed while custom resource )"
      "definition is terminating";
  const Answer created = held.server.Call("POST", kFoos, Foo("new"));
  CHECK(created.code == 403);
  CHECK(created.message() == refused);
  const Answer applied = held.server.Apply(std::string(kFoos) + "/new", Foo("new"));
  CHECK(applied.code == 403);
  CHECK(applied.message() == refused);
  CHECK(held.server.Get(kFoos)["items"].size() == 1);
  CHECK(held.server.Patch(std::string(kFoos) + "/held", R"({"spec":{"color":"grey"}})").code ==
        200);
  held.Release();
  CHECK(Eventually([&] { return held.server.Get(kTheDefinition).code == 404; }));
}

TEST_CASE("apiextensions: a delete that comes again changes nothing", "[apiextensions]") {
  Held held;
  const Answer again = held.server.Call("DELETE", kTheDefinition);
  CHECK(again.code == 200);
  CHECK(Contains(again.body, "customresourcecleanup.apiextensions.k8s.io"));
  held.Release();
  CHECK(Eventually([&] { return held.server.Get(kTheDefinition).code == 404; }));
}

TEST_CASE("apiextensions: a definition that was never established goes at once",
          "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  std::string other = FooDefinition();
  for (std::size_t at; (at = other.find("foos")) != std::string::npos;)
    other.replace(at, 4, "bars");
  REQUIRE(server.Call("POST", kDefinitions, other).code == 201);
  REQUIRE(Eventually(
      [&] { return Contains(server.Condition("bars.example.com", "NamesAccepted"), "Conflict"); }));
  CHECK(server.Call("DELETE", std::string(kDefinitions) + "/bars.example.com").code == 200);
  CHECK(Eventually(
      [&] { return server.Get(std::string(kDefinitions) + "/bars.example.com").code == 404; }));
  CHECK(server.IsEstablished("foos.example.com"));
}

TEST_CASE("apiextensions: a deleted collection of definitions deletes their objects",
          "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  REQUIRE(server.Call("POST", kFoos, Foo("one")).code == 201);
  CHECK(server.Call("DELETE", kDefinitions).code == 200);
  CHECK(Eventually([&] { return server.Get(kTheDefinition).code == 404; }));
  server.Define(FooDefinition());
  CHECK(server.Get(kFoos)["items"].size() == 0);
}

TEST_CASE("apiextensions: a deletion that was interrupted goes on after a restart",
          "[apiextensions]") {
  const auto engine = storage::memory::NewEngine();
  const auto options = [&engine] {
    testing::TestServerOptions made;
    made.engine = engine.get();
    return made;
  };
  {
    CustomServer server(options());
    server.Define(FooDefinition());
    REQUIRE(server.Call("POST", kFoos, HeldFoo("held")).code == 201);
    REQUIRE(server.Call("DELETE", kTheDefinition).code == 200);
  }
  CustomServer server(options());
  REQUIRE(server.Patch(std::string(kFoos) + "/held", R"({"metadata":{"finalizers":null}})").code ==
          200);
  CHECK(Eventually([&] { return server.Get(kTheDefinition).code == 404; }));
}
