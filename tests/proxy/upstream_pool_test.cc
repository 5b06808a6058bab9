// Connections that are kept, shared and given up.
#include <catch2/catch.hpp>

#include "front.h"

namespace proxy_test {
namespace {

TEST_CASE("proxy: a location names an address, with the port of its scheme", "[proxy]") {
  const auto text = [](proxy::Location location) {
    const auto at = proxy::EndpointOf(location);
    if (!at.ok()) return std::string(at.status().message());
    return (at->tls ? "tls " : "") + at->host + " " + std::to_string(at->port);
  };
  CHECK(text({.host = "a.b"}) == "a.b 80");
  CHECK(text({.scheme = "", .host = "a.b:81"}) == "a.b 81");
  CHECK(text({.scheme = "https", .host = "10.0.0.1"}) == "tls 10.0.0.1 443");
  CHECK(text({.scheme = "https", .host = "[::1]:6443"}) == "tls ::1 6443");
  CHECK(text({.host = "[fe80::1]"}) == "fe80::1 80");
  CHECK(text({.host = ""}) == "http: no Host in request URL");
  CHECK(text({.host = "a:0"}) == "invalid port \"0\"");
  CHECK(text({.host = "a:65536"}) == "invalid port \"65536\"");
  CHECK(text({.host = "a:99999999999"}) == "invalid port \"99999999999\"");
  CHECK(text({.scheme = "ftp", .host = "a"}) == "unsupported protocol scheme \"ftp\"");
}

// A front whose backend is made by hand.
struct HandMade {
  RawServer server;
  Front front{{.location = {.host = "127.0.0.1:" + std::to_string(server.port()), .path = "/"},
               .wrap_transport = true}};
  RawClient client{front.port()};

