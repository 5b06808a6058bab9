#include "apiserver/client/http_client.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "apiserver/base/executor.h"
#include "apiserver/http/listener.h"
#include "client/http_client/raw_server.h"

// Against our own listener, and a server of a few lines.
namespace http_client_test {
namespace {

// Our own listener over TLS as "server.test"; answers with what it was asked.
struct EchoServer {
  EchoServer() : pool(NewThreadPool({.name = "echo"})) {
    service.pool = pool.get();
    service.handler = [this](http::Exchange& exchange) {
      return exchange.request().method == "GET" ? Answer(exchange) : Collected(exchange);
    };
    auto tls = http::NewServerTls(Pki().server).value();
    listener = http::Listen({.tls = tls}, service).value();
  }
  ~EchoServer() { listener->Stop(std::chrono::milliseconds(0)); }

  http::Step Collected(http::Exchange& exchange) {
    if (exchange.body() != nullptr || !exchange.has_body()) return Answer(exchange);
    return exchange.CollectBody(1 << 20);
  }
  static http::Step Answer(http::Exchange& exchange) {
    const auto& request = exchange.request();
    const auto body = exchange.body();
    std::string text = request.method + " " + request.target + " " + request.host;
    for (const auto* name : {"Content-Type", "X-Test"}) {
      text += std::string(" ") + name + "=" + std::string(request.headers.Get(name));
    }
    text += " peer=" + std::to_string(request.peer ? request.peer->der.size() : 0);
    text += " " + (body ? *body : "");
    exchange.writer().Send({.code = 201, .headers = {{"X-Answer", "yes"}}}, text);
    return http::Step::Done();
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(listener->port()); }

