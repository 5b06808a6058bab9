// Whatever is refused without looking at a body is refused before the body is there:
// docs/security.md, row 79.
#include <catch2/catch.hpp>

#include <memory>
#include <string>

#include "apiserver/http/websocket.h"
#include "filter_fixture.h"
#include "http/loop.h"
#include "http/protocol.h"
#include "http/server_config.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: tests only.
using apiserver::testing::Anybody;
using apiserver::testing::kWidgets;
using apiserver::testing::TestServer;
using apiserver::testing::TestServerOptions;

namespace {

class MemoryWire final : public http::Wire {
 public:
  void MarkDirty() override {}
  const std::shared_ptr<http::Loop>& loop() override { return loop_; }

 private:
  const std::shared_ptr<http::Loop> loop_ = http::Loop::Create(NullLogSink());
};

// A connection whose client sends what a test says, and no more. Nothing on it waits for a thread.
class HalfSent {
 public:
  explicit HalfSent(TestServer& server) {
    auto config = std::make_shared<http::ServerConfig>();
    config->service = &server.server().service();
    protocol_ = http::NewHttp1Server(wire_, std::move(config), http::Origin{});
  }
  ~HalfSent() {
    protocol_->OnClosed(Status());
    wire_.loop()->RunReady();
    wire_.loop()->Stop();
  }
  HalfSent(const HalfSent&) = delete;
  HalfSent& operator=(const HalfSent&) = delete;

  // The answer's first line, as far as the server answers at once.
  std::string Send(const std::string& bytes) {
    std::string said;
    wire_.loop()->Post([&] { protocol_->Receive(bytes); });
    wire_.loop()->RunReady();
    wire_.loop()->Post([&] { protocol_->Produce(said, 1 << 20); });
    wire_.loop()->RunReady();
    return said.substr(0, said.find('\r'));
  }
  // Of a request that announces a long body, of which a byte is there.
  std::string Begin(const std::string& method, const std::string& path,
                    const std::string& fields = "") {
    return Send(method + " " + path + " HTTP/1.1\r\nHost: a\r\n" + fields +
                "Content-Length: 1000\r\n\r\n{");
  }
  bool open() const { return protocol_->state() == http::Protocol::State::kOpen; }

 private:
  MemoryWire wire_;
  std::unique_ptr<http::Protocol> protocol_;
};

std::unique_ptr<TestServer> Start() {
  TestServerOptions options;
  options.configure = [](server::Config& config) {
    config.authenticator = std::make_shared<Anybody>();
  };
  options.install = [](server::GenericAPIServer& api) {
    const auto says = [](http::Exchange& exchange) {
      exchange.writer().Send({}, "said");
      return http::Step::Done();
    };
    const Status status = api.HandlePathWithoutBody("/says", says, /*listed=*/false);
    return status.ok() ? api.HandlePath("/listens", says, /*listed=*/false) : status;
  };
  return apiserver::testing::StartWidgetServer(std::move(options));
}

const std::string kJson = "Content-Type: application/json\r\n";
const std::string kWidget = std::string(kWidgets) + "/a";
const std::string kWatched = "/apis/example.com/v1/watch/namespaces/default/widgets";

}  // namespace

TEST_CASE("server: 404 and 405 are answered before the body is there", "[server]") {
  const auto server = Start();
  const auto answer = [&](const std::string& method, const std::string& path) {
    return HalfSent(*server).Begin(method, path, kJson);
  };

  CHECK(answer("POST", kWatched) == "HTTP/1.1 405 Method Not Allowed");
  CHECK(answer("DELETE", kWatched + "/a") == "HTTP/1.1 405 Method Not Allowed");
  CHECK(answer("POST", kWidget) == "HTTP/1.1 405 Method Not Allowed");
  CHECK(answer("PURGE", kWidgets) == "HTTP/1.1 405 Method Not Allowed");
  CHECK(answer("POST", "/apis/example.com/v1/widgets") == "HTTP/1.1 405 Method Not Allowed");
  CHECK(answer("POST", "/apis/example.com/v1/proxy/namespaces/default/widgets") ==
        "HTTP/1.1 404 Not Found");
  CHECK(answer("PUT", kWidget + "/status") == "HTTP/1.1 404 Not Found");
  CHECK(answer("POST", "/apis/example.com/v1/namespaces/default/gadgets") ==
        "HTTP/1.1 404 Not Found");
  CHECK(answer("POST", "/apis/nowhere.com/v1/widgets") == "HTTP/1.1 404 Not Found");
  for (const char* discovery : {"/apis", "/apis/example.com", "/apis/example.com/v1"}) {
    CHECK(answer("POST", discovery) == "HTTP/1.1 405 Method Not Allowed");
  }
  CHECK(answer("PUT", "/nowhere") == "HTTP/1.1 404 Not Found");
}

