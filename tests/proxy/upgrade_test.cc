// Upgrades from end to end.
#include <catch2/catch.hpp>

#include "base/status_macros.h"
#include "front.h"

namespace proxy_test {
namespace {

constexpr std::string_view kAsk =
    "POST /api/exec?x=y HTTP/1.1\r\nHost: api:6443\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
    "Content-Length: 0\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n"
    "Authorization: Bearer t\r\n\r\n";
constexpr std::string_view kSwitch =
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: SPDY/3.1\r\nCONNECTION: Upgrade\r\n\r\n";

// A client, a front and a backend made by hand.
struct Line {
  explicit Line(proxy::UpgradeAwareHandler rules = {})
      : front([&] {
          rules.location = {.host = "127.0.0.1:" + std::to_string(server.port()),
                            .path = "/exec/ns/p/c",
                            .raw_query = "command=ls&output=1"};
          return std::move(rules);
        }()),
        client(front.port()) {}

  // Sends `ask`, and takes the request at the backend. Returns the backend's side.
  RawClient& Ask(std::string_view ask = kAsk) {
    client.Send(ask);
    peer.reset(new RawClient(server.Accept()));
    asked = peer->ReadUntil("\r\n\r\n");
    return *peer;
  }

  RawServer server;
  Front front;
  RawClient client;
  std::unique_ptr<RawClient> peer;
  std::string asked;
};

TEST_CASE("proxy: an upgrade is passed on head first, and then bytes both ways", "[proxy]") {
  const auto pipes = proxy::NewPipes();
  Line line({.pipes = pipes, .user = "jane"});
  RawClient& peer = line.Ask();

  CHECK(line.asked ==
        "POST /exec/ns/p/c?command=ls&output=1 HTTP/1.1\r\nHost: api:6443\r\n"
        "X-Stream-Protocol-Version: v4.channel.k8s.io\r\nConnection: Upgrade\r\n"
        "Upgrade: SPDY/3.1\r\nX-Forwarded-For: 127.0.0.1\r\nContent-Length: 0\r\n\r\n");
  CHECK(pipes->open() == 1);
  peer.Send(std::string(kSwitch) + "early");
  CHECK(line.client.ReadUntil("early") == std::string(kSwitch) + "early");
  line.client.Send("to the backend");
  CHECK(peer.ReadUntil("backend") == "to the backend");
  peer.Send("to the client");
  CHECK(line.client.ReadUntil("client") == "to the client");

  SECTION("until the backend ends") {
    peer.Send("last");
    peer.CloseWrite();
    CHECK(line.client.ReadAll() == "last");
    CHECK(peer.ReadAll().empty());
  }
  SECTION("until the client ends") {
    line.client.Send("last");
    line.client.CloseWrite();
    CHECK(peer.ReadAll() == "last");
    peer.Send("answer");
    peer.CloseWrite();
    CHECK(line.client.ReadAll() == "answer");
  }
  SECTION("until the backend breaks") {
    peer.Reset();
    CHECK(line.client.ReadAll().empty());
  }
  SECTION("until the client breaks") {
    line.client.Reset();
    CHECK(peer.ReadAll().empty());
  }
  SECTION("until all pipes are closed") {
    pipes->CloseAll();
    CHECK(line.client.ReadAll().empty());
    CHECK(peer.ReadAll().empty());
    RawClient late(line.front.port());
    late.Send(kAsk);
    CHECK(late.ReadUntil("down").starts_with("HTTP/1.1 503"));
  }
  peer.CloseWrite();
  CHECK(line.front.service().ends.AwaitCount(1));
  const auto until = RealClock().Now() + http_test::kPatience;
  while (pipes->open() > 0 && RealClock().Now() < until) {
    Notification().WaitFor(std::chrono::milliseconds(1));
  }
  CHECK(pipes->open() == 0);
}

// Upstream drops what a client sends before the 101; SPDY clients do.
TEST_CASE("proxy: bytes that a client sends early reach the backend after its 101", "[proxy]") {
  Line line;
  RawClient& peer = line.Ask(std::string(kAsk) + "early");
  CHECK(line.asked.ends_with("\r\n\r\n"));
  peer.Send(kSwitch);
  CHECK(peer.ReadUntil("early") == "early");
  CHECK(line.client.ReadUntil("\r\n\r\n") == kSwitch);
}

// TestProxyUpgradeErrorResponseTerminates. Row 1 of docs/security.md: CVE-2018-1002105.
TEST_CASE("proxy: after a refused upgrade neither connection carries another byte", "[proxy]") {
  const std::string code = GENERATE("400 Bad Request", "403 Forbidden", "500 Hello");
  for (const std::string ask : {"GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n\r\n",
                                "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                                "Upgrade: websocket\r\n\r\n"}) {
    const auto pipes = proxy::NewPipes();
    Line line({.pipes = pipes});
    RawClient& peer = line.Ask(ask);
    line.client.Send("GET /there HTTP/1.1\r\nHost: x\r\n\r\n");
    peer.Send("HTTP/1.1 " + code + "\r\nContent-Length: 9\r\nA: b\r\n\r\nsome data");

    const std::string answer = line.client.ReadAll();
    CHECK(answer.starts_with("HTTP/1.1 " + code + "\r\nA: b\r\n"));
    CHECK(answer.find("\r\nContent-Length: 9\r\nConnection: close\r\n") != std::string::npos);
    CHECK(answer.ends_with("\r\n\r\nsome data"));
    CHECK(peer.ReadAll().empty());
    CHECK(line.front.service().ends.lines().size() == 1);
  }
}

// TestProxyUpgradeErrorResponse. Rows 2 and 3 of docs/security.md: no redirect is followed.
TEST_CASE("proxy: an answer to an upgrade that is neither 101 nor an error is a 500", "[proxy]") {
  const std::string code = GENERATE("200", "300", "302", "307", "399");
  for (const std::string upgrade : {"", "Upgrade: SPDY/3.1\r\n"}) {
    Line line;
    RawClient& peer =
        line.Ask("GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\n" + upgrade + "\r\n");
    peer.Send("HTTP/1.1 " + code +
              " x\r\nLocation: http://127.0.0.1:1/there\r\n"
              "Content-Length: 4\r\n\r\nbody");
    const std::string answer = line.client.ReadUntil("code " + code);
    CHECK(answer.starts_with("HTTP/1.1 500 "));
    CHECK(answer.ends_with("invalid upgrade response: status code " + code));
    CHECK(answer.find("there") == std::string::npos);
    CHECK(peer.ReadAll().empty());
  }
}

// TestProxyUpgradeConnectionErrorResponse, and the heads that a backend may break off.
TEST_CASE("proxy: a backend that cannot be asked for an upgrade is an error", "[proxy]") {
  const auto error = [](Line& line, std::string_view last = "Unknown: ") {
    const std::string answer = line.client.ReadUntil(last);
    CHECK(answer.starts_with("HTTP/1.1 500 "));
    const std::size_t end = std::min(answer.find("\r\n\r\n"), answer.size() - 4);
    return answer.substr(end + 4);
  };
  SECTION("nobody listens") {
    Line line;
    line.front.rules().location.host = "127.0.0.1:1";
    line.client.Send(kAsk);
    CHECK(error(line, "refused") ==
          "Unknown: error dialing backend: dial tcp 127.0.0.1:1: connect: connection refused");
  }
  SECTION("it closes") {
    Line line;
    (void)line.Ask();
    line.peer.reset();
    CHECK(error(line).starts_with("Unknown: "));
  }
  SECTION("half a head") {
    Line line;
    RawClient& peer = line.Ask();
    peer.Send("HTTP/1.1 101 Swi");
    peer.CloseWrite();
    CHECK(error(line).starts_with("Unknown: "));
  }
  SECTION("no HTTP") {
    Line line;
    RawClient& peer = line.Ask();
    peer.Send("220 mail.example ESMTP\r\n\r\n");
    CHECK(error(line).starts_with("Unknown: "));
  }
  SECTION("a head without end") {
    Line line;
    RawClient& peer = line.Ask();
    peer.SendSome("HTTP/1.1 101 Switching\r\nA: " + std::string(4 << 20, 'x'));
    CHECK(error(line).starts_with("Unknown: "));
  }
}

TEST_CASE("proxy: a backend that does not answer an upgrade in time is a 504", "[proxy]") {
  Line line({.pipes = proxy::NewPipes({.head_timeout = std::chrono::milliseconds(50)})});
  RawClient& peer = line.Ask();
  CHECK(line.client.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 504 "));
  CHECK(peer.ReadAll().empty());
}

TEST_CASE("proxy: a client that goes before the 101 takes its backend's connection along",
          "[proxy]") {
  const auto pipes = proxy::NewPipes();
  Line line({.pipes = pipes});
  RawClient& peer = line.Ask();
  line.client.Reset();
  CHECK(peer.ReadAll().empty());
}

TEST_CASE("proxy: pipes are limited for each user and in all", "[proxy]") {
  const auto pipes = proxy::NewPipes({.pipes_max = 3, .pipes_per_user_max = 2});
  auto one = pipes->Enter("a");
  auto two = pipes->Enter("a");
  CHECK(pipes->Enter("a").status().reason() == Reason::kTooManyRequests);
  auto three = pipes->Enter("b");
  CHECK(pipes->Enter("b").status().reason() == Reason::kServiceUnavailable);
  CHECK(pipes->open() == 3);
  one->reset();
  CHECK(pipes->Enter("a").ok());
  two->reset();
  three->reset();
  CHECK(pipes->open() == 0);
}

TEST_CASE("proxy: an upgrade over the limits is refused before its backend is asked", "[proxy]") {
  Line line({.pipes = proxy::NewPipes({.pipes_per_user_max = 0})});
  line.client.Send(kAsk);
  CHECK(line.client.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 429 "));
}

TEST_CASE("proxy: a pipe on which nothing is sent is closed", "[proxy]") {
  Line line({.pipes = proxy::NewPipes({.idle_timeout = std::chrono::milliseconds(200)})});
  RawClient& peer = line.Ask();
  peer.Send(kSwitch);
  CHECK(line.client.ReadAll() == kSwitch);
  CHECK(peer.ReadAll().empty());
}

TEST_CASE("proxy: a thousand open pipes end with their server", "[proxy]") {
  constexpr std::size_t kPipes = 1'000;
  const auto pipes = proxy::NewPipes();
  RawServer backend;
  auto front = std::make_unique<Front>(proxy::UpgradeAwareHandler{
      .location = {.host = "127.0.0.1:" + std::to_string(backend.port()), .path = "/exec"},
      .pipes = pipes,
      .user = "jane"});
  std::vector<std::unique_ptr<RawClient>> clients;
  std::vector<std::unique_ptr<RawClient>> peers;
  for (std::size_t i = 0; i < kPipes; ++i) {
    clients.push_back(std::make_unique<RawClient>(front->port()));
    clients.back()->Send(kAsk);
    peers.emplace_back(new RawClient(backend.Accept()));
    peers.back()->ReadUntil("\r\n\r\n");
    peers.back()->Send(kSwitch);
    clients.back()->ReadUntil("\r\n\r\n");
  }
  CHECK(pipes->open() == kPipes);

  // In good time, or at once.
  if (GENERATE(true, false)) {
    for (const auto& peer : peers) peer->Send("last words");
    for (const auto& client : clients) client->ReadUntil("last words");
    pipes->CloseAll();
    for (const auto& client : clients) CHECK(client->ReadAll().empty());
    for (const auto& peer : peers) CHECK(peer->ReadAll().empty());
    peers.clear();
    clients.clear();
  }
  front.reset();

  for (const auto& client : clients) CHECK(client->ReadAll().empty());
  for (const auto& peer : peers) CHECK(peer->ReadAll().empty());
  CHECK(pipes->open() == 0);
}

TEST_CASE("proxy: a pipe is as slow as it must be", "[proxy]") {
  Line line({.max_bytes_per_sec = 1 << 20});
  RawClient& peer = line.Ask();
  peer.Send(kSwitch);
  line.client.ReadUntil("\r\n\r\n");
  const auto begin = RealClock().Now();
  const bool up = GENERATE(true, false);
  RawClient& from = up ? line.client : peer;
  RawClient& to = up ? peer : line.client;

  from.Send(std::string(300 << 10, 'x'));
  from.Send("end");

  CHECK(to.ReadUntil("end").size() == (300 << 10) + 3);
  CHECK(RealClock().Now() - begin > std::chrono::milliseconds(150));
}

TEST_CASE("proxy: a request for an upgrade with a body is a 400", "[proxy]") {
  Front front({.location = {.host = "127.0.0.1:1"}});
  RawClient client(front.port());
  client.Send(
      "POST / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: a\r\n"
      "Content-Length: 3\r\n\r\nabc");
  CHECK(client.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 400 "));
}

// TestProxyUpgrade: over TLS, with and without HTTP/2 at both ends.
TEST_CASE("proxy: upgrades go over TLS and HTTP/1.1, whatever the backend offers", "[proxy]") {
  TestService echo([](http::Exchange& exchange) -> http::Step {
    RETURN_IF_ERROR(exchange.writer().Upgrade(
        {.code = 101, .headers = {{"Upgrade", "echo"}}}, [](std::unique_ptr<http::Tunnel> tunnel) {
          const std::shared_ptr<http::Tunnel> kept = std::move(tunnel);
          kept->Start(http_test::NewSink({
              .data = [kept](auto bytes) { kept->Write("hello " + std::string(bytes)); },
          }));
        }));
    return http::Step::Done();
  });
  TestServer backend(echo.service, Wire::kTlsHttp2);
  const std::string port = std::to_string(backend.listener().port());
  const auto answer = [&](http::ClientTls tls) {
    Front front({.location = {.scheme = "https", .host = "127.0.0.1:" + port, .path = "/hello"}},
                Wire::kHttp1, {.tls = std::move(tls)});
    RawClient client(front.port());
    client.Send(
        "GET /some/path HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
    const std::string head = client.ReadUntil("\r\n\r\n");
    if (!head.starts_with("HTTP/1.1 101 ")) return head;
    client.Send("world");
    return client.ReadUntil("world");
  };

  CHECK(answer({}) == "hello world");  // Not verified.
  CHECK(answer({.ca_pem = http_test::Pki().ca.certificate_pem}) == "hello world");
  CHECK(answer({.system_roots = true}).find("error dialing backend: ") != std::string::npos);
}

}  // namespace
}  // namespace proxy_test
