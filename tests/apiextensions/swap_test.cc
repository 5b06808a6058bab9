// Definitions that change under their clients.
#include <catch2/catch.hpp>

#include <atomic>
#include <string>

#include "apiextensions/fixture.h"
#include "apiserver/base/sync.h"

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

const std::string kFooDefinition = std::string(kDefinitions) + "/foos.example.com";

// Two versions: v1 knows a color, v2 a size; one of them is stored.
std::string TwoVersions(const std::string& stored, bool second_served = true) {
  const auto version = [&](const std::string& name, const std::string& field, bool served) {
    return R"({"name":")" + name + R"(","served":)" + (served ? "true" : "false") +
           R"(,"storage":)" + (stored == name ? "true" : "false") +
           R"(,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",
"properties":{")" +
           field + R"(":{"type":"string"},"shared":{"type":"string"}}}}}}})";
  };
  return R"([)" + version("v1", "color", true) + "," + version("v2", "size", second_served) + "]";
}

std::string TwoVersionDefinition(const std::string& stored) {
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"foos.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
"names":{"plural":"foos","kind":"Foo"},"versions":)" +
         TwoVersions(stored) + "}}";
}

constexpr char kFoosV2[] = "/apis/example.com/v2/namespaces/default/foos";

}  // namespace

// TestVersionedNamespacedScopedCRUD
TEST_CASE("apiextensions: an object is seen in each version as its schema has it",
          "[apiextensions]") {
  CustomServer server;
  server.Define(TwoVersionDefinition("v1"));
  REQUIRE(server.Call("POST", kFoos, Foo("one", R"({"color":"red","shared":"s"})")).code == 201);
  const Answer second = server.Get(std::string(kFoosV2) + "/one");
  CHECK(second["apiVersion"].AsString() == "example.com/v2");
  CHECK(second["spec"]["shared"].AsString() == "s");
  CHECK(second["spec"]["color"].is_null());
  const Answer list = server.Get(kFoosV2);
  CHECK(list["apiVersion"].AsString() == "example.com/v2");
  CHECK(list["items"].at(0)["apiVersion"].AsString() == "example.com/v2");
  // What v2 does not know, a write in v2 loses.
  REQUIRE(server.Patch(std::string(kFoosV2) + "/one", R"({"spec":{"shared":"t"}})").code == 200);
  CHECK(server.Get(std::string(kFoos) + "/one")["spec"]["color"].is_null());
}

// TestStoragedVersionInNamespacedCRDStatus
TEST_CASE("apiextensions: the stored version changes, and old objects stay readable",
          "[apiextensions]") {
  CustomServer server;
  server.Define(TwoVersionDefinition("v1"));
  REQUIRE(server.Call("POST", kFoos, Foo("one", R"({"shared":"s"})")).code == 201);
  const Answer changed =
      server.Patch(kFooDefinition, R"({"spec":{"versions":)" + TwoVersions("v2") + "}}");
  INFO(changed.body);
  REQUIRE(changed.code == 200);
  CHECK(changed["status"]["storedVersions"].size() == 2);
  CHECK(server.Get(std::string(kFoos) + "/one")["spec"]["shared"].AsString() == "s");
  CHECK(server.Get(std::string(kFoosV2) + "/one")["spec"]["shared"].AsString() == "s");
  REQUIRE(server.Call("POST", kFoos, Foo("two", R"({"shared":"t"})")).code == 201);
  CHECK(server.Get(kFoosV2)["items"].size() == 2);
}

TEST_CASE("apiextensions: a version that is served no more is not found, and ends its watches",
          "[apiextensions]") {
  CustomServer server;
  server.Define(TwoVersionDefinition("v1"));
  testing::Lines watch(*server.server, std::string(kFoosV2) + "?watch=1");
  REQUIRE(server.Get(kFoosV2).code == 200);
  REQUIRE(server.Patch(kFooDefinition, R"({"spec":{"versions":)" + TwoVersions("v1", false) + "}}")
              .code == 200);
  CHECK(server.Get(kFoosV2).code == 404);
  CHECK(server.Get(kFoos).code == 200);
  CHECK(watch.Next().empty());
}

