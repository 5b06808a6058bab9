// Bodies that are read as they come: their order and their ends, and what is held of them.
#include <catch2/catch.hpp>

#include <deque>

#include "support.h"

namespace http_test {
namespace {

// Reads one body, counts it and answers with the count. On the exchange's loop.
struct Reader : std::enable_shared_from_this<Reader> {
  explicit Reader(Exchange& exchange) : exchange_(exchange.Share()) {}

  Step Begin(OpenBodyOptions options = {}) {
    auto opened = exchange_->OpenBody(options);
    if (!opened.ok()) return opened.status();
    body = *std::move(opened);
    if (paused) body->Pause();
    return Step::Later([self = shared_from_this()](Resume resume) {
      self->resume_.emplace(std::move(resume));
      self->body->Start(NewSink({
          .data = [self](auto bytes) { self->OnData(bytes); },
          .end = [self](const Status& status) { self->OnEnd(status); },
      }));
    });
  }

  void OnData(std::string_view bytes) {
    right = right && (came > 0 || bytes.front() == 'a');
    came += bytes.size();
    last = bytes.back();
    held = std::max(held, exchange_->memory()->bodies.used());
    if (each) each();
  }
  void OnEnd(const Status& status) {
    ends.Add(status.ok() ? "ok" : std::to_string(status.code()));
    body.reset();
    if (!status.ok()) return (*std::exchange(resume_, std::nullopt))(status);
    exchange_->writer().Send({}, std::to_string(came) + " " + last + (right ? "" : " wrong"));
    (*std::exchange(resume_, std::nullopt))(Step::Done());
  }

  std::unique_ptr<ReadStream> body;
  bool paused = false;
  std::function<void()> each;
  std::size_t came = 0;
  std::size_t held = 0;
  bool right = true;
  char last = ' ';
  Journal ends;

 private:
  const std::shared_ptr<Exchange> exchange_;
  std::optional<Resume> resume_;
};

// A service that reads every body so.
struct Reading {
  explicit Reading(std::function<void(const std::shared_ptr<Reader>&)> prepare = {})
      : service([this, prepare = std::move(prepare)](Exchange& exchange) {
          auto made = std::make_shared<Reader>(exchange);
          if (prepare) prepare(made);
          *reader.Lock() = made;
          steps.Add("begun");
          return made->Begin();
        }) {}
  std::shared_ptr<Reader> Current() { return *reader.Lock(); }
  const FairShare& share() const { return service.service.memory->bodies; }

