// Upgrades from end to end: heads that are passed on byte for byte, early bytes, half-closes. And
// what a client makes of servers that answer a stream in unusual ways.
#include <catch2/catch.hpp>

#include "support.h"
#include "talker.h"

namespace http_test {
namespace {

// A client that speaks HTTP/1.1, or HTTP/2, to a server made by hand.
struct Line {
  explicit Line(bool http2 = false)
      : connection(dialer->Dial(Soon(), {.port = server.port(), .http2 = http2}).value()),
        peer(server.Accept()) {}

  RawServer server;
  std::unique_ptr<Dialer> dialer = NewDialer();
  std::unique_ptr<Connection> connection;
  RawClient peer;
};

ClientRequestHead UpgradeHead(Headers more = {}) {
  ClientRequestHead head{.method = "POST", .target = "/a%2Fb?x=%20y"};
  head.headers = {{"hOST", "b:1"},
                  {"X-b", " 1"},
                  {"x-A", "2"},
                  {"Upgrade", "SPDY/3.1"},
                  {"connection", "keep-alive, upgrade"}};
  for (const auto& field : more) head.headers.Add(field.name, field.value);
  return head;
}

constexpr std::string_view kUpgradeHead =
    "POST /a%2Fb?x=%20y HTTP/1.1\r\nhOST: b:1\r\nX-b:  1\r\nx-A: 2\r\nUpgrade: SPDY/3.1\r\n"
    "connection: keep-alive, upgrade\r\n\r\n";

TEST_CASE("http: a client's upgrade passes heads on as they are, and half-closes both ways",
          "[http]") {
  Line line;
  Headers answered;
  auto opened = line.connection->OpenUpgrade(UpgradeHead()).value();
  Journal steps;
  opened->Start(NewSink({
      .data = [&](auto bytes) { steps.Add(std::string(bytes)); },
      .end = [&](const Status& status) { steps.Add(status.ok() ? "end" : status.ToString()); },
      .head =
          [&](const ResponseHead& head) {
            answered = head.headers;
            steps.Add(std::to_string(head.code));
          },
  }));
  CHECK(line.peer.ReadUntil("\r\n\r\n") == kUpgradeHead);

  line.peer.Send("HTTP/1.1 101 Hello\r\nUPGRADE: x\r\nX-b: 1\r\nconnection: Upgrade\r\n\r\nearly");
  CHECK(steps.Await("early"));
  CHECK(steps.Text() == "101 early");
  std::string headers;
  for (const auto& field : answered) headers += field.name + "=" + field.value + ";";
  CHECK(headers == "UPGRADE=x;X-b=1;connection=Upgrade;");

  SECTION("the peer first") {
    line.peer.CloseWrite();
    CHECK(steps.Await("end"));
    opened->Write("still");
    CHECK(line.peer.ReadUntil("still") == "still");
    opened->Write(" heard");
    opened->CloseWrite();
    CHECK(line.peer.ReadAll() == " heard");
  }
  SECTION("this side first") {
    opened->Write("question");
    opened->CloseWrite();
    CHECK(line.peer.ReadAll() == "question");
    line.peer.Send("answer");
    CHECK(steps.Await("answer"));
    line.peer.CloseWrite();
    CHECK(steps.Await("end"));
  }
  SECTION("neither: the connection breaks") {
    line.peer.Reset();
    CHECK(steps.AwaitCount(3));
    CHECK(steps.lines().back().find("connection lost") != std::string::npos);
  }
  CHECK(line.connection->closed());
}

TEST_CASE("http: what is written before an upgrade goes out after the 101, and not before it",
          "[http]") {
  Line line;
  Told told(line.connection->OpenUpgrade(UpgradeHead()).value());
  told.stream->Write("first ");
  CHECK(line.peer.ReadUntil("\r\n\r\n") == kUpgradeHead);
  line.peer.Send("HTTP/1.1 103 Early\r\nA: b\r\n\r\n");
  told.stream->Write("second");

  SECTION("101") {
    line.peer.Send("HTTP/1.1 101 Switching Protocols\r\n\r\n");
    CHECK(line.peer.ReadUntil("second") == "first second");
    CHECK(told.steps().Text() == "101");
  }
  SECTION("another code, whose body is told") {
    line.peer.Send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
    CHECK(told.AwaitEnd() == "end");
    CHECK(told.steps().Text() == "403 no end");
    CHECK(line.peer.ReadAll().empty());
    CHECK(line.connection->closed());
  }
  SECTION("another code, whose body ends with the connection") {
    line.peer.Send("HTTP/1.1 503 Service Unavailable\r\n\r\nuntil the end");
    line.peer.CloseWrite();
    CHECK(told.AwaitEnd() == "end");
    CHECK(told.steps().Text() == "503 until the end end");
    CHECK(line.peer.ReadAll().empty());
  }
}

TEST_CASE("http: a head that is no upgrade, or more than one, opens none", "[http]") {
  Line line;
  const auto reason = [&](ClientRequestHead head) {
    return line.connection->OpenUpgrade(std::move(head)).status().reason();
  };

  CHECK(reason({.target = "/", .headers = {{"Host", "x"}}}) == Reason::kInvalid);
  CHECK(reason({.target = "/", .headers = {{"Connection", "Upgrade"}, {"Upgrade", "a"}}}) ==
        Reason::kInvalid);
  CHECK(reason(UpgradeHead({{"Content-Length", "1"}})) == Reason::kInvalid);
  CHECK(reason(UpgradeHead({{"Transfer-Encoding", "chunked"}})) == Reason::kInvalid);
  CHECK(reason(UpgradeHead({{"A", "b\nHost: evil"}})) == Reason::kInvalid);
  Line second(/*http2=*/true);
  CHECK(second.connection->OpenUpgrade(UpgradeHead()).status().reason() ==
        Reason::kMethodNotAllowed);
}

TEST_CASE("http: a client's stream sends its head at once and its body in chunks", "[http]") {
  Line line;
  Told told(line.connection
                ->OpenStream({.method = "PUT",
                              .target = "/x",
                              .headers = {{"Content-Length", "7"}, {"a", "b"}},
                              .body_bytes = std::nullopt})
                .value());
  const std::string where = "127.0.0.1:" + std::to_string(line.server.port());
  CHECK(line.peer.ReadUntil("\r\n\r\n") ==
        "PUT /x HTTP/1.1\r\nHost: " + where + "\r\na: b\r\nTransfer-Encoding: chunked\r\n\r\n");

  told.stream->Write(std::string(31, 'x'));
  CHECK(line.peer.ReadUntil("x\r\n") == "1f\r\n" + std::string(31, 'x') + "\r\n");
  line.peer.Send("HTTP/1.1 100 Continue\r\n\r\n");
  told.stream->Write("");
  told.stream->Write("ab");
  CHECK(line.peer.ReadUntil("ab\r\n") == "2\r\nab\r\n");
  told.stream->CloseWrite();
  CHECK(line.peer.ReadUntil("0\r\n\r\n") == "0\r\n\r\n");
  line.peer.Send(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nyes\r\n0\r\nT: x\r\n\r\n");
  CHECK(told.AwaitEnd() == "end");
  CHECK(told.steps().Text() == "200 yes end");

  // The connection is as good as new.
  Told next(line.connection->OpenStream({.target = "/y"}).value());
  CHECK(line.peer.ReadUntil("\r\n\r\n").starts_with("GET /y HTTP/1.1\r\n"));
  line.peer.Send("HTTP/1.1 204 No Content\r\n\r\n");
  CHECK(next.AwaitEnd() == "end");
}

// Row 91 of docs/security.md.
TEST_CASE("http: a client's stream does not take a bad HTTP/1.1 answer for a good one", "[http]") {
  Line line;
  Told told(line.connection->OpenStream({.target = "/"}).value());
  line.peer.ReadUntil("\r\n\r\n");

  SECTION("more than its Content-Length") {
    line.peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc");
    CHECK(told.AwaitEnd() == "end");
    CHECK(told.steps().Text() == "200 ab end");
    CHECK(line.peer.ReadAll().empty());
    CHECK(line.connection->closed());
  }
  SECTION("less than its Content-Length") {
    line.peer.Send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab");
    line.peer.CloseWrite();
    CHECK(told.AwaitEnd().find("connection closed by the peer") != std::string::npos);
  }
  SECTION("a reset in a body that ends with the connection") {
    line.peer.Send("HTTP/1.1 200 OK\r\n\r\nab");
    REQUIRE(told.steps().Await("ab"));
    line.peer.Reset();
    CHECK(told.AwaitEnd().find("connection lost") != std::string::npos);
  }
  SECTION("an upgrade that was not asked for") {
    line.peer.Send("HTTP/1.1 101 Switching Protocols\r\n\r\n");
    CHECK(told.AwaitEnd().find("without being asked") != std::string::npos);
  }
}

TEST_CASE("http: a client's stream does not take a bad HTTP/2 answer for a good one", "[http]") {
  Line line(/*http2=*/true);
  Told told(line.connection->OpenStream({.target = "/"}).value());
  line.peer.Send({"\0\0\0\x04\0\0\0\0\0", 9});
  // The request's HEADERS (stream 1, ":method: GET" first), for its stream is not open before.
  (void)line.peer.ReadUntil({"\0\0\0\x01\x82", 5});
  // ":status: 200", "content-length: 2".
  const std::string head("\0\0\x05\x01\x04\0\0\0\x01\x88\x0f\x0d\x01\x32", 14);

  SECTION("more than its Content-Length") {
    line.peer.Send(head + std::string("\0\0\x03\0\x01\0\0\0\x01"
                                      "abc",
                                      12));
    CHECK(told.AwaitEnd().find("stream reset: PROTOCOL_ERROR") != std::string::npos);
  }
  SECTION("a stop halfway that claims to be no error") {
    line.peer.Send(head +
                   std::string("\0\0\x01\0\0\0\0\0\x01"
                               "a",
                               10) +
                   std::string("\0\0\x04\x03\0\0\0\0\x01\0\0\0\0", 13));
    CHECK(told.AwaitEnd().find("stream reset: NO_ERROR") != std::string::npos);
    CHECK(told.steps().lines().front() == "200");
  }
  SECTION("complete, before a reset") {
    line.peer.Send(head + std::string("\0\0\x02\0\x01\0\0\0\x01"
                                      "ab",
                                      11));
    CHECK(told.AwaitEnd() == "end");
    CHECK(told.steps().Text() == "200 ab end");
  }
}

TEST_CASE("http: a server's verbatim upgrade is sent as it is, early bytes or not", "[http]") {
  std::optional<Resume> later;
  Notification waits;
  Journal steps;
  std::shared_ptr<Tunnel> tunnel;
  const auto upgrade = [&](Exchange& exchange) {
    const Status opened = exchange.writer().Upgrade(
        {.code = 101, .headers = {{"uPGRADE", "x"}, {"CONNECTION", "upgrade"}}, .verbatim = true},
        [&](std::unique_ptr<Tunnel> made) {
          tunnel = std::move(made);
          tunnel->Start(NewSink({.data = [&](auto bytes) { steps.Add(std::string(bytes)); }}));
        });
    return opened.ok() ? Step::Done() : Step(opened);
  };
  TestService service([&](Exchange& exchange) {
    return Step::Later([&, shared = exchange.Share()](Resume resume) {
      later.emplace(std::move(resume));
      waits.Notify();
    });
  });
  Exchange* current = nullptr;
  auto& filter = service.AddFilter();
  filter.begin = [&](Exchange& exchange) {
    current = &exchange;
    return Step::Next();
  };
  filter.head = [&](Exchange&, ResponseHead& head) {
    head.headers.Add("Audit-Id", "1");
    steps.Add("filtered");
  };
  TestServer server(service.service, Wire::kHttp1);
  RawClient client(server.listener().port());

  // The answer is decided only after the client's first bytes have come.
  client.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nearly");
  REQUIRE(waits.WaitFor(kPatience));
  later->OnLoop([&] { return upgrade(*current); });

  CHECK(client.ReadUntil("\r\n\r\n") ==
        "HTTP/1.1 101 Switching Protocols\r\nuPGRADE: x\r\nCONNECTION: upgrade\r\n\r\n");
  CHECK(steps.Await("early"));
  CHECK(steps.Text() == "filtered early");
  tunnel.reset();
  CHECK(service.ends.Await("101 ok"));
}

TEST_CASE("http: a verbatim head that is no well-formed 101 is refused", "[http]") {
  TestService service([&](Exchange& exchange) {
    ResponseHead head{.code = 101, .headers = {{"Upgrade", "x"}}, .verbatim = true};
    if (exchange.request().path == "/code") head.code = 200;
    if (exchange.request().path == "/value") head.headers.Add("A", "b\r\nC: d");
    return Step(exchange.writer().Upgrade(std::move(head), [](auto) {}));
  });
  TestServer server(service.service, Wire::kHttp1);
  const ClientRequest request{.headers = {{"Connection", "Upgrade"}, {"Upgrade", "x"}}};

  for (const char* path : {"/code", "/value"}) {
    ClientRequest sent = request;
    sent.target = path;
    CHECK(server.Connect()->Call(Soon(), sent)->code == 422);
  }
}

}  // namespace
}  // namespace http_test
