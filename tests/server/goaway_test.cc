// What clients see of the GOAWAY filter: k8s.io/apiserver/pkg/server/filters/goaway_test.go.
#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/http/listener.h"
#include "filter_fixture.h"

using apiserver::Context;
using apiserver::Guarded;
using apiserver::Thread;
using apiserver::Waker;
using apiserver::testing::ChainOf;
using apiserver::testing::FilterFixture;
namespace http = apiserver::http;
namespace server = apiserver::server;

namespace {

Context InTime() {
  return Context::Child(Context::Background(),
                        apiserver::RealClock().Now() + std::chrono::seconds(60));
}

// Lets only paths that end so be closed.
class OnlyWithGoaway final : public http::Filter {
 public:
  std::string_view name() const override { return "only-with-goaway"; }
  http::Step Begin(http::Exchange&) const override { return http::Step::Next(); }
  void Head(http::Exchange& exchange, http::ResponseHead& head) const override {
    if (exchange.request().path.ends_with("-with-goaway")) always_->Head(exchange, head);
  }

 private:
  const server::FilterPtr always_ = server::NewGoaway(1, apiserver::SecureRandom());
};

// "hello", a byte a turn, once the test says so.
class Hello final : public http::BodySource {
 public:
  struct Gate {
    bool open = false;
    std::vector<Waker> wakers;
  };
  explicit Hello(Guarded<Gate>& gate) : gate_(gate) {}
  http::Pull Next(http::ChunkWriter& out, const Waker& waker) override {
    auto gate = gate_.Lock();
    if (!gate->open && sent_ == 1) {
      gate->wakers.push_back(waker);
      return http::Pull::kWait;
    }
    out.Write(std::string_view("hello").substr(sent_++, 1));
    return sent_ == 5 ? http::Pull::kEnd : http::Pull::kMore;
  }

 private:
  Guarded<Gate>& gate_;
  std::size_t sent_ = 0;
};

// newTestGOAWAYServer
struct GoawayServer {
  GoawayServer() : filters(ChainOf(server::FilterPtr(new OnlyWithGoaway))) {
    filters.handler = [this](http::Exchange& exchange) -> http::Step {
      const std::string& path = exchange.request().path;
      if (path.starts_with("/watch")) {
        exchange.writer().Stream({}, std::make_unique<Hello>(gate));
        return http::Step::Done();
      }
      if (path.starts_with("/post") && exchange.request().method != "POST") {
        return apiserver::Status(apiserver::Reason::kBadRequest, "not posted");
      }
      exchange.writer().Send({}, "hello");
      return http::Step::Done();
    };
    listener = http::Listen({}, filters.service()).value();
  }
  ~GoawayServer() { Open(); }
  // Lets all watches come to their end.
  void Open() {
    std::vector<Waker> wakers;
    {
      auto locked = gate.Lock();
      locked->open = true;
      wakers.swap(locked->wakers);
    }
    for (Waker& waker : wakers) waker.Wake();
  }

  Guarded<Hello::Gate> gate;
  FilterFixture filters;
  std::unique_ptr<http::Listener> listener;
};

// Uses one connection until that is closed for new requests, as Go's transport does.
class Client {
 public:
  explicit Client(int port) : port_(port) {}

  // 0: nothing was answered, and the connection takes no more; -1: the body is another.
  int Call(const std::string& path) {
    const auto connection = Current();
    const auto got = connection->Call(
        InTime(), {.method = path.starts_with("/post") ? "POST" : "GET", .target = path});
    if (!got.ok()) return 0;
    if (got->body != "hello") return -1;
    // GOAWAY may be read a moment after the answer that it comes with.
    if (path.ends_with("-with-goaway")) AwaitClosed(*connection);
    return got->code;
  }
  std::unique_ptr<http::ClientStream> Watch(const std::string& path) {
    const auto connection = Current();
    auto stream = connection->Open({.target = path}).value();
    const auto head = stream->Head(InTime());
    if (!head.ok() || head->code != 200) return nullptr;
    if (path.ends_with("-with-goaway")) AwaitClosed(*connection);
    return stream;
  }
  std::size_t connections() const { return all_.Lock()->size(); }

 private:
  using Connections = std::vector<std::shared_ptr<http::Connection>>;

