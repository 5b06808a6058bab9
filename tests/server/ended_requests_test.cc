// Requests that end otherwise than their handler meant: too late, by an exception, half answered.
// k8s.io/apiserver/pkg/server/filters: timeout_test.go, wrap_test.go.
#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/http/listener.h"
#include "filter_fixture.h"
#include "widget_server.h"

using apiserver::Context;
using apiserver::Guarded;
using apiserver::Notification;
using apiserver::Waker;
using apiserver::testing::ChainOf;
using apiserver::testing::Contains;
using apiserver::testing::FilterFixture;
using apiserver::testing::StartWidgetServer;
namespace http = apiserver::http;
namespace server = apiserver::server;

namespace {

constexpr std::chrono::milliseconds kBrief(100);

Context WithinPatience() {
  return Context::Child(Context::Background(),
                        apiserver::RealClock().Now() + std::chrono::seconds(60));
}

// All that is logged, a line each.
class AllLines final : public apiserver::LogSink {
 public:
  bool Enabled(apiserver::LogLevel) const override { return true; }
  void Write(apiserver::LogLevel, std::string_view message,
             std::span<const apiserver::LogField> fields) override {
    std::string line(message);
    for (const auto& field : fields) line += " " + std::string(field.key) + "=" + field.value;
    lines_.Lock()->push_back(std::move(line));
    lines_.NotifyAll();
  }
  // The first line with `piece`; waits for it.
  std::string Await(const std::string& piece) {
    std::string found;
    auto lines = lines_.Lock();
    lines.WaitUntil(apiserver::RealClock().Now() + std::chrono::seconds(60), [&] {
      for (const std::string& line : *lines) {
        if (Contains(line, piece)) found = line;
      }
      return !found.empty();
    });
    return found;
  }

 private:
  Guarded<std::vector<std::string>> lines_;
};

// A server whose handler for /slow does what it is told, when it is told.
struct Obeying {
  using Work = std::function<void(http::Exchange&)>;
  explicit Obeying(Work todo, std::chrono::milliseconds timeout = std::chrono::seconds(60))
      : work(std::move(todo)) {
    apiserver::testing::TestServerOptions options;
    options.log = &log;
    options.listen = true;
    options.request_timeout = timeout;
    options.install = [this](server::GenericAPIServer& api) {
      return api.HandlePath(
          "/slow",
          [this](http::Exchange& exchange) -> http::Step {
            return http::Step::OnPool([this, &exchange]() -> http::Step {
              ++begun;
              go_on.Wait();
              work(exchange);
              over.Notify();
              return http::Step::Done();
            });
          },
          /*listed=*/true);
    };
    api = StartWidgetServer(std::move(options));
  }
  ~Obeying() {
    go_on.Notify();
    if (begun > 0) over.WaitFor(std::chrono::seconds(60));
  }

  AllLines log;
  Notification go_on;
  Notification over;
  std::atomic<int> begun{0};
  const Work work;
  std::unique_ptr<apiserver::testing::TestServer> api;
};

}  // namespace

// TestTimeout
TEST_CASE("server: an answer in time is sent; one that comes later goes nowhere", "[server]") {
  const auto answers = [](http::Exchange& exchange) {
    exchange.writer().Send({}, "test response");
  };
  {
    Obeying in_time(answers);
    in_time.go_on.Notify();
    const auto got = in_time.api->Call("GET", "/slow");
    CHECK(got.code == 200);
    CHECK(got.body == "test response");
  }
  Obeying late(answers, kBrief);
  const auto got = late.api->Call("GET", "/slow");
  CHECK(got.code == 504);
  CHECK(Contains(got.body, R"("reason":"Timeout")"));
  CHECK(Contains(got.body, "request did not complete within the allotted timeout"));
  late.go_on.Notify();
  REQUIRE(late.over.WaitFor(std::chrono::seconds(60)));
  CHECK(late.api->Call("GET", "/healthz").body == "ok");
}