  Journal steps;
  TestService service;
  Guarded<std::shared_ptr<Reader>> reader;  // Goes before the service of its exchange.
};

ClientRequest Post(std::size_t bytes) {
  ClientRequest request{.method = "POST", .target = "/", .body = std::string(bytes, 'b')};
  request.body.front() = 'a';
  request.body.back() = 'z';
  return request;
}

TEST_CASE("http: a body of 64 MiB is read as it comes, and nothing of it is kept", "[http]") {
  Reading world;
  TestServer server(world.service.service,
                    GENERATE(Wire::kHttp1, Wire::kHttp2, Wire::kTlsHttp1, Wire::kTlsHttp2));
  const auto connection = server.Connect();

  CHECK(connection->Call(Soon(), Post(64 * kMegabyte))->body == "67108864 z");
  CHECK(world.Current()->held <= (64 << 10));
  // The connection is as good as new.
  CHECK(connection->Call(Soon(), Post(3))->body == "3 z");
  CHECK(world.share().used() == 0);
}

TEST_CASE("http: a reader that pauses after every piece holds a window at most", "[http]") {
  const auto wire = GENERATE(Wire::kHttp1, Wire::kTlsHttp1, Wire::kHttp2);
  Reading world([](const std::shared_ptr<Reader>& reader) {
    reader->each = [raw = reader.get()] {
      raw->body->Pause();
      raw->body->Resume();
    };
  });
  TestServer server(world.service.service, wire);

  CHECK(server.Connect()->Call(Soon(), Post(16 * kMegabyte))->body == "16777216 z");
  CHECK(world.Current()->held <= (256 << 10));
  CHECK(world.share().used() == 0);
}

// Row 89 of docs/security.md.
TEST_CASE("http: the client of a paused body is held back, and what it sent is charged", "[http]") {
  const auto wire = GENERATE(Wire::kHttp2, Wire::kTlsHttp2, Wire::kHttp1);
  Reading world([](const std::shared_ptr<Reader>& reader) { reader->paused = true; });
  TestServer server(world.service.service, wire);
  const auto connection = server.Connect();
  const auto stream = connection->Open(Post(16 * kMegabyte)).value();
  REQUIRE(world.steps.Await("begun"));

  if (wire != Wire::kHttp1) {
    // Exactly the stream's window.
    REQUIRE(Comes(world.share(), 256 << 10));
  } else {
    const auto until = RealClock().Now() + kPatience;
    while (world.share().used() < (64 << 10) && RealClock().Now() < until) {
      Notification().WaitFor(std::chrono::milliseconds(1));
    }
    CHECK(world.share().used() <= (128 << 10));
  }
  CHECK(world.Current()->came == 0);
  world.Current()->body->Resume();

  CHECK(stream->Head(Soon())->code == 200);
  CHECK(stream->Read(Soon()).value() == "16777216 z");
  CHECK(world.Current()->held <= (256 << 10));
  CHECK(world.share().used() == 0);
}

// Row 89 of docs/security.md.
TEST_CASE("http: a streamed body that stands still is 408, unless it may", "[http][slow]") {
  Journal ends;
  TestService service([&](Exchange& exchange) {
    const auto reader = std::make_shared<Reader>(exchange);
    return reader->Begin({.paced = exchange.request().path != "/dialogue"});
  });
  TestServer server(service.service, Wire::kHttp1);
  RawClient patient(server.listener().port());
  RawClient slow(server.listener().port());
  patient.Send("POST /dialogue HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na");
  slow.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" +
            std::string(10'000, 'a'));

  const std::string refused = slow.ReadAll();
  CHECK(refused.starts_with("HTTP/1.1 408 "));
  CHECK(refused.find("\r\nConnection: close\r\n") != std::string::npos);
  patient.Send("bz");
  CHECK(patient.ReadUntil("3 z").starts_with("HTTP/1.1 200 "));
}

TEST_CASE("http: a body that its reader pauses for long is not its client's fault",
          "[http][slow]") {
  Reading world([](const std::shared_ptr<Reader>& reader) { reader->paused = true; });
  TestService refusing(
      [](Exchange& exchange) { return std::make_shared<Reader>(exchange)->Begin(); });
  TestServer server(world.service.service, Wire::kHttp1);
  TestServer measure(refusing.service, Wire::kHttp1);
  RawClient held(server.listener().port());
  held.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n");
  REQUIRE(world.steps.Await("begun"));
  RawClient slow(measure.listener().port());
  slow.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n");

  // It began later and its time is up.
  CHECK(slow.ReadAll().starts_with("HTTP/1.1 408 "));
  world.Current()->body->Resume();
  held.Send("abz");
  CHECK(held.ReadUntil("3 z").starts_with("HTTP/1.1 200 "));
}

TEST_CASE("http: a body is read once, in one way", "[http]") {
  TestService service([](Exchange& exchange) -> Step {
    const bool collected = exchange.body_bytes() > 0;
    const auto opened = exchange.OpenBody({});
    if (collected) return opened.status();
    const auto again = exchange.OpenBody({});
    if (exchange.request().path == "/again") return again.status();
    return exchange.CollectBody(100);
  });
  service.AddFilter().begin = [](Exchange& e) -> Step {
    return e.request().path == "/collected" ? e.CollectBody(100) : Step::Next();
  };
  TestServer server(service.service, Wire::kHttp2);
  const auto connection = server.Connect();
  for (const std::string path : {"/collected", "/again", "/collect-after"}) {
    INFO(path);
    CHECK(connection->Call(Soon(), {.method = "POST", .target = path, .body = "x"})->code == 409);
  }
}

TEST_CASE("http: a request without a body has one that ends at once", "[http]") {
  Reading world;
  TestServer server(world.service.service, GENERATE(Wire::kHttp1, Wire::kHttp2));
  CHECK(server.Connect()->Call(Soon(), {.target = "/"})->body == "0  ");
  const auto local = NewInProcessConnection(world.service.service);
  CHECK(local->Call(Soon(), Post(kMegabyte))->body == "1048576 z");
}

TEST_CASE("http: a reader hears of a client that goes away, and of an answer that was first",
          "[http]") {
  Reading world;
  world.service.AddFilter().begin = [](Exchange& e) {
    if (e.request().path == "/late") {
      e.EndEarlyAfter(std::chrono::milliseconds(1), Exchange::Span::kExchange,
                      [] { return Status(Reason::kTimeout, "late"); });
    }
    return Step::Next();
  };
  TestServer server(world.service.service, Wire::kHttp1);
  RawClient raw(server.listener().port());

  SECTION("the client") {
    raw.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc");
    REQUIRE(world.steps.Await("begun"));
    raw.Reset();
  }
  SECTION("the answer") {
    raw.Send("POST /late HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc");
    CHECK(raw.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 504 "));
  }

  REQUIRE(world.steps.Await("begun"));
  CHECK(world.Current()->ends.Await("400"));
  CHECK(Comes(world.share(), 0));
}

// Answers each piece of the body as it comes.
struct Dialogue final : std::enable_shared_from_this<Dialogue> {
  struct Source final : BodySource {
    explicit Source(std::shared_ptr<Dialogue> of) : dialogue(std::move(of)) {}
    ~Source() override { dialogue->body.reset(); }
    Pull Next(ChunkWriter& out, const Waker& waker) override {
      dialogue->waker = waker;
      if (dialogue->ready.empty()) return dialogue->ended ? Pull::kEnd : Pull::kWait;
      out.Take("<" + dialogue->ready.front() + ">");
      dialogue->ready.pop_front();
      return Pull::kMore;
    }
    std::shared_ptr<Dialogue> dialogue;
  };

  Step Begin(Exchange& exchange) {
    body = exchange.OpenBody({.paced = false}).value();
    body->Start(NewSink({
        .data =
            [self = shared_from_this()](auto bytes) {
              self->ready.emplace_back(bytes);
              self->waker.Wake();
            },
        .end =
            [self = shared_from_this()](const Status&) {
              self->ended = true;
              self->waker.Wake();
            },
    }));
    exchange.writer().Stream({}, std::make_unique<Source>(shared_from_this()));
    return Step::Done();
  }

  std::unique_ptr<ReadStream> body;
  std::deque<std::string> ready;
  bool ended = false;
  Waker waker;
};

TEST_CASE("http: an answer may begin before its request's body has ended", "[http]") {
  TestService service(
      [](Exchange& exchange) { return std::make_shared<Dialogue>()->Begin(exchange); });
  TestServer server(service.service, Wire::kHttp1);
  RawClient client(server.listener().port());

  client.Send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  CHECK(client.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 200 "));
  client.Send("3\r\none\r\n");
  CHECK(client.ReadUntil("<one>").ends_with("<one>\r\n"));
  client.Send("3\r\ntwo\r\n");
  CHECK(client.ReadUntil("<two>").ends_with("<two>\r\n"));
  client.Send("0\r\n\r\n");

  CHECK(client.ReadAll().ends_with("0\r\n\r\n"));
  CHECK(service.ends.Await("200 ok"));
}

TEST_CASE("http: a reader that throws ends its request, not the connection's others", "[http]") {
  Reading world([](const std::shared_ptr<Reader>& reader) {
    reader->each = [] { throw std::runtime_error("oh"); };
  });
  const auto wire = GENERATE(Wire::kHttp1, Wire::kHttp2);
  TestServer server(world.service.service, wire);
  const auto connection = server.Connect();

  CHECK_FALSE(connection->Call(Soon(), Post(1000)).ok());
  CHECK(world.service.ends.Await("0 cut"));
  if (wire == Wire::kHttp2) CHECK(connection->Call(Soon(), {.target = "/"})->code == 200);
}

// Minutes under a sanitizer; run by name.
TEST_CASE("http: a body of 1 GiB is read as it comes", "[.gigabyte]") {
  Reading world([](const std::shared_ptr<Reader>& reader) {
    reader->each = [raw = reader.get()] {
      raw->body->Pause();
      raw->body->Resume();
    };
  });
  TestServer server(world.service.service, GENERATE(Wire::kTlsHttp1, Wire::kTlsHttp2));

  CHECK(server.Connect()->Call(Soon(), Post(1024 * kMegabyte))->body == "1073741824 z");
  WARN("the bodies share held at most " << world.Current()->held);
  CHECK(world.Current()->held <= (256 << 10));
}

}  // namespace
}  // namespace http_test
