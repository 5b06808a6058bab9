// Backends and clients that misbehave.
#include <catch2/catch.hpp>

#include "front.h"

namespace proxy_test {
namespace {

// A front before a backend made by hand, and a client's connection to it.
struct Broken {
  RawServer server;
  Front front{{.location = {.host = "127.0.0.1:" + std::to_string(server.port()), .path = "/"},
               .wrap_transport = true}};
  RawClient client{front.port()};

  // Returns the client's answer if the backend sends `bytes` and closes.
  std::string AnswerTo(const std::string& bytes) {
    client.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    RawClient peer = server.Accept();
    peer.ReadUntil("\r\n\r\n");
    (void)peer.SendSome(bytes);
    peer.CloseWrite();
    return client.ReadAll();
  }
};

// Row 55 of docs/security.md, among others.
TEST_CASE("proxy: a backend's broken head is a 503, and nothing of it is passed on", "[proxy]") {
  const std::string bytes = GENERATE(as<std::string>(), "", "H", "HTTP/1.1 200 OK\r\nA: b\r\n",
                                     "HTTP/1.1 200 OK\nA: b\n\n", "HTTP/1.1 99 X\r\n\r\n",
                                     "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
                                     "Content-Length: 2\r\n\r\nab",
                                     "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
                                     "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                                     "HTTP/1.1 101 Switching Protocols\r\n\r\nGET / HTTP/1.1\r\n",
                                     "HTTP/1.1 200 OK\r\nA b: c\r\n\r\n", "SSH-2.0-x\r\n\r\n");
  CAPTURE(bytes);
  Broken line;
  const std::string answer = line.AnswerTo(bytes);
  CHECK(answer.starts_with("HTTP/1.1 503 "));
  CHECK(answer.find("error trying to reach service: ") != std::string::npos);
  CHECK(answer.find("A: b") == std::string::npos);
}

TEST_CASE("proxy: a backend's endless head is a 503", "[proxy]") {
  const bool one = GENERATE(true, false);
  std::string bytes = "HTTP/1.1 200 OK\r\n";
  if (one) {
    bytes += "A: " + std::string(8 << 20, 'x');
  } else {
    for (int i = 0; i < 100'000; ++i) bytes += "A" + std::to_string(i) + ": b\r\n";
  }
  CHECK(Broken().AnswerTo(bytes).starts_with("HTTP/1.1 503 "));
}

// A client that was told a whole answer would trust it.
TEST_CASE("proxy: an answer that breaks off does not look complete", "[proxy]") {
  const std::string cut = Broken().AnswerTo("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
  CHECK(cut.find("Content-Length: 10\r\n") != std::string::npos);
  CHECK(cut.ends_with("\r\n\r\nhalf"));
  const std::string chunks =
      Broken().AnswerTo("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n");
  CHECK(chunks.ends_with("4\r\nhalf\r\n"));
}

TEST_CASE("proxy: a client that goes ends the request at the backend", "[proxy]") {
  Broken line;
  line.client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  RawClient peer = line.server.Accept();
  peer.ReadUntil("\r\n\r\n");
  SECTION("before the answer") {
    line.client.Reset();
    CHECK(peer.ReadAll().empty());
  }
  SECTION("in the middle of the answer") {
    peer.Send("HTTP/1.1 200 OK\r\n\r\nbegin");
    line.client.ReadUntil("begin");
    line.client.Reset();
    CHECK(peer.ReadAll().empty());
  }
}

TEST_CASE("proxy: a body that its client does not finish does not look complete", "[proxy]") {
  Broken line;
  line.client.Send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  RawClient peer = line.server.Accept();
  CHECK(peer.ReadUntil("abc\r\n").ends_with("3\r\nabc\r\n"));
  line.client.Reset();
  CHECK(peer.ReadAll().empty());  // No last chunk.
}

TEST_CASE("proxy: a backend is given up at the request's deadline", "[proxy]") {
  Broken line;
  line.front.service().AddFilter().begin = [](http::Exchange& exchange) {
    exchange.ctx().LimitTo(RealClock().Now() + std::chrono::milliseconds(50));
    return http::Step::Next();
  };
  line.client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  RawClient peer = line.server.Accept();
  CHECK(line.client.ReadUntil("exceeded")
            .ends_with("error trying to reach service: context deadline exceeded"));
  CHECK(peer.ReadUntil("\r\n\r\n").starts_with("GET / HTTP/1.1\r\n"));
  CHECK(peer.ReadAll().empty());
}

// Row 54 of docs/security.md: CVE-2024-24791.
TEST_CASE("proxy: 100-continue is between a client and this server", "[proxy]") {
  Broken line;
  for (int i = 0; i < 3; ++i) {
    line.client.Send(
        "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    RawClient peer = line.server.Accept();
    CHECK(peer.ReadUntil("\r\n\r\n").find("Expect") == std::string::npos);
    CHECK(line.client.ReadUntil("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
    line.client.Send("abc");
    CHECK(peer.ReadUntil("abc") == "abc");
    peer.Send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
    CHECK(line.client.ReadUntil("\r\n\r\nno").starts_with("HTTP/1.1 403 "));
  }
}

TEST_CASE("proxy: a slow reader holds its backend back", "[proxy]") {
  constexpr std::size_t kAll = std::size_t{64} << 20;
  Broken line;
  line.client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  RawClient peer = line.server.Accept();
  peer.ReadUntil("\r\n\r\n");
  peer.Send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kAll) + "\r\n\r\n");
  line.client.ReadUntil("\r\n\r\n");

  const std::string piece(1 << 20, 'x');
  std::size_t sent = 0;
  while (sent < kAll) {
    const std::size_t taken = peer.SendSome(piece);
    sent += taken;
    if (taken < piece.size()) break;
  }

  // The buffers of four sockets are the kernel's; this side keeps a few windows.
  CHECK(sent < kAll / 2);
  CHECK(line.front.service().service.memory->output.used() < (std::size_t{3} << 20));
}

TEST_CASE("proxy: a slow pipe holds its sender back, in each direction", "[proxy]") {
  Broken line;
  line.client.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n");
  RawClient peer = line.server.Accept();
  peer.ReadUntil("\r\n\r\n");
  peer.Send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: Upgrade\r\n\r\n");
  line.client.ReadUntil("\r\n\r\n");
  const bool up = GENERATE(true, false);
  RawClient& from = up ? line.client : peer;
  RawClient& to = up ? peer : line.client;

  constexpr std::size_t kAll = std::size_t{64} << 20;
  const std::string piece(1 << 20, 'x');
  std::size_t sent = 0;
  while (sent < kAll) {
    const std::size_t taken = from.SendSome(piece);
    sent += taken;
    if (taken < piece.size()) break;
  }
  CHECK(sent < kAll / 2);
  CHECK(line.front.service().service.memory->output.used() < (std::size_t{3} << 20));
  // All of it arrives once it is read.
  from.CloseWrite();
  CHECK(to.ReadAll().size() == sent);
}

TEST_CASE("proxy: large bodies pass in both directions at the same time", "[proxy]") {
  const Wire wire = GENERATE(Wire::kHttp1, Wire::kTlsHttp2);
  Backend backend(
      [](http::Exchange& exchange) {
        exchange.writer().Send({}, http::Bytes(std::string(*exchange.body())));
      },
      wire);
  Front front({.location = backend.At("/")}, wire);
  std::string body(8 << 20, 'x');
  for (std::size_t i = 0; i < body.size(); i += 997) body[i] = static_cast<char>('a' + i % 26);
  const auto answer = front.Call({.method = "PUT", .target = "/", .body = body});
  REQUIRE(answer.ok());
  CHECK(answer->body == body);
}

}  // namespace
}  // namespace proxy_test