TEST_CASE("apiextensions: a change is served when its write is answered", "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  for (int i = 0; i < 20; ++i) {
    const std::string field = "f" + std::to_string(i);
    const std::string path =
        R"([{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec)"
        R"(/properties/)" +
        field + R"(","value":{"type":"string"}}])";
    REQUIRE(
        server
            .Call("PATCH", kFooDefinition, path, {{"Content-Type", "application/json-patch+json"}})
            .code == 200);
    const Answer made =
        server.Call("POST", kFoos, Foo("o" + std::to_string(i), "{\"" + field + "\":\"x\"}"));
    CHECK(made["spec"][field].AsString() == "x");
  }
  CHECK(server.Get(kFoos)["items"].size() == 20);
}

TEST_CASE("apiextensions: no watch shows an object as the schema of before had it",
          "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  for (int i = 0; i < 10; ++i) {
    const std::string field = "f" + std::to_string(i);
    testing::Lines watch(*server.server, std::string(kFoos) + "?watch=1");
    const std::string patch =
        R"([{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec)"
        R"(/properties/)" +
        field + R"(","value":{"type":"string"}}])";
    REQUIRE(
        server
            .Call("PATCH", kFooDefinition, patch, {{"Content-Type", "application/json-patch+json"}})
            .code == 200);
    REQUIRE(server.Call("POST", kFoos, Foo(field, "{\"" + field + "\":\"new\"}")).code == 201);
    // The watch tells of objects of before until it ends.
    for (std::string line = watch.Next(); !line.empty(); line = watch.Next()) {
      CHECK_FALSE(Contains(line, R"("name":")" + field + "\""));
    }
  }
}

TEST_CASE("apiextensions: watches survive a change of the status or of labels", "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  testing::Lines watch(*server.server, std::string(kFoos) + "?watch=1");
  REQUIRE(server.Patch(kFooDefinition, R"({"metadata":{"labels":{"a":"b"}}})").code == 200);
  const std::string condition =
      R"([{"op":"add","path":"/status/conditions/-","value":{"type":"Mine","status":"True"}}])";
  REQUIRE(server
              .Call("PATCH", kFooDefinition + "/status", condition,
                    {{"Content-Type", "application/json-patch+json"}})
              .code == 200);
  REQUIRE(server.Call("POST", kFoos, Foo("one")).code == 201);
  CHECK(Contains(watch.Next(), R"("name":"one")"));
}

// ChangeCRD of change_test.go
TEST_CASE("apiextensions: clients see no error while a definition changes", "[apiextensions]") {
  CustomServer server;
  server.Define(TwoVersionDefinition("v1"));
  std::atomic<bool> done = false;
  Guarded<std::string> error;
  const auto check = [&](const Answer& answer, int code) {
    if (answer.code != code) *error.Lock() = std::to_string(answer.code) + " " + answer.body;
  };
  Thread writer("writer", [&] {
    for (int i = 0; !done; ++i) {
      check(server.Call("POST", kFoos, Foo("w" + std::to_string(i), R"({"shared":"s"})")), 201);
    }
  });
  Thread reader("reader", [&] {
    while (!done) check(server.Get(kFoos), 200);
  });
  Thread watcher("watcher", [&] {
    while (!done) {
      testing::Lines watch(*server.server, std::string(kFoos) + "?watch=1&timeoutSeconds=1");
      while (!watch.Next().empty()) {
      }
    }
  });
  for (int i = 0; i < 40; ++i) {
    const std::string stored = i % 2 == 0 ? "v2" : "v1";
    check(server.Patch(kFooDefinition, R"({"spec":{"versions":)" + TwoVersions(stored) + "}}"),
          200);
  }
  done = true;
  writer.Join();
  reader.Join();
  watcher.Join();
  CHECK(*error.Lock() == "");
}

TEST_CASE("apiextensions: a definition that goes and comes back serves anew", "[apiextensions]") {
  CustomServer server;
  for (int i = 0; i < 5; ++i) {
    server.Define(FooDefinition());
    REQUIRE(server.Call("POST", kFoos, Foo("one")).code == 201);
    REQUIRE(server.Call("DELETE", kFooDefinition).code == 200);
    REQUIRE(Eventually([&] { return server.Get(kFooDefinition).code == 404; }));
    CHECK(Eventually([&] { return server.Get(kFoos).code == 404; }));
  }
}
