#include <catch2/catch.hpp>

#include "support.h"

namespace http_test {
namespace {

Step EchoBody(Exchange& exchange) {
  return Answer(exchange,
                exchange.request().method + exchange.request().path + "=" + *exchange.body() + ";");
}

struct EchoServer {
  explicit EchoServer(ListenerOptions options = {}) : service(EchoBody) {
    service.AddFilter().begin = [](Exchange& e) { return e.CollectBody(1 << 20); };
    server = std::make_unique<TestServer>(service.service, Wire::kHttp1, std::move(options));
  }
  int port() const { return server->listener().port(); }
  TestService service;
  std::unique_ptr<TestServer> server;
};

std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

namespace {

const std::string kPost = "POST / HTTP/1.1\r\nHost: x\r\n";
const std::string kChunked = kPost + "Transfer-Encoding: chunked\r\n\r\n";
const std::vector<std::pair<std::string, std::string>> kBadFraming = {
    {"length and chunked", kPost + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc"},
    {"chunked and length", kPost + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc"},
    {"two lengths", kPost + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"},
    {"the same length twice", kPost + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc"},
    {"a list of lengths", kPost + "Content-Length: 3, 3\r\n\r\nabc"},
    {"a length with a plus", kPost + "Content-Length: +3\r\n\r\nabc"},
    {"a negative length", kPost + "Content-Length: -3\r\n\r\nabc"},
    {"a hexadecimal length", kPost + "Content-Length: 0x3\r\n\r\nabc"},
    {"a length with a space", kPost + "Content-Length: 3 3\r\n\r\nabc"},
    {"an empty length", kPost + "Content-Length:\r\n\r\nabc"},
    {"a length that overflows", kPost + "Content-Length: 99999999999999999999\r\n\r\nabc"},
    {"an unknown coding", kPost + "Transfer-Encoding: gzip\r\n\r\nabc"},
    {"chunked, then another", kPost + "Transfer-Encoding: chunked, gzip\r\n\r\nabc"},
    {"another, then chunked", kPost + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"},
    {"chunked twice",
     kPost + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    {"chunked with a control character", kPost + "Transfer-Encoding: \x0b"
                                                 "chunked\r\n\r\n0\r\n\r\n"},
    {"chunked in HTTP/1.0",
     "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    {"bare LF after the request line", "GET / HTTP/1.1\nHost: x\r\n\r\n"},
    {"bare LF after a field", "GET / HTTP/1.1\r\nHost: x\n\r\n"},
    {"bare LF at the end", "GET / HTTP/1.1\r\nHost: x\r\n\n"},
    {"bare CR in a value", "GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n"},
    {"a folded field", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n"},
    {"a fold before the first field", "GET / HTTP/1.1\r\n Host: x\r\n\r\n"},
    {"a space before the colon", kPost + "Content-Length : 3\r\n\r\nabc"},
    {"a tab before the colon", kPost + "Transfer-Encoding\t: chunked\r\n\r\n"},
    {"a field without a colon", "GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n"},
    {"an empty name", "GET / HTTP/1.1\r\nHost: x\r\n: v\r\n\r\n"},
    {"a zero byte in a value", std::string("GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n", 35)},
    {"a zero byte in a name", std::string("GET / HTTP/1.1\r\nHost: x\r\nA\0b: c\r\n\r\n", 35)},
    {"no host", "GET / HTTP/1.1\r\n\r\n"},
    {"two hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"},
    {"a host with a space", "GET / HTTP/1.1\r\nHost: x y\r\n\r\n"},
    {"a host with a path", "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n"},
    {"a host with a user", "GET / HTTP/1.1\r\nHost: user@x\r\n\r\n"},
    {"a host with a query", "GET / HTTP/1.1\r\nHost: x?y\r\n\r\n"},
    {"a host with a quote", "GET / HTTP/1.1\r\nHost: \"x\"\r\n\r\n"},
    {"a host beyond ASCII", "GET / HTTP/1.1\r\nHost: \xc3\xa9\r\n\r\n"},
    {"a host with a bad escape", "GET / HTTP/1.1\r\nHost: %zz\r\n\r\n"},
    {"a port that is no number", "GET / HTTP/1.1\r\nHost: x:y\r\n\r\n"},
    {"a port over 65535", "GET / HTTP/1.1\r\nHost: x:65536\r\n\r\n"},
    {"a negative port", "GET / HTTP/1.1\r\nHost: x:-1\r\n\r\n"},
    {"two ports", "GET / HTTP/1.1\r\nHost: x:1:2\r\n\r\n"},
    {"a port of no host", "GET / HTTP/1.1\r\nHost: :80\r\n\r\n"},
    {"an IPv6 address without brackets", "GET / HTTP/1.1\r\nHost: ::1\r\n\r\n"},
    {"an open bracket", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n"},
    {"text behind a bracket", "GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n"},
    {"empty brackets", "GET / HTTP/1.1\r\nHost: []\r\n\r\n"},
    {"a user in the target", "GET http://user@y/ HTTP/1.1\r\nHost: y\r\n\r\n"},
    {"a user and a password in the target", "GET https://u:p@y/ HTTP/1.1\r\nHost: y\r\n\r\n"},
    {"a bad port in the target", "GET http://y:z/ HTTP/1.1\r\nHost: y\r\n\r\n"},
    {"a target without a host", "GET http:///x HTTP/1.1\r\nHost: y\r\n\r\n"},
    {"a target with nothing but a port", "GET http://:80/x HTTP/1.1\r\nHost: y\r\n\r\n"},
    {"another protocol", "GET / HTTP/2.0\r\nHost: x\r\n\r\n"},
    {"HTTP/0.9", "GET /\r\n\r\n"},
    {"two spaces", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n"},
    {"a space in the target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n"},
    {"a relative target", "GET api HTTP/1.1\r\nHost: x\r\n\r\n"},
    {"a bad escape", "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n"},
    {"an authority", "CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n"},
    {"an asterisk for GET", "GET * HTTP/1.1\r\nHost: x\r\n\r\n"},
    {"a method with a bracket", "G{T / HTTP/1.1\r\nHost: x\r\n\r\n"},
    {"a chunk without a size", kChunked + "\r\nabc"},
    {"a chunk size with bare LF", kChunked + "3\nabc\r\n0\r\n\r\n"},
    {"a chunk size with a plus", kChunked + "+3\r\nabc\r\n0\r\n\r\n"},
    {"a chunk size with 0x", kChunked + "0x3\r\nabc\r\n0\r\n\r\n"},
    {"a chunk size with a space before", kChunked + " 3\r\nabc\r\n0\r\n\r\n"},
    {"a chunk size with a space after", kChunked + "3 \r\nabc\r\n0\r\n\r\n"},
    {"a chunk size that overflows", kChunked + "fffffffffffffffff\r\nabc"},
    {"a chunk longer than its size", kChunked + "2\r\nabc\r\n0\r\n\r\n"},
    {"a chunk that ends in LF", kChunked + "3\r\nabc\n0\r\n\r\n"},
    {"an extension with bare LF", kChunked + "3;a=\nb\r\nabc\r\n0\r\n\r\n"},
    {"extensions over 16 KiB",
     kChunked + "3;" + std::string(17 << 10, 'e') + "\r\nabc\r\n0\r\n\r\n"},
    {"a trailer with bare LF", kChunked + "0\r\nA: b\n\r\n"},
    {"a trailer without a colon", kChunked + "0\r\nnonsense\r\n\r\n"},
    {"a trailer that is a request", kChunked + "0\r\nGET /x HTTP/1.1\r\nHost: x\r\n\r\n"},
    {"a trailer without a name", kChunked + "0\r\n: b\r\n\r\n"},
    {"a space before a trailer's colon", kChunked + "0\r\nA : b\r\n\r\n"},
    {"a folded trailer", kChunked + "0\r\nA: b\r\n c: d\r\n\r\n"},
    {"a trailer with a zero byte", kChunked + std::string("0\r\nA\0: b\r\n\r\n", 12)},
    {"trailer names over 16 KiB", kChunked + "0\r\n" + std::string(17 << 10, 'n') + ": b\r\n\r\n"},
    {"the last chunk with bare LF", kChunked + "0\r\n\n"},
};

}  // namespace

TEST_CASE("http: framing that two readers could take differently is 400, and the end", "[http]") {
  EchoServer echo;
  for (const auto& [name, bytes] : kBadFraming) {
    INFO(name);
    RawClient client(echo.port());
    client.Send(bytes + "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n");
    const std::string answer = client.ReadAll();
    CHECK(answer.substr(0, 24) == "HTTP/1.1 400 Bad Request");
    CHECK(Count(answer, "HTTP/1.1 ") == 1);
    CHECK(Count(answer, "Connection: close\r\n") == 1);
  }
  const auto connection = echo.server->Connect();
  CHECK(connection->Call(Soon(), {.target = "/alive"})->body == "GET/alive=;");
}

TEST_CASE("http: hosts and trailers that may be are taken", "[http]") {
  EchoServer echo;
  for (const char* host : {"", "x", "x:", "x:0", "x:65535", "127.0.0.1:80", "[::1]", "[::1]:443",
                           "[fe80::1%25eth0]:1", "a_b.c-d~e", "%C3%A9", "a,b;c=d!$&'()*+"}) {
    INFO(host);
    RawClient client(echo.port());
    client.Send(std::string("GET http://y:1/4 HTTP/1.1\r\nHost: ") + host +
                "\r\n\r\nPOST /5 HTTP/1.1\r\nHost: " + host +
                "\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                "0\r\nA: b\r\nC:\r\n!#$%&'*+-.^_`|~9: d:e\r\n\r\n");
    CHECK(Count(client.ReadAll(), "HTTP/1.1 200 OK\r\n") == 2);
  }
}

TEST_CASE("http: pipelined requests are answered in order, however they are cut", "[http]") {
  EchoServer echo;
  const std::string requests =
      "\r\nGET /1 HTTP/1.1\r\nHost: x\r\n\r\n"
      "POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
      "POST /3 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "2;ext=1\r\nde\r\nA\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n"
      "GET http://y/4?q HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  const std::size_t piece = GENERATE(std::size_t{1}, std::size_t{7}, std::size_t{100'000});
  RawClient client(echo.port());

  for (std::size_t at = 0; at < requests.size(); at += piece) {
    client.Send(std::string_view(requests).substr(at, piece));
  }
  const std::string answers = client.ReadAll();

  const auto first = answers.find("GET/1=;");
  const auto second = answers.find("POST/2=abc;");
  const auto third = answers.find("POST/3=de0123456789;");
  const auto fourth = answers.find("GET/4=;");
  CHECK(first < second);
  CHECK(second < third);
  CHECK(third < fourth);
  CHECK(fourth != std::string::npos);
  CHECK(Count(answers, "Connection: close\r\n") == 1);
}

TEST_CASE("http: an empty line before a request may come in two pieces", "[http]") {
  EchoServer echo;
  RawClient client(echo.port());
  const std::string close = "GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  for (const std::string& piece :
       {std::string("\r"), std::string("\nGET /1 HTTP/1.1\r\nHost: x\r\n\r\n\r"), "\n" + close}) {
    client.Send(piece);
    // Long enough for the server to read it alone.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  CHECK(Count(client.ReadAll(), "HTTP/1.1 200 OK\r\n") == 2);
}

TEST_CASE("http: 100 Continue is sent when somebody wants the body", "[http]") {
  EchoServer echo;
  RawClient client(echo.port());

  client.Send("POST /e HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  const std::string go_on = client.ReadUntil("\r\n\r\n");
  client.Send("ok");
  const std::string answer = client.ReadUntil(";");

  CHECK(go_on == "HTTP/1.1 100 Continue\r\n\r\n");
  CHECK(answer.ends_with("\r\n\r\nPOST/e=ok;"));
  CHECK(Count(answer, "Connection: close") == 0);
}

TEST_CASE("http: an answer without reading the expected body closes", "[http]") {
  TestService service([](Exchange& exchange) { return Answer(exchange, "no"); });
  TestServer server(service.service, Wire::kHttp1);
  RawClient client(server.listener().port());

  client.Send("POST /e HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  const std::string answer = client.ReadAll();

  CHECK(Count(answer, "100 Continue") == 0);
  CHECK(Count(answer, "Connection: close\r\n") == 1);
  CHECK(answer.ends_with("no"));
}

TEST_CASE("http: a body that nobody reads is skipped, and the connection lives", "[http]") {
  TestService service([](Exchange& exchange) { return Answer(exchange, exchange.request().path); });
  TestServer server(service.service, Wire::kHttp1);
  RawClient client(server.listener().port());

  client.Send("POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" +
              std::string(100'000, 'b') +
              "GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answers = client.ReadAll();

  CHECK(Count(answers, "HTTP/1.1 200 OK") == 2);
  CHECK(answers.ends_with("/2"));
}

TEST_CASE("http: a long body that nobody reads closes the connection", "[http]") {
  TestService service([](Exchange& exchange) { return Answer(exchange, "first"); });
  TestServer server(service.service, Wire::kHttp1);
  RawClient client(server.listener().port());

  client.Send("POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 10000000\r\n\r\n");
  const std::string answers = client.ReadAll();

  CHECK(Count(answers, "Connection: close\r\n") == 1);
  CHECK(answers.ends_with("first"));
}

TEST_CASE("http: a body of unknown length that nobody reads closes unless it has come whole",
          "[http]") {
  TestService service([](Exchange& exchange) { return Answer(exchange, exchange.request().path); });
  TestServer server(service.service, Wire::kHttp1);
  RawClient client(server.listener().port());
  const std::string head = " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";

  client.Send("POST /1" + head + "3\r\nabc\r\n0\r\n\r\n");
  const std::string whole = client.ReadUntil("\r\n\r\n/1");
  // The length of the rest is unknown: the client is told not to use the connection again.
  client.Send("POST /2" + head + "3\r\nabc\r\n");
  const std::string part = client.ReadAll();

  CHECK(Count(whole, "Connection: close") == 0);
  CHECK(whole.ends_with("/1"));
  CHECK(Count(part, "Connection: close\r\n") == 1);
  CHECK(part.ends_with("/2"));
}

TEST_CASE("http: HTTP/1.0 gets no chunks and keeps the connection only on request", "[http]") {
  struct Once final : BodySource {
    Pull Next(ChunkWriter& out, const Waker& /*waker*/) override {
      out.Write("streamed");
      return Pull::kEnd;
    }
  };
  TestService service([](Exchange& exchange) {
    if (exchange.request().path == "/fix") return Answer(exchange, "fix");
    exchange.writer().Stream({}, std::make_unique<Once>());
    return Step::Done();
  });
  TestServer server(service.service, Wire::kHttp1);
  RawClient client(server.listener().port());

  client.Send("GET /fix HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const std::string first = client.ReadUntil("fix");
  client.Send("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  const std::string second = client.ReadAll();

  CHECK(Count(first, "Connection: keep-alive\r\n") == 1);
  CHECK(Count(second, "chunked") == 0);
  CHECK(second.ends_with("\r\n\r\nstreamed"));
}

TEST_CASE("http: a stream is chunked and ends with the last chunk", "[http]") {
  struct Twice final : BodySource {
    Pull Next(ChunkWriter& out, const Waker& waker) override {
      out.Write(first ? "hello" : " world!");
      if (!std::exchange(first, false)) return Pull::kEnd;
      waker.Wake();
      return Pull::kWait;
    }
    bool first = true;
  };
  TestService service([](Exchange& exchange) {
    exchange.writer().Stream({}, std::make_unique<Twice>());
    return Step::Done();
  });
  TestServer server(service.service, Wire::kHttp1);
  RawClient client(server.listener().port());

  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string answer = client.ReadUntil("0\r\n\r\n");

  CHECK(Count(answer, "Transfer-Encoding: chunked\r\n") == 1);
  CHECK(answer.ends_with("\r\n\r\n5\r\nhello\r\n7\r\n world!\r\n0\r\n\r\n"));
}

TEST_CASE("http: heads over the limits are 431", "[http]") {
  EchoServer echo({.header_bytes_max = 10'000});
  std::string fields;
  for (int i = 0; i < 257; ++i) fields += "A: b\r\n";
  const std::vector<std::string> heads = {
      "GET / HTTP/1.1\r\nHost: x\r\n" + fields + "\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(10'000, 'a') + "\r\n\r\n",
      "GET /" + std::string(20'000, 'a'),
  };
  for (const auto& head : heads) {
    RawClient client(echo.port());
    client.Send(head);
    const std::string answer = client.ReadAll();
    CHECK(answer.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"));
  }
}

TEST_CASE("http: what filters put into a head cannot begin another field", "[http]") {
  TestService service([](Exchange& exchange) {
    ResponseHead head;
    head.headers.Add("X-A", "b\r\nInjected: yes");
    head.headers.Add("Bad Name", "x");
    head.headers.Add("Content-Length", "999");
    head.headers.Add("Transfer-Encoding", "chunked");
    exchange.writer().Send(std::move(head), "body");
    return Step::Done();
  });
  TestServer server(service.service, Wire::kHttp1);
  RawClient client(server.listener().port());

  client.Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answer = client.ReadAll();

  CHECK(Count(answer, "X-A: b  Injected: yes\r\n") == 1);
  CHECK(Count(answer, "Bad Name") == 0);
  CHECK(Count(answer, "Content-Length: 4\r\n") == 1);
  CHECK(Count(answer, "chunked") == 0);
}

TEST_CASE("http: a reason phrase is passed on from server to server", "[http]") {
  TestService service([](Exchange& exchange) {
    ResponseHead head;
    if (exchange.request().path == "/own") head.reason_phrase = "Fine\r\nBy: me";
    exchange.writer().Send(std::move(head), "");
    return Step::Done();
  });
  TestServer server(service.service, Wire::kHttp1);
  const auto head_of = [&](const char* path) {
    const auto connection = server.Connect();
    return connection->Open({.target = path}).value()->Head(Soon()).value();
  };
  RawClient client(server.listener().port());
  client.Send("GET /own HTTP/1.1\r\nHost: x\r\n\r\n");

  CHECK(client.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 200 Fine  By: me\r\n"));
  CHECK(head_of("/own").reason_phrase == "Fine  By: me");
  CHECK(head_of("/").reason_phrase == "OK");
  // HTTP/2 has none.
  TestServer second(service.service, Wire::kHttp2);
  const auto connection = second.Connect();
  CHECK(connection->Open({.target = "/own"}).value()->Head(Soon())->reason_phrase.empty());
}

TEST_CASE("http: a reset while the handler works ends the exchange once", "[http]") {
  Journal steps;
  Notification go_on;
  TestService service([&](Exchange& exchange) {
    steps.Add("in");
    return Step::OnPool([&] {
      go_on.Wait();
      return Answer(exchange, "nobody");
    });
  });
  TestServer server(service.service, Wire::kHttp1);
  RawClient client(server.listener().port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  REQUIRE(steps.Await("in"));

  client.Reset();
  const auto until = RealClock().Now() + kPatience;
  while (server.listener().connections() > 0 && RealClock().Now() < until) {
    Notification().WaitFor(std::chrono::milliseconds(1));
  }
  CHECK(service.ends.Text().empty());
  go_on.Notify();

  CHECK(service.ends.Await("0 cut"));
  CHECK(service.ends.lines().size() == 1);
}

}  // namespace
}  // namespace http_test
