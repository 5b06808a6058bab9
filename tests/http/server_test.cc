#include <catch2/catch.hpp>

#include "support.h"

namespace http_test {
namespace {

// "n:" followed by as many bytes as asked, made as they are sent.
class Letters final : public BodySource {
 public:
  explicit Letters(std::size_t count) : left_(count) {}
  Pull Next(ChunkWriter& out, const Waker& /*waker*/) override {
    const std::size_t count = std::min(left_, out.room());
    out.Write(std::string(count, 'x'));
    left_ -= count;
    return left_ > 0 ? Pull::kMore : Pull::kEnd;
  }

 private:
  std::size_t left_;
};

// A watch: events that someone else gives it.
class Feed {
 public:
  void Push(const std::string& event) {
    {
      auto state = state_.Lock();
      state->events.push_back(event);
      Waker waker = state->waker;
      waker.Wake();
    }
  }
  void End() {
    auto state = state_.Lock();
    state->ended = true;
    state->waker.Wake();
  }
  std::unique_ptr<BodySource> Source();

 private:
  friend class FeedSource;
  struct State {
    std::vector<std::string> events;
    Waker waker;
    bool ended = false;
  };
  Guarded<State> state_;
};

class FeedSource final : public BodySource {
 public:
  explicit FeedSource(Feed& feed) : feed_(feed) {}
  Pull Next(ChunkWriter& out, const Waker& waker) override {
    auto state = feed_.state_.Lock();
    state->waker = waker;
    for (const auto& event : std::exchange(state->events, {})) out.Write(event);
    return state->ended ? Pull::kEnd : Pull::kWait;
  }