TEST_CASE("server: 406 and 415 are answered before the body is there, in Go's order", "[server]") {
  const auto server = Start();
  const auto answer = [&](const std::string& method, const std::string& path,
                          const std::string& fields) {
    return HalfSent(*server).Begin(method, path, fields);
  };
  const std::string png = "Content-Type: image/png\r\n";
  const std::string wants_png = "Accept: image/png\r\n";
  const std::string merge = "Content-Type: application/merge-patch+json\r\n";

  CHECK(answer("POST", kWidgets, png) == "HTTP/1.1 415 Unsupported Media Type");
  CHECK(answer("PUT", kWidget, png) == "HTTP/1.1 415 Unsupported Media Type");
  CHECK(answer("PATCH", kWidget, kJson) == "HTTP/1.1 415 Unsupported Media Type");
  CHECK(answer("DELETE", kWidget, png) == "HTTP/1.1 415 Unsupported Media Type");
  CHECK(answer("DELETE", kWidgets, png) == "HTTP/1.1 415 Unsupported Media Type");
  CHECK(answer("POST", kWidgets, png + wants_png) == "HTTP/1.1 406 Not Acceptable");
  CHECK(answer("PUT", kWidget, png + wants_png) == "HTTP/1.1 406 Not Acceptable");
  CHECK(answer("PATCH", kWidget, merge + wants_png) == "HTTP/1.1 406 Not Acceptable");
  CHECK(answer("PATCH", kWidget, png + wants_png) == "HTTP/1.1 415 Unsupported Media Type");
  CHECK(answer("DELETE", kWidget, kJson + wants_png) == "HTTP/1.1 406 Not Acceptable");
  CHECK(answer("DELETE", kWidgets, kJson + wants_png) == "HTTP/1.1 406 Not Acceptable");
  // Where Go reads the options before it looks at the Content-Type.
  CHECK(answer("PUT", kWidget + "?dryRun=x", png) == "HTTP/1.1 422 Unprocessable Entity");
  CHECK(answer("DELETE", std::string(kWidgets) + "?limit=x", png) == "HTTP/1.1 400 Bad Request");
  CHECK(answer("POST", std::string(kWidgets) + "?dryRun=x", png) ==
        "HTTP/1.1 415 Unsupported Media Type");
}

TEST_CASE("server: what reads no body does not wait for one", "[server]") {
  const auto server = Start();
  const auto answer = [&](const std::string& method, const std::string& path) {
    return HalfSent(*server).Begin(method, path, kJson);
  };

  CHECK(answer("POST", "/says") == "HTTP/1.1 200 OK");
  CHECK(answer("POST", "/version") == "HTTP/1.1 405 Method Not Allowed");
  CHECK(server->Call("GET", "/openapi/v2").code == 200);  // It takes a while to be made.
  CHECK(answer("POST", "/openapi/v2") == "HTTP/1.1 200 OK");
  CHECK(answer("POST", "/healthz/ping") == "HTTP/1.1 200 OK");
  CHECK(answer("POST", "/") == "HTTP/1.1 200 OK");
}

TEST_CASE("server: whoever reads the body gets it, and is asked to send it", "[server]") {
  const auto server = Start();
  const std::string expects = kJson + "Expect: 100-continue\r\n";

  CHECK(HalfSent(*server).Begin("POST", kWidgets, kJson).empty());
  CHECK(HalfSent(*server).Begin("DELETE", kWidget, kJson).empty());
  CHECK(HalfSent(*server).Begin("POST", "/listens", kJson).empty());
  const auto asked = [&](const std::string& path) {
    return HalfSent(*server).Send("POST " + path + " HTTP/1.1\r\nHost: a\r\n" + expects +
                                  "Content-Length: 1000\r\n\r\n");
  };
  CHECK(asked(kWidgets) == "HTTP/1.1 100 Continue");
  CHECK(asked(kWatched) == "HTTP/1.1 405 Method Not Allowed");
}

TEST_CASE("server: a connection goes on behind a body that nobody wanted", "[server]") {
  const auto server = Start();
  HalfSent client(*server);

  CHECK(client.Begin("POST", kWatched, kJson) == "HTTP/1.1 405 Method Not Allowed");
  CHECK(client.Send(std::string(999, 'x')).empty());
  CHECK(client.open());
  CHECK(client.Send("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n") == "HTTP/1.1 200 OK");
}

TEST_CASE("server: a DELETE without options needs no Content-Type that is known", "[server]") {
  const auto server = Start();
  const http::Headers png{{"Content-Type", "image/png"}};
  REQUIRE(server->Call("POST", kWidgets, apiserver::testing::Widget("a", 1)).code == 201);

  CHECK(server->Call("DELETE", kWidget, "", png).code == 200);
  CHECK(server->Call("DELETE", kWidget, "{}", png).code == 415);
}

TEST_CASE("server: only a GET is a watch that may stay open", "[server]") {
  apiserver::testing::FilterFixture fixture(apiserver::testing::ChainOf(server::NewRequestInfo()));
  fixture.handler = [](http::Exchange& exchange) {
    exchange.writer().Send({}, server::IsLongRunning(exchange) ? "long" : "short");
    return http::Step::Done();
  };
  const auto of = [&](const std::string& method, const std::string& target) {
    return fixture.Call(method, target).body;
  };

  CHECK(of("GET", kWatched) == "long");
  CHECK(of("GET", std::string(kWidgets) + "?watch=1") == "long");
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "PURGE"}) {
    CHECK(of(method, kWatched) == "short");
    CHECK(of(method, kWatched + "/a") == "short");
    CHECK(of(method, std::string(kWidgets) + "?watch=1") == "short");
  }
}
