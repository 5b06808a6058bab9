#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>

#include "support.h"

namespace http_test {
namespace {

// Requests of one connection that come in one piece are led through the filters together.
// driver_line.cc has the reason.

const std::string kHello = std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") +
                           std::string("\0\0\0\4\0\0\0\0\0", 9);  // An empty SETTINGS.

std::string PieceOf(char type, char flags, char stream, const std::string& payload) {
  const std::string head{0, 0, static_cast<char>(payload.size()), type, flags, 0, 0, 0, stream};
  return head + payload;
}

// HEADERS of a request for `path`, with the method of HPACK's static table.
std::string HeadOf(char stream, const std::string& path, char method = '\x82', char flags = 5) {
  return PieceOf(
      1, flags, stream,
      method + std::string("\x86\x04") + static_cast<char>(path.size()) + path + "\x41\x01x");
}

std::string Get(char stream, const std::string& path) { return HeadOf(stream, path); }

std::string ResetOf(char stream) { return PieceOf(3, 0, stream, std::string("\0\0\0\x08", 4)); }

std::string PathOf(Exchange& exchange) { return std::string(exchange.request().path); }

Step Tell(Exchange& exchange, const std::string& text) {
  return Answer(exchange, "<" + text + ">");
}

std::vector<std::string> InOrder(std::vector<std::string> lines) {
  std::ranges::sort(lines);
  return lines;
}

// Adds a filter that tells the journal of each request, before and after.
void AddWitness(TestService& service, Journal& journal, const std::string& name) {
  LambdaFilter& filter = service.AddFilter();
  filter.begin = [&journal, name](Exchange& exchange) {
    journal.Add(name + PathOf(exchange));
    return Step::Next();
  };
  filter.head = [&journal, name](Exchange& exchange, ResponseHead&) {
    journal.Add("~" + name + PathOf(exchange));
  };
}

TEST_CASE("http: each filter begins with all requests of a piece, and ends their heads so",
          "[http]") {
  Journal journal;
  TestService service([&](Exchange& exchange) {
    journal.Add("h" + PathOf(exchange));
    return Tell(exchange, PathOf(exchange));
  });
  AddWitness(service, journal, "a");
  AddWitness(service, journal, "b");
  TestServer server(service.service, Wire::kHttp2);
  RawClient client(server.listener().port());

  client.Send(kHello + Get(1, "/1") + Get(3, "/2") + Get(5, "/3"));

  CHECK(client.ReadUntil("</3>").find("</1>") != std::string::npos);
  CHECK(journal.Text() == "a/1 a/2 a/3 b/1 b/2 b/3 h/1 h/2 h/3 ~b/1 ~b/2 ~b/3 ~a/1 ~a/2 ~a/3");
  CHECK(service.ends.AwaitCount(3));
}

// A clock that tells another time at each reading.
class CountingClock final : public Clock {
 public:
  Monotonic Now() const override { return Monotonic(std::chrono::seconds(++readings_)); }
  Wall WallNow() const override { return Wall(std::chrono::seconds(100 + ++wall_readings_)); }