  std::unique_ptr<ThreadPool> pool;
  http::Service service;
  std::unique_ptr<http::Listener> listener;
};

constexpr auto kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

TEST_CASE("client: a call brings its method, path, headers and body, and the whole answer",
          "[client]") {
  EchoServer server;
  const auto client = NewClient(Trusting(server.address()));
  const auto answer = Get(*client, "https://server.test/a%2Fb?c=d");
  REQUIRE(answer.status().ToString() == Status().ToString());
  CHECK(answer->code == 201);
  CHECK(answer->headers.Get("X-Answer") == "yes");
  CHECK(answer->body == "GET /a%2Fb?c=d server.test Content-Type= X-Test= peer=0 ");
}

TEST_CASE("client: the body is sent with the caller's content type only", "[client]") {
  std::string seen;
  RawServer server([&](Wire& wire) {
    seen = wire.ReadUntil("{}");
    wire.Write(kOk);
  });
  const auto client = NewClient();
  const auto answer = client->Call(
      Context::Background(),
      {.url = "http://" + server.address() + "/x",
       .headers = {{"Content-Type", "application/json"}, {"X-A", "b"}, {"User-Agent", "test"}},
       .body = "{}"});
  REQUIRE(answer.status().ToString() == Status().ToString());
  CHECK(answer->body == "ok");
  CHECK(seen == Implementation().head(server.address()) + "{}");
}

TEST_CASE("client: a client certificate is shown", "[client]") {
  EchoServer server;
  auto options = Trusting(server.address());
  options.tls.client =
      http::NewCertificate(Pki().ca, {.common_name = "me", .client = true}, RealClock()).value();
  const auto answer = Get(*NewClient(options), "https://server.test/");
  REQUIRE(answer.status().ToString() == Status().ToString());
  CHECK(answer->body == "GET / server.test Content-Type= X-Test= peer=1 ");
}

TEST_CASE("client: TLS material that cannot be used is refused by name", "[client]") {
  const auto why = [](const http::ClientTls& tls) {
    const Status status = Implementation().factory({.tls = tls}).status();
    CHECK(status.reason() == Reason::kInvalid);
    return std::string(status.message());
  };
  CHECK(why({.ca_pem = "x"}).find("tls: ") == 0);
  CHECK(why({.client = {.certificate_pem = Pki().server.certificate_pem}}) ==
        "tls: a client certificate and its key come together");
  CHECK(why({.client = {.certificate_pem = Pki().server.certificate_pem,
                        .key_pem = Pki().ca.key_pem}}) == Implementation().key_mismatch);
}

TEST_CASE("client: only who proves the name to a trusted authority is spoken to", "[client]") {
  const auto why = [](const http::KeyPair& pair, const http::ClientTls& tls,
                      const std::string& host = "server.test") {
    std::atomic<bool> asked{false};
    RawServer server(
        [&](Wire& wire) {
          if (!wire.ReadUntil("\r\n\r\n").empty()) asked = true;
        },
        http::NewServerTls(pair).value());
    const auto client = NewClient({.tls = tls, .address = server.address()});
    const auto answer = Get(*client, "https://" + host + "/");
    REQUIRE(!answer.ok());
    CHECK(answer.status().reason() == Reason::kServiceUnavailable);
    CHECK_FALSE(asked);
    return std::string(answer.status().message());
  };
  const auto other = http::NewCertificateAuthority("other", RealClock()).value();
  const http::ClientTls trusting = {.ca_pem = Pki().ca.certificate_pem};

  CHECK(why(ServerPair(other, "server.test"), trusting) ==
        "Get \"https://server.test/\": tls: unable to get local issuer certificate");
  CHECK(why(Pki().server, {}) ==
        "Get \"https://server.test/\": tls: unable to get local issuer certificate");
  CHECK(why(Pki().server, trusting, "another.test") ==
        "Get \"https://another.test/\": tls: hostname mismatch");
  CHECK(why(Pki().server, trusting, "127.0.0.1") ==
        "Get \"https://127.0.0.1/\": tls: IP address mismatch");
  CHECK(why(Pki().server, {.ca_pem = Pki().ca.certificate_pem, .server_name = "another.test"}) ==
        "Get \"https://server.test/\": tls: hostname mismatch");
  CHECK(why(ServerPair(Pki().ca, "server.test", std::chrono::hours(-1)), trusting) ==
        "Get \"https://server.test/\": tls: certificate has expired");
  // A subject is no name.
  const auto bare = http::NewCertificate(Pki().ca, {.common_name = "server.test"}, RealClock());
  CHECK(why(*bare, trusting) == "Get \"https://server.test/\": tls: hostname mismatch");
}

TEST_CASE("client: server_name is looked for instead of the URL's host", "[client]") {
  EchoServer server;
  const auto client =
      NewClient({.tls = {.ca_pem = Pki().ca.certificate_pem, .server_name = "server.test"}});
  const auto answer = Get(*client, "https://" + server.address() + "/");
  REQUIRE(answer.status().ToString() == Status().ToString());
  CHECK(answer->body == "GET / " + server.address() + " Content-Type= X-Test= peer=0 ");
}

TEST_CASE("client: a kept connection answers for no other name", "[client]") {
  EchoServer server;
  const auto client =
      NewClient({.tls = {.ca_pem = Pki().ca.certificate_pem}, .address = server.address()});
  REQUIRE(Get(*client, "https://server.test/").ok());
  const auto other = Get(*client, "https://another.test/");
  REQUIRE(!other.ok());
  CHECK(other.status().message() == "Get \"https://another.test/\": tls: hostname mismatch");
  CHECK(Get(*client, "https://server.test/").ok());
}

TEST_CASE("client: connections are kept, and a kept one that was closed is replaced", "[client]") {
  RawServer server([](Wire& wire) {
    // Twelve answers, then it closes without a word.
    for (int i = 0; i < 12 && wire.ReadUntil("\r\n\r\n").size() > 1; ++i) wire.Write(kOk);
  });
  const auto client = NewClient();
  for (int i = 0; i < 24; ++i) {
    INFO(i << " " << server.connections());
    const auto answer = Get(*client, "http://" + server.address() + "/");
    REQUIRE(answer.status().ToString() == Status().ToString());
    CHECK(answer->body == "ok");
  }
  CHECK(server.connections() == 2);
}

// Row 5 of docs/security.md.
TEST_CASE("client: a redirect is an answer", "[client]") {
  for (const std::string code : {"301", "302", "303", "307", "308"}) {
    RawServer elsewhere([](Wire& wire) { wire.Write(kOk); });
    RawServer server([&](Wire& wire) {
      wire.ReadUntil("\r\n\r\n");
      wire.Write("HTTP/1.1 " + code + " Moved\r\nLocation: http://" + elsewhere.address() +
                 "/\r\nContent-Length: 0\r\n\r\n");
    });
    const auto answer = Get(*NewClient(), "http://" + server.address() + "/");
    REQUIRE(answer.status().ToString() == Status().ToString());
    CHECK(std::to_string(answer->code) == code);
    CHECK(answer->headers.Get("Location") == "http://" + elsewhere.address() + "/");
    CHECK(elsewhere.connections() == 0);
  }
}

TEST_CASE("client: chunks, a body until the end, and no body at all are answers", "[client]") {
  const auto body = [](const std::string& answer) {
    RawServer server([&](Wire& wire) {
      wire.ReadUntil("\r\n\r\n");
      wire.Write(answer);
      wire.Close();
    });
    const auto got = Get(*NewClient(), "http://" + server.address() + "/");
    REQUIRE(got.status().ToString() == Status().ToString());
    return std::to_string(got->code) + " " + got->body;
  };
  CHECK(body("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\n"
             "\r\n") == "200 abc");
  CHECK(body("HTTP/1.1 200 OK\r\n\r\nabc") == "200 abc");
  CHECK(body("HTTP/1.0 500 Oh\r\n\r\nno") == "500 no");
  CHECK(body("HTTP/1.1 204 No Content\r\n\r\n") == "204 ");
}

TEST_CASE("client: nobody there, or a Context that is done, is an error at once", "[client]") {
  std::string address;
  {
    const RawServer gone([](Wire&) {});
    address = gone.address();
  }
  const auto client = NewClient();
  const Status refused = Get(*client, "http://" + address + "/").status();
  CHECK(refused.reason() == Reason::kServiceUnavailable);
  CHECK(refused.message() == "Get \"http://" + address + "/\": dial tcp " + address +
                                 ": connect: " + Implementation().refused);
  // As a webhook behind a service is called: the URL does not say where.
  CHECK(Get(*NewClient(Trusting(address)), "https://server.test/").status().message() ==
        "Get \"https://server.test/\": dial tcp " + address +
            ": connect: " + Implementation().refused);
  const Status unknown = Get(*client, "https://name.invalid/").status();
  CHECK(unknown.reason() == Reason::kServiceUnavailable);
  CHECK(unknown.message().starts_with(
      "Get \"https://name.invalid/\": dial tcp: lookup name.invalid: "));
  CHECK(Get(*client, "https://").status().reason() == Reason::kInvalid);

  const Context done = Context::Child(Context::Background());
  done.Cancel(Status(Reason::kTimeout, "gone"));
  CHECK(client->Call(done, {.url = "http://" + address}).status() ==
        Status(Reason::kTimeout, "gone"));
  CHECK(client->Call(Context::Background().WithMayBlock(false), {.url = "http://" + address})
            .status()
            .reason() == Reason::kWouldBlock);
}

TEST_CASE("client: a call whose time is up before it is connected says where it wanted to",
          "[client]") {
  // Has room for one connection that nobody accepts; what comes after it gets no answer.
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int first = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&at), size) == 0);
  REQUIRE(::listen(listener, 0) == 0);
  REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size) == 0);
  REQUIRE(::connect(first, reinterpret_cast<sockaddr*>(&at), size) == 0);
  const std::string address = "127.0.0.1:" + std::to_string(ntohs(at.sin_port));

  const Status late =
      Get(*NewClient(), "http://" + address + "/", std::chrono::milliseconds(100)).status();

  ::close(first);
  ::close(listener);
  CHECK(late == Status(Reason::kTimeout,
                       "Get \"http://" + address + "/\": dial tcp " + address + ": i/o timeout"));
}