 private:
  Feed& feed_;
};

std::unique_ptr<BodySource> Feed::Source() { return std::make_unique<FeedSource>(*this); }

Step Echo(Exchange& exchange) {
  if (exchange.request().path == "/stream") {
    exchange.writer().Stream({}, std::make_unique<Letters>(3'000'000));
    return Step::Done();
  }
  std::string text = exchange.request().method + " " + exchange.request().path;
  if (!exchange.body()->empty()) text += " " + std::to_string(exchange.body()->size());
  return Answer(exchange, text);
}

TEST_CASE("http: a streamed body with a length is sent with it, and cut if it has another",
          "[http]") {
  TestService service([](Exchange& exchange) -> Step {
    const std::string& path = exchange.request().path;
    const std::size_t made = path == "/short" ? 99'999 : path == "/long" ? 100'001 : 100'000;
    exchange.writer().Stream({.headers = {{"Content-Length", "100000"}}},
                             std::make_unique<Letters>(made));
    return Step::Done();
  });
  const Wire wire = GENERATE(Wire::kHttp1, Wire::kHttp2);
  TestServer server(service.service, wire);
  const auto connection = server.Connect();

  for (const char* method : {"GET", "HEAD", "GET"}) {
    const auto right = connection->Call(Soon(), {.method = method, .target = "/"});
    REQUIRE(right.ok());
    CHECK(right->headers.Get("content-length") == "100000");
    CHECK_FALSE(right->headers.Has("Transfer-Encoding"));
    CHECK(right->body.size() == (method == std::string_view("GET") ? 100'000 : 0));
  }
  CHECK_FALSE(server.Connect()->Call(Soon(), {.target = "/short"}).ok());
  // Over HTTP/1.1 the client has all that was announced, and the connection ends.
  const auto longer = server.Connect();
  const auto cut = longer->Call(Soon(), {.target = "/long"});
  CHECK((!cut.ok() || cut->body.size() == 100'000));
  CHECK(service.ends.Await("200 cut"));
}

TEST_CASE("http: a request is answered over every wire", "[http]") {
  TestService service(Echo);
  const Wire wire = GENERATE(Wire::kHttp1, Wire::kHttp2, Wire::kTlsHttp1, Wire::kTlsHttp2);
  TestServer server(service.service, wire);
  const auto connection = server.Connect();

  const auto response = connection->Call(Soon(), {.target = "/apis/x%20y?watch=1"});

  REQUIRE(response.ok());
  CHECK(response->code == 200);
  CHECK(response->body == "GET /apis/x y");
  CHECK(response->headers.Get("content-type") == "text/plain");
  CHECK(response->headers.Get("content-length") == "13");
  CHECK(response->headers.Get("date").size() == 29);
}

TEST_CASE("http: a connection serves many requests, one after another and at once", "[http]") {
  TestService service(Echo);
  const Wire wire = GENERATE(Wire::kHttp1, Wire::kHttp2, Wire::kTlsHttp1, Wire::kTlsHttp2);
  TestServer server(service.service, wire);
  const auto connection = server.Connect();

  std::vector<std::unique_ptr<ClientStream>> streams;
  for (int i = 0; i < 300; ++i) {
    streams.push_back(connection->Open({.target = "/" + std::to_string(i)}).value());
  }

  for (int i = 0; i < 300; ++i) {
    const auto body = streams[static_cast<std::size_t>(i)]->Read(Soon());
    REQUIRE(body.ok());
    CHECK(*body == "GET /" + std::to_string(i));
  }
  CHECK(server.listener().connections() == 1);
}

TEST_CASE("http: a long stream arrives whole", "[http]") {
  TestService service(Echo);
  const Wire wire = GENERATE(Wire::kHttp1, Wire::kHttp2, Wire::kTlsHttp1, Wire::kTlsHttp2);
  TestServer server(service.service, wire);
  const auto connection = server.Connect(256 << 10);

  const auto response = connection->Call(Soon(), {.target = "/stream"});

  REQUIRE(response.ok());
  CHECK(response->body == std::string(3'000'000, 'x'));
}

TEST_CASE("http: a request's body is collected", "[http]") {
  TestService service(Echo);
  service.AddFilter().begin = [](Exchange& e) { return e.CollectBody(3 << 20); };
  const Wire wire = GENERATE(Wire::kHttp1, Wire::kHttp2, Wire::kTlsHttp1, Wire::kTlsHttp2);
  TestServer server(service.service, wire);
  const auto connection = server.Connect();

  const auto response = connection->Call(
      Soon(), {.method = "POST", .target = "/b", .body = std::string(2'500'000, 'b')});

  REQUIRE(response.ok());
  CHECK(response->body == "POST /b 2500000");
}

TEST_CASE("http: a body over the limit is refused", "[http]") {
  TestService service(Echo);
  service.AddFilter().begin = [](Exchange& e) { return e.CollectBody(1000); };
  const Wire wire = GENERATE(Wire::kHttp1, Wire::kHttp2);
  TestServer server(service.service, wire);
  const auto connection = server.Connect();

  const auto response =
      connection->Call(Soon(), {.method = "POST", .target = "/b", .body = std::string(1001, 'b')});

  REQUIRE(response.ok());
  CHECK(response->code == 413);
  CHECK(response->body == "Request entity too large: limit is 1000\n");
}

TEST_CASE("http: HEAD has the head of GET and no body", "[http]") {
  TestService service(Echo);
  const Wire wire = GENERATE(Wire::kHttp1, Wire::kHttp2);
  TestServer server(service.service, wire);
  const auto connection = server.Connect();

  const auto response = connection->Call(Soon(), {.method = "HEAD", .target = "/x"});
  const auto next = connection->Call(Soon(), {.target = "/y"});

  REQUIRE(response.ok());
  CHECK(response->headers.Get("content-length") == "7");
  CHECK(response->body.empty());
  REQUIRE(next.ok());
  CHECK(next->body == "GET /y");
}

TEST_CASE("http: a watch delivers each event when it happens, and ends", "[http]") {
  Feed feed;
  TestService service([&](Exchange& exchange) {
    exchange.writer().Stream({}, feed.Source());
    return Step::Done();
  });
  const Wire wire = GENERATE(Wire::kHttp1, Wire::kHttp2, Wire::kTlsHttp1, Wire::kTlsHttp2);
  TestServer server(service.service, wire);
  const auto connection = server.Connect();
  const auto stream = connection->Open({.target = "/watch"}).value();
  REQUIRE(stream->Head(Soon()).ok());

  feed.Push("one\n");
  const auto first = stream->Read(Soon());
  feed.Push("two\n");
  const auto second = stream->Read(Soon());
  feed.End();
  const auto end = stream->Read(Soon());

  REQUIRE((first.ok() && second.ok() && end.ok()));
  CHECK(*first == "one\n");
  CHECK(*second == "two\n");
  CHECK(end->empty());
  CHECK(service.ends.Await("200 ok"));
}

TEST_CASE("http: a body is not asked for the little room that a frame has left", "[http]") {
  struct Pieces final : BodySource {
    explicit Pieces(Journal& asked) : rooms(asked) {}
    Pull Next(ChunkWriter& out, const Waker& /*waker*/) override {
      rooms.Add(out.room() < (2U << 10) ? "little" : "much");
      out.Write(std::string(5'000, 'x'));
      return --left > 0 ? Pull::kMore : Pull::kEnd;
    }
    Journal& rooms;
    int left = 12;  // Less than the window of a stream.
  };
  Journal rooms;
  TestService service([&](Exchange& exchange) {
    exchange.writer().Stream({}, std::make_unique<Pieces>(rooms));
    return Step::Done();
  });
  TestServer server(service.service, GENERATE(Wire::kHttp2, Wire::kTlsHttp2));

  CHECK(server.Connect()->Call(Soon(), {.target = "/"})->body == std::string(60'000, 'x'));

  CHECK(rooms.lines() == std::vector<std::string>(12, "much"));
}

TEST_CASE("http: a reader that is slow holds the source back", "[http]") {
  struct Counting final : BodySource {
    explicit Counting(std::atomic<std::size_t>& m) : made(m) {}
    Pull Next(ChunkWriter& out, const Waker& /*waker*/) override {
      const std::string some(out.room(), 'x');
      out.Write(some);
      made += some.size();
      return made > (64U << 20) ? Pull::kEnd : Pull::kMore;
    }
    std::atomic<std::size_t>& made;
  };
  std::atomic<std::size_t> made{0};
  TestService service([&](Exchange& exchange) {
    if (exchange.request().path != "/big") return Answer(exchange, "ok");
    exchange.writer().Stream({}, std::make_unique<Counting>(made));
    return Step::Done();
  });
  TestServer server(service.service, GENERATE(Wire::kHttp2, Wire::kTlsHttp2));
  const auto connection = server.Connect(128 << 10);
  const auto stream = connection->Open({.target = "/big"}).value();
  REQUIRE(stream->Head(Soon()).ok());

  // Other streams of the connection go on meanwhile.
  for (int i = 0; i < 50; ++i) REQUIRE(connection->Call(Soon(), {.target = "/"}).ok());
  const std::size_t held = made.load();
  std::size_t total = 0;
  for (;;) {
    const auto bytes = stream->Read(Soon());
    REQUIRE(bytes.ok());
    if (bytes->empty()) break;
    total += bytes->size();
  }

  CHECK(held < (1U << 20));
  CHECK(total > (64U << 20));
}

// News are flushed in their turn, answers before it: the same connection has both.
TEST_CASE("http: events between a connection's answers come whole and in order", "[http]") {
  constexpr int kEvents = 300;
  Feed feed;
  TestService service([&](Exchange& exchange) {
    if (exchange.request().path != "/watch") return Answer(exchange, "ok");
    exchange.writer().Stream({}, feed.Source());
    return Step::Done();
  });
  TestServer server(service.service, GENERATE(Wire::kHttp2, Wire::kTlsHttp2));
  const auto connection = server.Connect();
  const auto stream = connection->Open({.target = "/watch"}).value();
  REQUIRE(stream->Head(Soon()).ok());
  std::string expected;

  for (int i = 0; i < kEvents; ++i) {
    feed.Push(std::to_string(i) + "\n");
    expected += std::to_string(i) + "\n";
    if (i % 3 == 0) REQUIRE(connection->Call(Soon(), {.target = "/"}).ok());
  }
  feed.End();
  std::string came;
  for (;;) {
    const auto bytes = stream->Read(Soon());
    REQUIRE(bytes.ok());
    if (bytes->empty()) break;
    came += *bytes;
  }

  CHECK(came == expected);
}

TEST_CASE("http: who goes away is noticed while a watch is idle", "[http]") {
  Feed feed;
  TestService service([&](Exchange& exchange) {
    exchange.writer().Stream({}, feed.Source());
    return Step::Done();
  });
  TestServer server(service.service,
                    GENERATE(Wire::kHttp1, Wire::kHttp2, Wire::kTlsHttp1, Wire::kTlsHttp2));
  const auto connection = server.Connect();
  auto stream = connection->Open({.target = "/watch"}).value();
  REQUIRE(stream->Head(Soon()).ok());

  stream.reset();

  CHECK(service.ends.Await("200 cut"));
}

TEST_CASE("http: an upgrade turns the connection into a tunnel", "[http]") {
  TestService service([](Exchange& exchange) -> Step {
    ResponseHead head;
    head.code = 101;
    head.headers.Add("Upgrade", "echo");
    auto shared = std::make_shared<std::unique_ptr<Tunnel>>();
    const Status status = exchange.writer().Upgrade(head, [shared](std::unique_ptr<Tunnel> tunnel) {
      *shared = std::move(tunnel);
      (*shared)->Start(NewSink({
          .data = [shared](auto bytes) { (*shared)->Write("<" + std::string(bytes) + ">"); },
          .end = [shared](const Status&) { shared->reset(); },
      }));
    });
    return status.ok() ? Step::Done() : Step(status);
  });
  const Wire wire = GENERATE(Wire::kHttp1, Wire::kTlsHttp1, Wire::kHttp2);
  TestServer server(service.service, wire);
  const auto connection = server.Connect();
  const auto stream =
      connection
          ->Open({.target = "/exec", .headers = {{"Connection", "Upgrade"}, {"Upgrade", "echo"}}})
          .value();

  const auto head = stream->Head(Soon());
  REQUIRE(head.ok());
  if (wire == Wire::kHttp2) {
    CHECK(head->code == 400);
    return;
  }
  CHECK(head->code == 101);
  CHECK(head->headers.Get("upgrade") == "echo");
  REQUIRE(stream->Write("hello").ok());
  CHECK(stream->Read(Soon()).value() == "<hello>");
  REQUIRE(stream->Write("again").ok());
  CHECK(stream->Read(Soon()).value() == "<again>");
  stream->Cancel();
  CHECK(service.ends.Await("101 ok"));
}

TEST_CASE("http: a drain loses no answer and then lets the connection go", "[http]") {
  Journal entered;
  Notification go_on;
  TestService service([&](Exchange& exchange) {
    entered.Add("in");
    return Step::OnPool([&] {
      go_on.Wait();
      return Answer(exchange, "late");
    });
  });
  TestServer server(service.service, GENERATE(Wire::kHttp1, Wire::kHttp2, Wire::kTlsHttp2));
  const auto connection = server.Connect();
  const auto stream = connection->Open({.target = "/slow"}).value();
  REQUIRE(entered.Await("in"));

  server.listener().Drain();
  go_on.Notify();
  const auto body = stream->Read(Soon());
  const auto end = stream->Read(Soon());
  server.listener().Stop(kPatience);
  server.listener().Stop(kPatience);

  REQUIRE(body.ok());
  CHECK(*body == "late");
  REQUIRE(end.ok());
  CHECK(end->empty());
  CHECK(server.listener().connections() == 0);
  CHECK(service.ends.Text() == "200 ok");
}

// Over HTTP/1.1 it once stayed, and its loop spun, until the server closed it by force.
TEST_CASE("http: a drain closes connections that stay idle", "[http]") {
  TestService service([](Exchange& exchange) { return Answer(exchange, "ok"); });
  TestServer server(service.service, GENERATE(Wire::kHttp1, Wire::kHttp2, Wire::kTlsHttp2));
  const auto connection = server.Connect();
  REQUIRE(connection->Call(Soon(), {.target = "/"}).ok());

  server.listener().Drain();

  CHECK(server.listener().WaitUntilNoConnections(kPatience));
}

// A suite with HTTP clients once paid a second for each server.
TEST_CASE("http: a drain closes an idle connection at once", "[http]") {
  TestService service([](Exchange& exchange) { return Answer(exchange, "ok"); });
  // An HTTP/2 client that has seen the GOAWAY says so.
  TestServer server(service.service, GENERATE(Wire::kHttp1, Wire::kTlsHttp2),
                    {.goaway_timeout = std::chrono::hours(1)});
  const auto connection = server.Connect();
  REQUIRE(connection->Call(Soon(), {.target = "/"}).ok());

  const auto begun = RealClock().Now();
  server.listener().Stop(kPatience);

  CHECK(RealClock().Now() - begun < std::chrono::milliseconds(500));
}

TEST_CASE("http: idle_drain keeps an idle connection open for a request", "[http]") {
  TestService service([](Exchange& exchange) { return Answer(exchange, "ok"); });
  TestServer server(service.service, Wire::kHttp1, {.idle_drain = std::chrono::hours(1)});
  const auto connection = server.Connect();
  REQUIRE(connection->Call(Soon(), {.target = "/"}).ok());

  server.listener().Drain();

  CHECK_FALSE(server.listener().WaitUntilNoConnections(std::chrono::milliseconds(50)));
  CHECK(connection->Call(Soon(), {.target = "/"}).ok());
  CHECK(server.listener().WaitUntilNoConnections(kPatience));
}

// Clients repeat no request that a new connection loses.
TEST_CASE("http: a drain lets a new connection send its first request", "[http]") {
  TestService service([](Exchange& exchange) { return Answer(exchange, "ok"); });
  TestServer server(service.service, Wire::kTlsHttp1);
  const auto fresh = server.Connect();
  // The listener's only loop has made the handshakes of both once it answers the second.
  const auto second = server.Connect();
  REQUIRE(second->Call(Soon(), {.target = "/"}).ok());

  server.listener().Drain();

  CHECK(fresh->Call(Soon(), {.target = "/"}).ok());
  CHECK(server.listener().WaitUntilNoConnections(kPatience));
}

TEST_CASE("http: a stop without grace cuts what is open", "[http]") {
  Feed feed;
  TestService service([&](Exchange& exchange) {
    exchange.writer().Stream({}, feed.Source());
    return Step::Done();
  });
  TestServer server(service.service, GENERATE(Wire::kHttp1, Wire::kTlsHttp2));
  const auto connection = server.Connect();
  const auto stream = connection->Open({.target = "/watch"}).value();
  REQUIRE(stream->Head(Soon()).ok());

  server.listener().Stop(std::chrono::milliseconds(0));
  const auto end = stream->Read(Soon());

  CHECK(end.status().reason() == Reason::kServiceUnavailable);
  CHECK(service.ends.Text() == "200 cut");
}

TEST_CASE("http: close_connection ends the connection after the answer", "[http]") {
  TestService service([](Exchange& exchange) {
    ResponseHead head;
    head.close_connection = true;
    exchange.writer().Send(std::move(head), "bye");
    return Step::Done();
  });
  TestServer server(service.service, GENERATE(Wire::kHttp1, Wire::kHttp2, Wire::kTlsHttp2));
  const auto connection = server.Connect();

  const auto response = connection->Call(Soon(), {.target = "/"});
  REQUIRE(response.ok());
  CHECK(response->body == "bye");
  server.listener().Stop(kPatience);
  // The client's loop hears of it in its own time.
  const auto until = RealClock().Now() + kPatience;
  while (!connection->closed() && RealClock().Now() < until) {
    Notification().WaitFor(std::chrono::milliseconds(5));
  }
  CHECK(connection->closed());
}

TEST_CASE("http: a taken port is a conflict, and port 0 is a free one", "[http]") {
  TestService service(Echo);
  TestServer server(service.service, Wire::kHttp1);

  const auto second = Listen({.port = server.listener().port()}, service.service);

  CHECK(server.listener().port() > 0);
  CHECK(second.status().reason() == Reason::kConflict);
}

TEST_CASE("http: a connection that says nothing is closed after the header timeout", "[http]") {
  TestService service(Echo);
  TestServer server(service.service, Wire::kHttp1,
                    {.header_timeout = std::chrono::milliseconds(50)});
  RawClient silent(server.listener().port());
  RawClient slow(server.listener().port());
  slow.Send("GET / HT");

  CHECK(silent.ReadAll().empty());
  CHECK(slow.ReadAll().empty());
}

TEST_CASE("http: an idle connection is closed after the idle timeout", "[http][slow]") {
  TestService service(Echo);
  TestServer server(service.service, GENERATE(Wire::kHttp1, Wire::kHttp2),
                    {.idle_timeout = std::chrono::seconds(2)});
  const auto connection = server.Connect();
  REQUIRE(connection->Call(Soon(), {.target = "/"}).ok());

  const auto until = RealClock().Now() + kPatience;
  while (!connection->closed() && RealClock().Now() < until) {
    Notification().WaitFor(std::chrono::seconds(3));
    (void)connection->Call(Context::Child(Context::Background()), {.target = "/"});
  }
  CHECK(connection->closed());
}

TEST_CASE("http: a peer that does not read is closed when its time is up", "[http]") {
  TestService service([](Exchange& exchange) {
    exchange.writer().Stream({}, std::make_unique<Letters>(std::size_t{1} << 30));
    return Step::Done();
  });
  TestServer server(service.service, Wire::kHttp1,
                    {.write_stall_timeout = std::chrono::milliseconds(100)});
  RawClient stalled(server.listener().port());

  stalled.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");

  CHECK(service.ends.Await("200 cut"));
}

TEST_CASE("http: several threads serve many connections", "[http]") {
  TestService service([](Exchange& exchange) {
    return Step::OnPool([&exchange] { return Answer(exchange, "pooled"); });
  });
  TestServer server(service.service, Wire::kTlsHttp2, {.threads = 3});
  std::vector<std::unique_ptr<Connection>> connections;
  for (int i = 0; i < 6; ++i) connections.push_back(server.Connect());

  std::vector<std::unique_ptr<ClientStream>> streams;
  for (int i = 0; i < 600; ++i) {
    streams.push_back(connections[static_cast<std::size_t>(i % 6)]->Open({.target = "/"}).value());
  }

  for (const auto& stream : streams) CHECK(stream->Read(Soon()).value() == "pooled");
}

}  // namespace
}  // namespace http_test
