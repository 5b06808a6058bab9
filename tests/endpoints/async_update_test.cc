#include <catch2/catch.hpp>
#include <thread>

#include "apiserver/storage/memory/engine.h"
#include "media_types.h"
#include "storage/held_engine.h"
#include "widget_server.h"

// PUT and PATCH while the storage takes its time.
using namespace apiserver;  // NOLINT: a test.
using testing::kMerge;
using testing::kWidgetA;
using testing::kWidgets;

namespace {

// A server with one thread for blocking work, over an engine that can hold writes.
struct Fixture {
  explicit Fixture(std::vector<std::shared_ptr<const admission::Plugin>> admission = {}) {
    server = testing::StartWidgetServer(
        {.admission = std::move(admission),
         .engine = &held,
         .configure = [](server::Config& config) { config.pool_threads = 1; }});
    REQUIRE(server->Call("POST", kWidgets, testing::Widget("a", 1)).code == 201);
    REQUIRE(server->Call("POST", kWidgets, testing::Widget("b", 1)).code == 201);
  }

  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  testing::HeldEngine held{*engine};
  std::unique_ptr<testing::TestServer> server;
};

// A request on a thread of its own.
struct Sent {
  Sent(testing::TestServer& server, std::string method, std::string target, std::string body,
       http::Headers headers = {})
      : thread([&server, method = std::move(method), target = std::move(target),
                body = std::move(body), headers = std::move(headers),
                this] { answer = server.Call(method, target, body, headers); }) {}
  ~Sent() {
    if (thread.joinable()) thread.join();
  }
  const http::ClientResponse& Wait() {
    thread.join();
    return answer;
  }

  http::ClientResponse answer;
  std::thread thread;
};

}  // namespace

TEST_CASE("endpoints: a write holds no thread while the storage makes it", "[endpoints]") {
  Fixture fixture;
  fixture.held.Hold();
  Sent patch(*fixture.server, "PATCH", kWidgetA, R"({"spec":{"size":2}})", kMerge);
  Sent put(*fixture.server, "PUT", std::string(kWidgets) + "/b",
           R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"b",)"
           R"("resourceVersion":"3"},"spec":{"size":3}})");
  // Both wait at the same time, though they share one thread.
  REQUIRE(fixture.held.WaitFor(2));
  // A delete is done on it meanwhile.
  CHECK(fixture.server->Call("DELETE", std::string(kWidgets) + "/none").code == 404);
  fixture.held.Release();
  const auto patched = patch.Wait();
  INFO(patched.body);
  CHECK(patched.code == 200);
  CHECK(testing::Contains(patched.body, R"("size":2)"));
  CHECK(put.Wait().code == 200);
  CHECK(testing::Contains(fixture.server->Call("GET", kWidgetA).body, R"("size":2)"));
}

TEST_CASE("endpoints: patches that race on one thread all happen", "[endpoints]") {
  Fixture fixture;
  fixture.held.Hold();
  Sent first(*fixture.server, "PATCH", kWidgetA, R"({"spec":{"size":2}})", kMerge);
  Sent second(*fixture.server, "PATCH", kWidgetA, R"({"spec":{"color":"red"}})", kMerge);
  Sent stale(*fixture.server, "PATCH", kWidgetA,
             R"({"metadata":{"resourceVersion":"2"},"spec":{"color":"blue"}})", kMerge);
  REQUIRE(fixture.held.WaitFor(3));
  fixture.held.Release();
  const int first_code = first.Wait().code;
  const int second_code = second.Wait().code;
  const int stale_code = stale.Wait().code;
  CHECK(first_code == 200);
  CHECK(second_code == 200);
  // It happens only if it is the first.
  CHECK((stale_code == 200 || stale_code == 409));
  const std::string now = fixture.server->Call("GET", kWidgetA).body;
  CHECK(testing::Contains(now, R"("size":2)"));
  CHECK(testing::Contains(now, R"("color":"red")"));
}

TEST_CASE("endpoints: an update that the storage finds too large is tried without owners",
          "[endpoints]") {
  Fixture fixture;
  fixture.held.Hold();
  Sent patch(*fixture.server, "PATCH", kWidgetA, R"({"spec":{"size":2}})", kMerge);
  Sent apply(*fixture.server, "PATCH", std::string(kWidgets) + "/b?fieldManager=m&force=true",
             testing::Widget("b", 4), testing::kApply);
  REQUIRE(fixture.held.WaitFor(2));
  fixture.held.Fail(Status(Reason::kRequestEntityTooLarge, "too large"));
  const auto patched = patch.Wait();
  CHECK(patched.code == 200);
  CHECK(testing::Contains(patched.body, R"("size":2)"));
  CHECK(patched.body.find("managedFields") == std::string::npos);
  // An apply has no meaning without them.
  CHECK(apply.Wait().code == 413);
}

TEST_CASE("endpoints: a write that fails in the storage is answered with its error",
          "[endpoints]") {
  Fixture fixture;
  fixture.held.Hold();
  Sent patch(*fixture.server, "PATCH", kWidgetA, R"({"spec":{"size":2}})", kMerge);
  REQUIRE(fixture.held.WaitFor(1));
  fixture.held.Fail(Status(Reason::kServiceUnavailable, "gone"));
  const auto patched = patch.Wait();
  CHECK(patched.code == 500);
  CHECK(testing::Contains(patched.body, R"("reason":"ServerTimeout")"));
  CHECK(testing::Contains(fixture.server->Call("GET", kWidgetA).body, R"("size":1)"));
}