// TestTimeout, "Panics"; TestPropogatingPanic
TEST_CASE("server: an exception is a 500, and the log says where and why", "[server]") {
  Obeying obeying([](http::Exchange&) { throw std::runtime_error("panic as designed"); });
  obeying.go_on.Notify();
  const auto got = obeying.api->Call("GET", "/slow");
  CHECK(got.code == 500);
  CHECK(!Contains(got.body, "panic as designed"));
  const std::string line = obeying.log.Await("panic as designed");
  CHECK(Contains(line, "exception while serving a request"));
  CHECK(Contains(line, "method=GET path=/slow"));
  obeying.over.Notify();
}

// An exception after the time was up: 504 has been answered, and the exception is only logged.
TEST_CASE("server: an exception that comes too late is logged, and changes nothing", "[server]") {
  Obeying obeying([](http::Exchange&) { throw std::runtime_error("too late"); }, kBrief);
  CHECK(obeying.api->Call("GET", "/slow").code == 504);
  obeying.go_on.Notify();
  CHECK(Contains(obeying.log.Await("too late"), "exception while serving a request"));
  CHECK(obeying.api->Call("GET", "/healthz").body == "ok");
  obeying.over.Notify();
}

// TestTimeoutHeaders
TEST_CASE("server: headers that are still being written are not those of the timeout", "[server]") {
  std::atomic<bool> timed_out{false};
  Obeying obeying(
      [&](http::Exchange& exchange) {
        http::ResponseHead head;
        while (!timed_out) head.headers.Set("Test", "post");
        exchange.writer().Send(std::move(head), "");
      },
      kBrief);
  obeying.go_on.Notify();
  const auto got = obeying.api->Call("GET", "/slow");
  timed_out = true;
  CHECK(got.code == 504);
  CHECK(!got.headers.Has("Test"));
}

// TestTimeoutRequestHeaders, TestTimeoutWithLogging
TEST_CASE("server: a handler that outlives its request is logged when it is done", "[server]") {
  std::atomic<bool> tested{false};
  Obeying obeying(
      [&](http::Exchange&) {
        while (!tested) {
        }
      },
      kBrief);
  obeying.go_on.Notify();
  const auto got = obeying.api->Call("PATCH", "/slow");
  tested = true;
  CHECK(got.code == 504);
  const std::string line = obeying.log.Await("verb=PATCH URI=/slow");
  CHECK(Contains(line, "resp=504"));
}

namespace {

// Something, and then the end that an abort is.
class HelloThenAbort final : public http::BodySource {
 public:
  http::Pull Next(http::ChunkWriter& out, const Waker&) override {
    if (std::exchange(said_, true)) return http::Pull::kAbort;
    out.Write("hello from the handler");
    return http::Pull::kMore;
  }

 private:
  bool said_ = false;
};

}  // namespace

// TestErrConnKilled, TestErrConnKilledHTTP2
TEST_CASE("server: an answer that is broken off is an error to its client, and to no other",
          "[server]") {
  const bool http2 = GENERATE(false, true);
  INFO(http2);
  FilterFixture filters({});
  filters.handler = [](http::Exchange& exchange) {
    if (exchange.request().path == "/whole") {
      exchange.writer().Send({}, "whole");
    } else {
      exchange.writer().Stream({}, std::make_unique<HelloThenAbort>());
    }
    return http::Step::Done();
  };
  const auto listener = http::Listen({}, filters.service()).value();
  const auto dialer = http::NewDialer();
  const auto connection =
      dialer->Dial(WithinPatience(), {.port = listener->port(), .http2 = http2}).value();
  CHECK(!connection->Call(WithinPatience(), {.target = "/"}).ok());
  // HTTP/2 resets the stream and goes on; HTTP/1.1 has nothing but the connection to close.
  const auto until = apiserver::RealClock().Now() + std::chrono::seconds(60);
  while (!http2 && !connection->closed() && apiserver::RealClock().Now() < until) {
  }
  CHECK(connection->closed() == !http2);
  if (http2) {
    CHECK(!connection->Call(WithinPatience(), {.target = "/"}).ok());
    CHECK(connection->Call(WithinPatience(), {.target = "/whole"}).value().body == "whole");
  }
  CHECK(filters.handled() == (http2 ? 3 : 1));
}