 private:
  mutable std::atomic<int> readings_{0};
  mutable std::atomic<int> wall_readings_{0};
};

TEST_CASE("http: requests in line share one reading of the clock a filter", "[http]") {
  const CountingClock clock;
  const CountingClock other;
  Journal journal;
  const auto read = [&](const char* name, const Clock& from, Exchange& exchange) {
    const auto seconds = exchange.FilterBegan(from).time_since_epoch() / std::chrono::seconds(1);
    journal.Add(name + std::to_string(seconds));
  };
  TestService service([&](Exchange& exchange) {
    read("h", clock, exchange);
    return Tell(exchange, PathOf(exchange));
  });
  for (const char* name : {"a", "b"}) {
    service.AddFilter().begin = [&, name](Exchange& exchange) {
      read(name, clock, exchange);
      read(name, clock, exchange);
      return Step::Next();
    };
  }
  service.AddFilter().begin = [&](Exchange& exchange) {
    read("o", other, exchange);
    return Step::OnPool([] { return Step::Next(); });
  };
  TestServer server(service.service, Wire::kHttp2);
  RawClient client(server.listener().port());

  client.Send(kHello + Get(1, "/1") + Get(3, "/2"));
  REQUIRE(service.ends.AwaitCount(2));

  // The handlers run alone, each with a reading of its own.
  const auto lines = journal.lines();
  CHECK(std::vector(lines.begin(), lines.begin() + 10) ==
        std::vector<std::string>{"a1", "a1", "a1", "a1", "b2", "b2", "b2", "b2", "o1", "o1"});
  CHECK(InOrder({lines.begin() + 10, lines.end()}) == std::vector<std::string>{"h3", "h4"});
}

TEST_CASE("http: heads and ends of requests in line share readings of clocks, too", "[http]") {
  const CountingClock clock;
  Journal journal;
  const auto read = [&](const char* name, Exchange& exchange) {
    const auto now = exchange.FilterBegan(clock).time_since_epoch() / std::chrono::seconds(1);
    const auto wall = exchange.FilterBeganWall(clock).time_since_epoch() / std::chrono::seconds(1);
    journal.Add(name + std::to_string(now) + " " + std::to_string(wall));
  };
  TestService service([&](Exchange& exchange) { return Tell(exchange, PathOf(exchange)); });
  for (int i = 0; i < 2; ++i) {
    LambdaFilter& filter = service.AddFilter();
    filter.begin = [&](Exchange& exchange) {
      read("begin", exchange);
      return Step::Next();
    };
    filter.head = [&](Exchange& exchange, ResponseHead&) { read("head", exchange); };
    filter.end = [&](Exchange& exchange, const Outcome&) { read("end", exchange); };
  }
  TestServer server(service.service, Wire::kHttp2);
  RawClient client(server.listener().port());

  client.Send(kHello + Get(1, "/1") + Get(3, "/2"));
  REQUIRE(service.ends.AwaitCount(2));

  CHECK(journal.Text() ==
        "begin1 101 begin1 101 begin2 102 begin2 102 head3 103 head3 103 head4 104 head4 104 "
        "end5 105 end5 105 end5 105 end5 105");
}

TEST_CASE("http: a request that leaves the others at a filter holds none of them up", "[http]") {
  TestService service([](Exchange& exchange) { return Tell(exchange, PathOf(exchange)); });
  service.AddFilter().begin = [](Exchange& exchange) -> Step {
    const std::string path = PathOf(exchange);
    if (path == "/done") return Tell(exchange, "done");
    if (path == "/error") return Status(Reason::kForbidden, "<error>");
    if (path == "/throw") throw std::runtime_error("thrown");
    if (path == "/pool") return Step::OnPool([] { return Step::Next(); });
    if (path == "/block" && !exchange.ctx().may_block()) return Status(Reason::kWouldBlock, "");
    if (path == "/later") {
      return Step::Later([&exchange](Resume resume) {
        exchange.pool().Post([resume = std::move(resume)]() mutable { resume(Step::Next()); });
      });
    }
    return Step::Next();
  };
  Journal after;
  AddWitness(service, after, "");
  TestServer server(service.service, Wire::kHttp2);
  RawClient client(server.listener().port());

  client.Send(kHello + Get(1, "/1") + Get(3, "/done") + Get(5, "/error") + Get(7, "/throw") +
              Get(9, "/pool") + Get(11, "/block") + Get(13, "/later") + Get(15, "/2"));
  REQUIRE(service.ends.AwaitCount(8));
  client.Send(PieceOf(7, 0, 0, std::string(8, '\0')));
  const std::string said = client.ReadAll();

  for (const char* text :
       {"</1>", "<done>", "<error>", "</pool>", "</block>", "</later>", "</2>"}) {
    INFO(text);
    CHECK(said.find(text) != std::string::npos);
  }
  CHECK(InOrder(service.ends.lines()) == std::vector<std::string>{"200 ok", "200 ok", "200 ok",
                                                                  "200 ok", "200 ok", "200 ok",
                                                                  "403 ok", "500 ok"});
  const auto begun = after.lines();
  for (const char* line : {"/done", "/error", "/throw"})
    CHECK(std::ranges::count(begun, line) == 0);
  for (const char* line : {"/1", "/pool", "/block", "/later", "/2"}) {
    CHECK(std::ranges::count(begun, line) == 1);
  }
}

TEST_CASE("http: a filter that throws at one head spoils that answer only", "[http]") {
  TestService service([](Exchange& exchange) { return Tell(exchange, PathOf(exchange)); });
  service.AddFilter().head = [](Exchange& exchange, ResponseHead&) {
    if (PathOf(exchange) == "/2") throw std::runtime_error("thrown");
  };
  Journal outer;
  AddWitness(service, outer, "");
  TestServer server(service.service, Wire::kHttp2);
  RawClient client(server.listener().port());

  client.Send(kHello + Get(1, "/1") + Get(3, "/2") + Get(5, "/3"));
  const std::string said = client.ReadUntil("</3>");

  CHECK(said.find("</1>") != std::string::npos);
  CHECK(said.find("</2>") == std::string::npos);
  CHECK(service.ends.AwaitCount(3));
  CHECK(InOrder(service.ends.lines()) == std::vector<std::string>{"200 ok", "200 ok", "500 ok"});
}

TEST_CASE("http: a body in the same piece as its head reaches its own request", "[http]") {
  TestService service(
      [](Exchange& exchange) { return Tell(exchange, PathOf(exchange) + *exchange.body()); });
  service.AddFilter().begin = [](Exchange& exchange) { return exchange.CollectBody(1000); };
  TestServer server(service.service, Wire::kHttp2);
  RawClient client(server.listener().port());
  const std::string trailers("\x00\x01\x61\x01\x62", 5);

  client.Send(kHello + Get(1, "/1") + HeadOf(3, "/2", '\x83', 4) + PieceOf(0, 1, 3, "two") +
              HeadOf(5, "/3", '\x83', 4) + PieceOf(0, 0, 5, "thr") + PieceOf(0, 0, 5, "ee") +
              PieceOf(1, 5, 5, trailers) + HeadOf(7, "/4", '\x83', 4) + PieceOf(0, 1, 7, "") +
              HeadOf(9, "/5", '\x83', 4) + PieceOf(1, 5, 9, trailers));
  REQUIRE(service.ends.AwaitCount(5));
  client.Send(PieceOf(7, 0, 0, std::string(8, '\0')));
  const std::string said = client.ReadAll();

  for (const char* text : {"</1>", "</2two>", "</3three>", "</4>", "</5>"}) {
    INFO(text);
    CHECK(said.find(text) != std::string::npos);
  }
}

TEST_CASE("http: a reset in the same piece as its head ends that request only", "[http]") {
  Journal begun;
  TestService service([](Exchange& exchange) { return Tell(exchange, PathOf(exchange)); });
  AddWitness(service, begun, "");
  TestServer server(service.service, Wire::kHttp2);
  RawClient client(server.listener().port());

  client.Send(kHello + Get(1, "/1") + Get(3, "/2") + ResetOf(3) + Get(5, "/3") + ResetOf(5) +
              Get(7, "/4"));
  const std::string said = client.ReadUntil("</4>");

  CHECK(said.find("</1>") != std::string::npos);
  CHECK(service.ends.AwaitCount(4));
  CHECK(InOrder(service.ends.lines()) ==
        std::vector<std::string>{"200 cut", "200 cut", "200 ok", "200 ok"});
}

TEST_CASE("http: requests whose client leaves at once have begun and end once", "[http]") {
  Journal begun;
  TestService service([](Exchange& exchange) { return Tell(exchange, PathOf(exchange)); });
  AddWitness(service, begun, "");
  TestServer server(service.service, Wire::kHttp2);
  {
    RawClient client(server.listener().port());
    client.Send(kHello + Get(1, "/1") + Get(3, "/2") + Get(5, "/3"));
  }

  CHECK(service.ends.AwaitCount(3));
  server.StopListening();
  CHECK(service.ends.lines().size() == 3);
  CHECK(begun.lines().size() >= 3);
}

TEST_CASE("http: streams of one piece count against the limit before they start", "[http]") {
  Journal begun;
  TestService service([](Exchange& exchange) { return Tell(exchange, PathOf(exchange)); });
  AddWitness(service, begun, "");
  TestServer server(service.service, Wire::kHttp2, {.streams_max = 2});
  RawClient client(server.listener().port());

  client.Send(kHello + Get(1, "/1") + Get(3, "/2") + Get(5, "/3"));
  REQUIRE(service.ends.AwaitCount(2));
  client.Send(PieceOf(7, 0, 0, std::string(8, '\0')));
  const std::string said = client.ReadAll();

  // REFUSED_STREAM: the client may ask again.
  CHECK(said.find(PieceOf(3, 0, 5, std::string("\0\0\0\x07", 4))) != std::string::npos);
  CHECK(std::ranges::count(begun.lines(), "/3") == 0);
}

}  // namespace
}  // namespace http_test