  void Ask(const std::string& method) {
    client.Send(method + " / HTTP/1.1\r\nHost: x\r\n" +
                (method == "POST" ? "Content-Length: 0\r\n\r\n" : "\r\n"));
  }
};

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST_CASE("proxy: a connection to a backend serves request after request", "[proxy]") {
  HandMade line;
  line.Ask("GET");
  RawClient peer = line.server.Accept();
  for (int i = 0; i < 3; ++i) {
    CHECK(peer.ReadUntil("\r\n\r\n").starts_with("GET / HTTP/1.1\r\n"));
    peer.Send(kOk);
    CHECK(line.client.ReadUntil("\r\n\r\nok").starts_with("HTTP/1.1 200 OK\r\n"));
    line.Ask("GET");
  }
}

// Else connections that backends close when they are idle show up as sporadic errors.
TEST_CASE("proxy: a GET on a kept connection that closes is repeated, a POST is not", "[proxy]") {
  HandMade line;
  line.Ask("GET");
  RawClient peer = line.server.Accept();
  peer.ReadUntil("\r\n\r\n");
  peer.Send(kOk);
  line.client.ReadUntil("\r\n\r\nok");

  SECTION("GET") {
    line.Ask("GET");
    peer.ReadUntil("\r\n\r\n");
    peer.CloseWrite();
    RawClient second = line.server.Accept();
    second.ReadUntil("\r\n\r\n");
    SECTION("once") {
      second.Send(kOk);
      CHECK(line.client.ReadUntil("\r\n\r\nok").starts_with("HTTP/1.1 200 OK\r\n"));
    }
    SECTION("and not twice") {
      second.CloseWrite();
      CHECK(line.client.ReadUntil("service: ").starts_with("HTTP/1.1 503 "));
    }
  }
  SECTION("POST") {
    line.Ask("POST");
    peer.ReadUntil("\r\n\r\n");
    peer.CloseWrite();
    CHECK(line.client.ReadUntil("service: ").starts_with("HTTP/1.1 503 "));
  }
}

TEST_CASE("proxy: a connection whose answer was not read to its end serves no other request",
          "[proxy]") {
  HandMade line;
  line.Ask("GET");
  RawClient peer = line.server.Accept();
  peer.ReadUntil("\r\n\r\n");
  peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
  CHECK(line.client.ReadUntil("\r\n\r\nab").starts_with("HTTP/1.1 200 OK\r\n"));
  line.client.Reset();
  CHECK(peer.ReadAll().empty());
}

TEST_CASE("proxy: requests share a connection of HTTP/2, up to a limit", "[proxy]") {
  constexpr std::size_t kRequests = 5;
  Guarded<std::vector<http::Resume>> waiting;
  Guarded<std::vector<std::string>> from;
  TestService service([&](http::Exchange& exchange) -> http::Step {
    from.Lock()->push_back(exchange.request().remote_address);
    return http::Step::Later([&](http::Resume resume) {
      waiting.Lock()->push_back(std::move(resume));
      waiting.NotifyAll();
    });
  });
  TestServer backend(service.service, Wire::kTlsHttp2);
  Front front({.location = {.scheme = "https",
                            .host = "127.0.0.1:" + std::to_string(backend.listener().port()),
                            .path = "/"}},
              Wire::kHttp2, {.requests_per_connection_max = 2});
  const auto client = front.Connect();

  std::vector<std::unique_ptr<http::ClientStream>> streams;
  for (std::size_t i = 0; i < kRequests; ++i) {
    streams.push_back(client->Open({.target = "/"}).value());
    auto locked = waiting.Lock();
    REQUIRE(locked.WaitUntil(RealClock().Now() + http_test::kPatience,
                             [&] { return locked->size() == i + 1; }));
  }

  const auto addresses = *from.Lock();
  CHECK(addresses[0] == addresses[1]);
  CHECK(addresses[2] == addresses[3]);
  CHECK(addresses[0] != addresses[2]);
  CHECK(addresses[4] != addresses[2]);
  waiting.Lock()->clear();  // Each is answered with 500.
  for (const auto& stream : streams) CHECK(stream->Head(Soon())->code == 500);
}

TEST_CASE("proxy: a backend that says GOAWAY after each answer loses no GET", "[proxy]") {
  TestService service([](http::Exchange& exchange) {
    exchange.writer().Send({.close_connection = true}, "ok");
    return http::Step::Done();
  });
  TestServer backend(service.service, Wire::kTlsHttp2);
  Front front({.location = {.scheme = "https",
                            .host = "127.0.0.1:" + std::to_string(backend.listener().port()),
                            .path = "/"},
               .wrap_transport = true},
              Wire::kHttp2);
  const auto client = front.Connect();

  std::vector<std::unique_ptr<http::ClientStream>> streams;
  for (int i = 0; i < 200; ++i) {
    streams.push_back(client->Open({.target = "/"}).value());
    if (i % 4 != 3) continue;
    for (const auto& stream : std::exchange(streams, {})) {
      const auto head = stream->Head(Soon());
      REQUIRE(head.ok());
      CHECK(head->code == 200);
    }
  }
}

// Dials on the loops of exchanges only.
class OnLoopsOnly final : public http::Dialer {
 public:
  Executor::Cancel DialLater(const http::DialOptions& /*options*/, Dialed done) override {
    done(Status(Reason::kInvalid, "dialled on the dialer's loop"));
    return [] {};
  }
  Result<std::unique_ptr<http::Connection>> Dial(const Context& /*ctx*/,
                                                 const http::DialOptions& /*options*/) override {
    return Status(Reason::kInvalid, "dialled on the dialer's loop");
  }
  Executor& loop() override { return real_->loop(); }
  std::shared_ptr<http::Dialer> On(const std::shared_ptr<http::Loop>& loop) override {
    return real_->On(loop);
  }

