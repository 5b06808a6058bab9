// An object that is too large for the storage with its owners is stored without them.
#include <catch2/catch.hpp>

#include "apiserver/codec/json.h"
#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/fault_engine.h"
#include "media_types.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Contains;
using testing::kApply;
using testing::kMerge;
using testing::kWidgets;

namespace {

const std::string kOne = std::string(kWidgets) + "/a";

// A widget of more bytes than a create keeps no second copy of.
std::string LargeWidget() {
  return R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},)"
         R"("spec":{"size":1,"color":")" +
         std::string(300'000, 'x') + R"("}})";
}

// A server whose storage refuses the next write as too large, as often as a test says.
struct ServedLarge {
  std::unique_ptr<apiserver::storage::kv::Engine> memory = apiserver::storage::memory::NewEngine();
  std::unique_ptr<testing::FaultEngine> engine = testing::NewFaultEngine(*memory);
  std::unique_ptr<testing::TestServer> server =
      testing::StartWidgetServer({.engine = engine.get()});

  http::ClientResponse Call(int refusals, const std::string& method, const std::string& target,
                            const std::string& body, const http::Headers& headers = {}) {
    engine->FailTxns(refusals, {Reason::kRequestEntityTooLarge, "too much"});
    auto answer = server->Call(method, target, body, headers);
    engine->FailTxns(0, {});
    return answer;
  }
  // Replaces the widget as it is now.
  http::ClientResponse Put(int refusals, int size) {
    runtime::Arena arena;
    const std::string now = server->Call("GET", kOne).body;
    const runtime::Value metadata = codec::ParseJson(now, arena).value()["metadata"];
    return Call(refusals, "PUT", kOne,
                R"({"metadata":{"name":"a","resourceVersion":")" +
                    std::string(metadata["resourceVersion"].AsString()) + R"("},"spec":{"size":)" +
                    std::to_string(size) + "}}");
  }
};

}  // namespace

TEST_CASE("endpoints: every write but an apply is tried again without owners", "[endpoints]") {
  ServedLarge served;
  const auto created = served.Call(1, "POST", kWidgets, LargeWidget());
  CHECK(created.code == 201);
  CHECK_FALSE(Contains(created.body, "managedFields"));

  REQUIRE(served.server->Call("DELETE", kOne).code == 200);
  const auto owned = served.server->Call("POST", kWidgets, testing::Widget("a", 1));
  REQUIRE(Contains(owned.body, "managedFields"));
  const auto replaced = served.Put(1, 2);
  CHECK(replaced.code == 200);
  CHECK_FALSE(Contains(replaced.body, "managedFields"));

  const auto patched = served.Call(1, "PATCH", kOne, R"({"spec":{"size":4}})", kMerge);
  CHECK(patched.code == 200);
  CHECK(Contains(patched.body, R"("size":4)"));

  const auto applied = served.Call(1, "PATCH", kOne + "?fieldManager=me&force=true",
                                   testing::Widget("a", 5), kApply);
  CHECK(applied.code == 413);
  CHECK(Contains(served.server->Call("GET", kOne).body, R"("size":4)"));
}

TEST_CASE("endpoints: a write that is too large twice is refused", "[endpoints]") {
  ServedLarge served;
  CHECK(served.Call(2, "POST", kWidgets, LargeWidget()).code == 413);
  // A small one is not tried again.
  CHECK(served.Call(1, "POST", kWidgets, testing::Widget("a", 1)).code == 413);
  REQUIRE(served.Call(0, "POST", kWidgets, testing::Widget("a", 1)).code == 201);
  CHECK(served.Put(2, 2).code == 413);
  CHECK(served.Call(2, "PATCH", kOne, R"({"spec":{"size":4}})", kMerge).code == 413);
}
