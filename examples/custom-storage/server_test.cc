// The same over HTTP: get, watch, a log that is followed, a WebSocket that is asked.
#include <catch2/catch.hpp>

#include "apiserver/base/sync.h"
#include "dialled.h"
#include "threads.h"
#include "watch_lines.h"

using namespace apiserver;  // NOLINT: a test.
using apiserver::testing::Dialled;
using apiserver::testing::Lines;
using apiserver::testing::ServerFrame;
using apiserver::testing::WebSocketClient;
using threads::ThreadStat;

namespace {

constexpr char kThreads[] = "/apis/process.example.com/v1/threads";

struct Served {
  Served() {
    const auto kind = threads::NewThreadKind().value();
    REQUIRE(server->server().scheme().Add(kind).ok());
    store = threads::NewThreadStore(
                kind, [this]() -> Result<std::vector<ThreadStat>> { return *now.Lock(); },
                server->server().pool(), std::chrono::milliseconds(0))
                .value();
    REQUIRE(server->server()
                .InstallAPIGroup({threads::kGroup,
                                  {{"v1",
                                    {{"threads", store},
                                     {"threads/log", threads::NewThreadLog(store)},
                                     {"threads/connect", threads::NewThreadConnect(store)}}}}})
                .ok());
  }
  void Poll(std::vector<ThreadStat> threads) {
    *now.Lock() = std::move(threads);
    REQUIRE(store->Poll(Context::Background()).ok());
  }

  Guarded<std::vector<ThreadStat>> now;
  std::shared_ptr<registry::PollingStore> store;
  std::unique_ptr<testing::TestServer> server =
      std::move(testing::StartTestServer({.listen = true})).value();
};

bool Contains(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

}  // namespace

TEST_CASE("custom-storage: discovery says what threads can do", "[custom-storage]") {
  Served served;
  const std::string body = served.server->Call("GET", "/apis/process.example.com/v1").body;
  CHECK(Contains(body, R"("name":"threads","singularName":"thread","namespaced":false,)"
                       R"("kind":"Thread","verbs":["get","list","watch"])"));
  CHECK(Contains(body, R"("name":"threads/connect")"));
  CHECK(Contains(body, R"("name":"threads/log")"));
  CHECK(served.server->Call("POST", kThreads, "{}").code == 405);
  CHECK(served.server->Call("DELETE", std::string(kThreads) + "/7").code == 405);
}

TEST_CASE("custom-storage: nothing is served before the first poll", "[custom-storage]") {
  Served served;
  CHECK(served.server->Call("GET", kThreads).code == 429);
  CHECK(served.server->Call("GET", "/readyz").code == 500);
  served.Poll({});
  CHECK(served.server->Call("GET", kThreads).code == 200);
  CHECK(served.server->Call("GET", "/readyz").code == 200);
}

TEST_CASE("custom-storage: a list and the watch from it leave nothing out", "[custom-storage]") {
  Served served;
  served.Poll({{.id = 7, .state = "S"}});
  const std::string list = served.server->Call("GET", kThreads).body;
  const std::string key = R"("metadata":{"resourceVersion":")";
  const std::size_t at = list.find(key) + key.size();
  const std::string version = list.substr(at, list.find('"', at) - at);
  served.Poll({{.id = 7, .state = "R"}, {.id = 8, .state = "S"}});
  Lines watch(*served.server, std::string(kThreads) + "?watch=1&resourceVersion=" + version);
  served.Poll({{.id = 8, .state = "S"}});

  CHECK(watch.Next().starts_with(R"({"type":"MODIFIED","object":{"kind":"Thread",)"));
  CHECK(watch.Next().starts_with(R"({"type":"ADDED","object":{"kind":"Thread",)"));
  const std::string deleted = watch.Next();
  CHECK(deleted.starts_with(R"({"type":"DELETED","object":{"kind":"Thread",)"));
  CHECK(Contains(deleted, R"("state":"R")"));
}

TEST_CASE("custom-storage: a log is followed line by line until its thread is gone",
          "[custom-storage]") {
  Served served;
  served.Poll({{.id = 7, .state = "S", .cpu_milliseconds = 1}});
  Lines log(*served.server, std::string(kThreads) + "/7/log");
  CHECK(log.head().headers.Get("Content-Type") == "text/plain");
  CHECK(log.Next() == "state=S cpu=1ms");
  served.Poll({{.id = 7, .state = "R", .cpu_milliseconds = 2}});
  CHECK(log.Next() == "state=R cpu=2ms");
  served.Poll({});
  CHECK(log.Next() == "gone");
  CHECK(log.Next().empty());
  CHECK(served.server->Call("GET", std::string(kThreads) + "/8/log").code == 404);
}

TEST_CASE("custom-storage: a WebSocket answers as long as its thread lives", "[custom-storage]") {
  Served served;
  served.Poll({{.id = 7, .command = "main", .state = "S", .cpu_milliseconds = 1}});
  Dialled dialled(*served.server);
  WebSocketClient socket(dialled.connection(), std::string(kThreads) + "/7/connect");
  REQUIRE(socket.head().code == 101);

  socket.SendText("command");
  CHECK(socket.Read() == ServerFrame{0x81, "main"});
  served.Poll({{.id = 7, .command = "main", .state = "R", .cpu_milliseconds = 2}});
  socket.SendText("cpu");
  CHECK(socket.Read() == ServerFrame{0x81, "2"});
  socket.SendText("age");
  CHECK(socket.Read() == ServerFrame{0x81, "ask for command, state or cpu"});
  served.Poll({});
  socket.SendText("state");
  CHECK(socket.Read().close_code() == 1000);
  CHECK(served.server->Call("GET", std::string(kThreads) + "/7/connect").code == 404);
}