 private:
  const std::unique_ptr<http::Dialer> real_ = http::NewDialer();
};

TEST_CASE("proxy: a plain request is forwarded on the loop that it came to", "[proxy]") {
  Backend backend(Text("hello"));
  OnLoopsOnly dialer;
  Front front(
      {.location = backend.At("/"), .pool = proxy::NewUpstreamPool({.dialer = &dialer}).value()});
  const auto got = front.Call({.target = "/"});
  REQUIRE(got.ok());
  CHECK(got->body == "hello");
}

TEST_CASE("proxy: a connection that its backend closes is not kept", "[proxy]") {
  HandMade line;
  line.Ask("GET");
  RawClient peer = line.server.Accept();
  peer.ReadUntil("\r\n\r\n");
  peer.Send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok");
  CHECK(line.client.ReadUntil("\r\n\r\nok").starts_with("HTTP/1.1 200 OK\r\n"));
  line.Ask("GET");
  RawClient next = line.server.Accept();
  next.ReadUntil("\r\n\r\n");
  next.Send(kOk);
  CHECK(line.client.ReadUntil("\r\n\r\nok").starts_with("HTTP/1.1 200 OK\r\n"));
}

// A request that is forwarded on another loop than its own needs two threads.
TEST_CASE("proxy: each loop of a server has a pool of its own", "[proxy]") {
  const auto dialer = http::NewDialer();
  const auto pool = proxy::NewUpstreamPool({.dialer = dialer.get()}).value();
  Guarded<std::vector<std::shared_ptr<proxy::UpstreamPool>>> seen;
  TestService service([&](http::Exchange& exchange) {
    const auto here = pool->On(exchange.shared_loop());
    const bool one = here->loop().Inside() && pool->On(exchange.shared_loop()) == here;
    seen.Lock()->push_back(one ? here : nullptr);
    exchange.writer().Send({}, "");
    return http::Step::Done();
  });
  std::weak_ptr<proxy::UpstreamPool> first;
  {
    TestServer server(service.service, Wire::kHttp1);
    for (int i = 0; i < 2; ++i) CHECK(server.Connect()->Call(Soon(), {.target = "/"}).ok());
    auto locked = seen.Lock();
    REQUIRE(locked->size() == 2);
    REQUIRE(locked->at(0));
    CHECK(locked->at(0) == locked->at(1));
    CHECK(locked->at(0) != pool);
    first = locked->at(0);
    locked->clear();
  }
  // A pool whose loop has stopped is released when the next one is made.
  CHECK_FALSE(first.expired());
  TestServer next(service.service, Wire::kHttp1);
  CHECK(next.Connect()->Call(Soon(), {.target = "/"}).ok());
  CHECK(first.expired());
}

TEST_CASE("proxy: a backend sees the client certificate of the pool", "[proxy]") {
  Guarded<bool> shown{false};
  TestService service([&](http::Exchange& exchange) {
    *shown.Lock() = exchange.request().peer != nullptr;
    return http_test::Answer(exchange, "ok");
  });
  TestServer backend(service.service, Wire::kTlsHttp1);
  const proxy::Location at{.scheme = "https",
                           .host = "127.0.0.1:" + std::to_string(backend.listener().port()),
                           .path = "/"};
  const auto body = [&](http::ClientTls tls, std::optional<proxy::Endpoint> endpoint = {}) {
    Front front({.location = at, .endpoint = std::move(endpoint), .wrap_transport = true},
                Wire::kHttp1, {.tls = std::move(tls)});
    return front.Call({.target = "/"})->body;
  };
  const std::string ca = http_test::Pki().ca.certificate_pem;

  CHECK(body({.ca_pem = ca}) == "ok");
  CHECK_FALSE(*shown.Lock());
  CHECK(body({.ca_pem = ca, .client = http_test::Pki().client}) == "ok");
  CHECK(*shown.Lock());
  // Row 6 of docs/security.md: the address that was checked is connected to, and the name that was
  // asked for is verified.
  proxy::Endpoint checked = proxy::EndpointOf(at).value();
  checked.server_name = "localhost";
  CHECK(body({.ca_pem = ca}, checked) == "ok");
  checked.server_name = "other.example";
  CHECK(body({.ca_pem = ca}, checked).find("error trying to reach service: ") != std::string::npos);
  const auto dialer = http::NewDialer();
  const auto pool = proxy::NewUpstreamPool({.dialer = dialer.get(), .tls = {.ca_pem = "bad"}});
  CHECK(pool.status().reason() == Reason::kInvalid);
}

}  // namespace
}  // namespace proxy_test