  std::shared_ptr<http::Connection> Current() {
    auto all = all_.Lock();
    if (all->empty() || all->back()->closed()) {
      all->push_back(dialer_->Dial(InTime(), {.port = port_}).value());
    }
    return all->back();
  }
  static void AwaitClosed(const http::Connection& connection) {
    const auto until = apiserver::RealClock().Now() + std::chrono::seconds(60);
    while (!connection.closed() && apiserver::RealClock().Now() < until) {
    }
  }

  const int port_;
  std::unique_ptr<http::Dialer> dialer_ = http::NewDialer();
  mutable Guarded<Connections> all_;
};

std::string ReadAll(http::ClientStream& stream) {
  std::string body;
  while (true) {
    const auto more = stream.Read(InTime());
    if (!more.ok()) return body + " cut: " + more.status().ToString();
    if (more->empty()) return body;
    body += *more;
  }
}

}  // namespace

// TestClientReceivedGOAWAY
TEST_CASE("server: GOAWAY moves new requests to another connection, and breaks no watch",
          "[server]") {
  struct Case {
    std::string name;
    std::vector<std::string> requests;
    std::size_t connections;
  };
  const auto test = GENERATE(values<Case>({
      {"all normal requests use only one connection", {"/get", "/post", "/get"}, 1},
      {"got GOAWAY after set-up watch",
       {"/post", "/watch", "/get-with-goaway", "/get", "/post"},
       2},
      {"got GOAWAY after set-up watch, and set-up a new watch",
       {"/get", "/watch", "/get-with-goaway", "/watch", "/get", "/post"},
       2},
      {"got 2 GOAWAY after set-up watch",
       {"/post", "/watch", "/get-with-goaway", "/get-with-goaway", "/get", "/post"},
       3},
      {"combine with watch-with-goaway",
       {"/get", "/watch-with-goaway", "/get", "/watch", "/get-with-goaway", "/get", "/post"},
       3},
  }));
  INFO(test.name);
  GoawayServer goaway;
  Client client(goaway.listener->port());
  std::vector<std::unique_ptr<http::ClientStream>> watches;
  for (const std::string& path : test.requests) {
    INFO(path);
    if (path.starts_with("/watch")) {
      watches.push_back(client.Watch(path));
      REQUIRE(watches.back());
    } else {
      CHECK(client.Call(path) == 200);
    }
  }
  CHECK(client.connections() == test.connections);
  goaway.Open();
  for (const auto& watch : watches) CHECK(ReadAll(*watch) == "hello");
}

// TestGOAWAYConcurrency
TEST_CASE("server: requests side by side lose nothing to GOAWAY, and none runs twice", "[server]") {
  constexpr int kRequests = 300;
  constexpr int kWorkers = 10;
  const std::vector<std::string> paths = {
      "/get", "/post", "/watch", "/get-with-goaway", "/post-with-goaway", "/watch-with-goaway"};
  GoawayServer goaway;
  Client client(goaway.listener->port());
  std::atomic<int> next{0};
  std::atomic<int> answered{0};
  Guarded<std::vector<std::unique_ptr<http::ClientStream>>> watches;
  {
    std::vector<Thread> workers;
    for (int w = 0; w < kWorkers; ++w) {
      workers.emplace_back("worker", [&] {
        for (int i = next++; i < kRequests; i = next++) {
          // 7 and 6 have no common divisor: every path, in an order that the workers mix.
          const std::string& path = paths[static_cast<std::size_t>(i * 7 + i / 6) % paths.size()];
          // What the server did not take may be sent again; Go's transport does.
          for (int attempt = 0; attempt < 50; ++attempt) {
            if (path.starts_with("/watch")) {
              auto stream = client.Watch(path);
              if (!stream) continue;
              watches.Lock()->push_back(std::move(stream));
            } else if (client.Call(path) != 200) {
              continue;
            }
            ++answered;
            break;
          }
        }
      });
    }
  }
  CHECK(answered == kRequests);
  CHECK(goaway.filters.handled() == kRequests);
  CHECK(client.connections() > 1);
  goaway.Open();
  const auto begun = watches.Lock();
  for (const auto& watch : *begun) CHECK(ReadAll(*watch) == "hello");
}