TEST_CASE("client: a connection that is reset is told from one that was refused", "[client]") {
  RawServer server([](Wire& wire) {
    wire.ReadUntil("\r\n\r\n");
    wire.Reset();
  });
  const Status status = Get(*NewClient(), "http://" + server.address() + "/").status();
  CHECK(IsConnectionReset(status));
  CHECK(status.message() == "Get \"http://" + server.address() + "/\": " + Implementation().reset);
  CHECK(!IsConnectionReset(Get(*NewClient(), "https://name.invalid/").status()));
}

TEST_CASE("client: a call ends when its Context does, and its connection with it", "[client]") {
  Notification asked;
  Notification closed;
  RawServer server([&](Wire& wire) {
    wire.ReadUntil("\r\n\r\n");
    asked.Notify();
    wire.ReadUntil("never");
    closed.Notify();
  });
  const Context ctx = Context::Child(Context::Background());
  Notification ended;
  Status status;
  // The client is gone before the call has ended.
  NewClient()->Start(ctx, {.url = "http://" + server.address() + "/"},
                     [&](Result<http::ClientResponse> answer) {
                       status = answer.status();
                       ended.Notify();
                     });
  REQUIRE(asked.WaitFor(std::chrono::seconds(60)));
  CHECK(!ended.HasBeenNotified());
  ctx.Cancel(Status(Reason::kTimeout, "peer gone"));
  REQUIRE(ended.WaitFor(std::chrono::seconds(60)));
  CHECK(status ==
        Status(Reason::kTimeout, "Post \"http://" + server.address() + "/\": context canceled"));
  CHECK(closed.WaitFor(std::chrono::seconds(60)));
}

TEST_CASE("client: a Context's deadline ends a call before its timeout", "[client]") {
  RawServer server([](Wire& wire) { wire.ReadUntil("never"); });
  // Long enough to connect.
  const Context ctx =
      Context::Child(Context::Background(), RealClock().Now() + std::chrono::seconds(3));
  const Status status =
      NewClient()
          ->Call(ctx, {.url = "http://" + server.address() + "/", .timeout = std::chrono::hours(1)})
          .status();
  CHECK(status == Status(Reason::kTimeout,
                         "Post \"http://" + server.address() + "/\": context deadline exceeded"));
}

}  // namespace
}  // namespace http_client_test
