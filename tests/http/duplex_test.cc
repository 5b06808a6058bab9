// Streams of a client: a body that is written while the response is read, and how each may end.
#include <catch2/catch.hpp>

#include "support.h"
#include "talker.h"

namespace http_test {
namespace {

// Sends a request's body back as its answer, as it comes. Holds one piece.
struct Echoing final : StreamSink, BodySource {
  void OnData(std::string_view bytes) override {
    waiting += bytes;
    body->Pause();
    waker->Wake();
  }
  void OnEnd(const Status& status) override {
    ended = true;
    failed = !status.ok();
    if (waker) waker->Wake();
  }
  Pull Next(ChunkWriter& out, const Waker& wake) override {
    if (!std::exchange(waker, wake)) body->Start(self.lock());
    if (!waiting.empty()) {
      out.Take(std::exchange(waiting, {}));
      body->Resume();
      return Pull::kMore;
    }
    if (!ended) return Pull::kWait;
    return failed ? Pull::kAbort : Pull::kEnd;
  }

  std::weak_ptr<Echoing> self;
  std::unique_ptr<ReadStream> body;
  std::optional<Waker> waker;
  std::string waiting;
  bool ended = false;
  bool failed = false;
};

// A source that others keep too.
struct Shared final : BodySource {
  explicit Shared(std::shared_ptr<BodySource> source) : inner(std::move(source)) {}
  Pull Next(ChunkWriter& out, const Waker& wake) override { return inner->Next(out, wake); }
  std::shared_ptr<BodySource> inner;
};

// Makes bytes for as long as they are pulled, up to a number; then aborts, if it should.
struct Spring final : BodySource {
  Pull Next(ChunkWriter& out, const Waker& /*wake*/) override {
    if (made >= last) return aborts ? Pull::kAbort : Pull::kEnd;
    out.Take(std::string(kTalkerPieceBytes, TalkerByte(made)));
    made += kTalkerPieceBytes;
    return Pull::kMore;
  }
  std::atomic<std::size_t> made{0};
  std::size_t last = 256 * kMegabyte;
  bool aborts = false;
};

// Serves /echo, /tunnel (the same after an upgrade), /spring, /abort, /early (an answer that waits
// for no body) and /hold (none until Release).
struct World {
  explicit World(Wire wire, ListenerOptions options = {})
      : service([this](Exchange& exchange) { return Serve(exchange); }),
        server(service.service, wire, std::move(options)) {}
  // A request may arrive after the first release, and what it holds must go before its service.
  ~World() {
    Release();
    server.StopListening();
    Release();
  }

  Step Serve(Exchange& exchange) {
    const std::string& path = exchange.request().path;
    if (path == "/echo") {
      const auto echo = std::make_shared<Echoing>();
      echo->self = echo;
      echo->body = exchange.OpenBody({.paced = false}).value();
      exchange.writer().Stream({}, std::make_unique<Shared>(echo));
      return Step::Done();
    }
    if (path == "/spring" || path == "/abort") {
      if (path == "/abort") spring->last = kTalkerPieceBytes;
      spring->aborts = path == "/abort";
      exchange.writer().Stream({}, std::make_unique<Shared>(spring));
      return Step::Done();
    }
    if (path == "/tunnel") return Tunnelled(exchange);
    if (path == "/early") return Answer(exchange, "early");
    return Step::Later([this](Resume resume) {
      held.Lock()->push_back(std::move(resume));
      steps.Add("held");
    });
  }
  static Step Tunnelled(Exchange& exchange) {
    const Status opened = exchange.writer().Upgrade(
        {.code = 101, .headers = {{"Upgrade", "raw"}}}, [](std::unique_ptr<Tunnel> made) {
          const std::shared_ptr<Tunnel> tunnel = std::move(made);
          tunnel->Start(NewSink({
              .data =
                  [tunnel](auto bytes) {
                    if (!tunnel->Write(std::string(bytes))) tunnel->Pause();
                  },
              .end = [tunnel](const Status&) { tunnel->CloseWrite(); },
              .room = [tunnel] { tunnel->Resume(); },
          }));
        });
    return opened.ok() ? Step::Done() : Step(opened);
  }
  void Release() {
    auto resumes = std::exchange(*held.Lock(), {});
    for (Resume& resume : resumes) resume(Status(Reason::kConflict, "held"));
  }

  Journal steps;
  std::shared_ptr<Spring> spring = std::make_shared<Spring>();
  Guarded<std::vector<Resume>> held;
  TestService service;
  TestServer server;
};

ClientRequestHead Post(std::string target, std::optional<std::uint64_t> bytes = std::nullopt) {
  return {.method = "POST", .target = std::move(target), .body_bytes = bytes};
}

ClientRequestHead EchoUpgradeHead() {
  return {.target = "/tunnel",
          .headers = {{"Host", "x"}, {"Connection", "Upgrade"}, {"Upgrade", "raw"}}};
}

const std::string kCancelled = Status(Reason::kTimeout, "cancelled").ToString();

auto AnyWire() { return GENERATE(Wire::kHttp1, Wire::kHttp2, Wire::kTlsHttp1, Wire::kTlsHttp2); }

// The most that is held of 64 MiB on their way: windows, and bytes that wait at both ends in
// buffers of sockets, records and allocators. Some 2.2 MB were seen.
constexpr std::size_t kHeldMax = 4 * kMegabyte;

TEST_CASE("http: 64 MiB go each way through a client's stream, and nearly nothing is held",
          "[http]") {
  World world(AnyWire());
  const auto connection = world.server.Connect(/*window_bytes=*/64 << 10);
  const auto talker = std::make_shared<Talker>(world.server.dialer().loop(), 64 * kMegabyte,
                                               std::chrono::seconds(0));

  SECTION("unknown length") { talker->Begin(connection->OpenStream(Post("/echo")).value()); }
  SECTION("known length") {
    talker->Begin(connection->OpenStream(Post("/echo", 64 * kMegabyte)).value());
  }
  // Nothing is read until everything on the way is full.
  REQUIRE(talker->stopped.WaitFor(kPatience));
  talker->Resume();

  CHECK(talker->steps.Await("end"));
  CHECK(talker->steps.Text() == "200 end");
  CHECK(talker->came == 64 * kMegabyte);
  CHECK(talker->right);
  CHECK(talker->stops > 50);
  CHECK(talker->heap_peak < talker->heap_before + kHeldMax);
  CHECK(world.service.ends.Await("200 ok"));
  // Over HTTP/1.1 the server closes after an answer that did not wait for the whole body.
  if (connection->multiplexed()) {
    CHECK(connection->Call(Soon(), {.target = "/early"})->body == "early");
  }
}

TEST_CASE("http: 64 MiB go each way through a client's upgrade, and nearly nothing is held",
          "[http]") {
  World world(GENERATE(Wire::kHttp1, Wire::kTlsHttp1));
  const auto connection = world.server.Connect(/*window_bytes=*/64 << 10);
  const auto talker = std::make_shared<Talker>(world.server.dialer().loop(), 64 * kMegabyte,
                                               std::chrono::seconds(0));

  talker->Begin(connection->OpenUpgrade(EchoUpgradeHead()).value());
  REQUIRE(talker->stopped.WaitFor(kPatience));
  talker->Resume();

  CHECK(talker->steps.Await("end"));
  CHECK(talker->steps.Text() == "101 end");
  CHECK(talker->came == 64 * kMegabyte);
  CHECK(talker->right);
  CHECK(talker->heap_peak < talker->heap_before + kHeldMax);
  CHECK(world.service.ends.Await("101 ok"));
  CHECK(connection->closed());
}

// 64 seconds; run by name.
TEST_CASE("http: a client's stream that is read at 1 MB/s makes the process no larger", "[.rate]") {
  World world(Wire::kTlsHttp2);
  const auto connection = world.server.Connect(/*window_bytes=*/64 << 10);
  const auto talker = std::make_shared<Talker>(world.server.dialer().loop(), 64 * kMegabyte,
                                               std::chrono::microseconds(1000));

  talker->Begin(connection->OpenStream(Post("/echo")).value());
  talker->Resume();
  while (!talker->steps.Await("end")) continue;

  WARN("heap grew by " << talker->heap_peak - talker->heap_before);
  CHECK(talker->came == 64 * kMegabyte);
  CHECK(talker->right);
  CHECK(talker->heap_peak < talker->heap_before + kHeldMax);
}

TEST_CASE("http: the server of a paused stream is held back", "[http]") {
  const Wire wire = AnyWire();
  World world(wire);
  const auto connection = world.server.Connect(/*window_bytes=*/64 << 10);
  auto opened = connection->OpenStream({.target = "/spring"}).value();
  opened->Pause();
  Told told(std::move(opened));

  REQUIRE(told.steps().Await("200"));
  // It is steady once everything on the way is full.
  std::size_t made = 0;
  while (made == 0 || made != world.spring->made) {
    made = world.spring->made;
    Notification().WaitFor(std::chrono::milliseconds(200));
  }
  if (wire == Wire::kHttp2 || wire == Wire::kTlsHttp2) {
    // The window, and what waits at the server.
    CHECK(made <= (256 << 10));
  } else {
    CHECK(made < 32 * kMegabyte);
  }
  CHECK(told.steps().Text() == "200");

  told.stream->Cancel();
  CHECK(told.steps().Await(kCancelled));
  CHECK(told.steps().Text() == "200 " + kCancelled);
  CHECK(world.service.ends.Await("200 cut"));
}

// Waits until `share` counts `bytes` or more; for zero, until it counts nothing.
bool AwaitUsed(const FairShare& share, std::size_t bytes) {
  const auto until = RealClock().Now() + kPatience;
  const auto there = [&] { return bytes == 0 ? share.used() == 0 : share.used() >= bytes; };
  while (!there() && RealClock().Now() < until) {
    Notification().WaitFor(std::chrono::milliseconds(1));
  }
  return there();
}

TEST_CASE("http: what a client's streams keep is counted, and given back", "[http]") {
  World world(AnyWire());
  const auto memory = std::make_shared<MemoryBudget>();
  DialOptions options = world.server.dial_options();
  options.window_bytes = 256 << 10;
  options.memory = memory;
  auto connection = world.server.dialer().Dial(Soon(), options).value();

  SECTION("of a response whose reader pauses") {
    auto opened = connection->OpenStream({.target = "/spring", .tenant = {.flow = 7}}).value();
    opened->Pause();
    Told told(std::move(opened));
    REQUIRE(AwaitUsed(memory->output, 1));
    CHECK(memory->output.used() <= options.window_bytes + 2 * kTalkerPieceBytes);
    told.stream->Cancel();
    CHECK(AwaitUsed(memory->output, 0));
  }
  SECTION("of a response whose thread does not read") {
    auto stream = connection->Open({.target = "/spring"}).value();
    REQUIRE(AwaitUsed(memory->output, 64 << 10));
    CHECK(memory->output.used() <= 2 * options.window_bytes);
    stream.reset();
  }
  SECTION("of a request that its server does not take") {
    Told told(connection->OpenStream(Post("/hold")).value());
    REQUIRE(world.steps.Await("held"));
    for (int i = 0; i < 64; ++i) (void)told.stream->Write(std::string(kMegabyte, 'x'));
    // The server's window and the sockets take some of it.
    CHECK(AwaitUsed(memory->bodies, 32 * kMegabyte));
    told.stream->Cancel();
    CHECK(AwaitUsed(memory->bodies, 0));
  }
  connection.reset();
  CHECK(AwaitUsed(memory->output, 0));
  CHECK(AwaitUsed(memory->bodies, 0));
}

TEST_CASE("http: a client's stream is cancelled before its server has seen it", "[http]") {
  World world(AnyWire());
  const auto connection = world.server.Connect();
  auto stream = connection->OpenStream(Post("/hold")).value();

  stream->Cancel();
  Told told(std::move(stream));

  CHECK(told.steps().Await(kCancelled));
  CHECK(told.steps().Text() == kCancelled);
}

TEST_CASE("http: a client's stream is cancelled at any stage, and told so once", "[http]") {
  const Wire wire = AnyWire();
  World world(wire);
  const auto connection = world.server.Connect();

  SECTION("before the head") {
    Told told(connection->OpenStream(Post("/hold")).value());
    REQUIRE(world.steps.Await("held"));
    told.stream.reset();
    CHECK(told.steps().Await(kCancelled));
    world.Release();
    CHECK(world.service.ends.AwaitCount(1));
    CHECK(told.steps().Text() == kCancelled);
  }
  SECTION("while the writer waits for room") {
    Told told(connection->OpenStream(Post("/hold")).value());
    REQUIRE(world.steps.Await("held"));
    while (told.stream->Write(std::string(kMegabyte, 'x'))) continue;
    for (int i = 0; i < 64; ++i) told.stream->Write(std::string(kMegabyte, 'x'));
    told.stream->Cancel();
    CHECK(told.AwaitEnd() == kCancelled);
    world.Release();
    // The kernel may have made room before, but nothing is told after the end.
    CHECK(world.service.ends.AwaitCount(1));
    CHECK(told.steps().lines().back() == kCancelled);
  }
  SECTION("in the middle of both bodies") {
    Told told(connection->OpenStream(Post("/echo")).value());
    told.stream->Write("some");
    REQUIRE(told.steps().Await("some"));
    told.stream->Cancel();
    CHECK(told.steps().Await(kCancelled));
    CHECK(world.service.ends.Await("200 cut"));
    CHECK(told.steps().Text() == "200 some " + kCancelled);
  }
  SECTION("after the response, before the body's end") {
    Told told(connection->OpenStream(Post("/early")).value());
    REQUIRE(told.steps().Await("end"));
    told.stream->Write("too late");
    told.stream->Cancel();
    CHECK(world.service.ends.Await("200 ok"));
    CHECK(told.steps().Text() == "200 early end");
  }

  const bool http2 = wire == Wire::kHttp2 || wire == Wire::kTlsHttp2;
  if (http2) {
    CHECK(connection->Call(Soon(), {.target = "/early"})->body == "early");
  } else {
    // The rest of the answer belongs to no later request.
    CHECK_FALSE(connection->Call(Soon(), {.target = "/early"}).ok());
    CHECK(connection->closed());
  }
}

// Row 91 of docs/security.md.
TEST_CASE("http: a client's stream that its server breaks off ends with an error", "[http]") {
  World world(AnyWire());
  const auto connection = world.server.Connect();

  SECTION("in the middle of the response") {
    Told told(connection->OpenStream(Post("/abort")).value());
    const std::string end = told.AwaitEnd();
    CHECK(told.steps().lines()[0] == "200");
    CHECK(told.steps().lines()[1] == std::string(20, 'a'));
    CHECK(end.find("ServiceUnavailable") != std::string::npos);
  }
  SECTION("with its connection, as the writer waits") {
    Told told(connection->OpenStream(Post("/hold")).value());
    REQUIRE(world.steps.Await("held"));
    while (told.stream->Write(std::string(kMegabyte, 'x'))) continue;
    world.server.StopListening();
    CHECK(told.AwaitEnd().find("ServiceUnavailable") != std::string::npos);
    CHECK(connection->closed());
  }
}

// A kubelet that ends a command while its stdin still comes closes the connection with input
// unread, which resets it. The outcome of the command is in the client's socket then.
TEST_CASE("http: what a server sent is told, although a later write to it has failed", "[http]") {
  constexpr std::size_t kBytes = 96 << 10;
  TestService service([](Exchange& exchange) -> Step {
    const Status opened = exchange.writer().Upgrade({.code = 101, .headers = {{"Upgrade", "raw"}}},
                                                    [](std::unique_ptr<Tunnel> tunnel) {
                                                      (void)tunnel->Write(std::string(kBytes, 'x'));
                                                      tunnel->Close();
                                                    });
    return opened.ok() ? Step::Done() : Step(opened);
  });
  TestServer server(service.service, GENERATE(Wire::kHttp1, Wire::kTlsHttp1));
  const auto connection = server.Connect(/*window_bytes=*/1);
  const auto stream = connection->OpenUpgrade(EchoUpgradeHead()).value();
  Journal steps;
  std::atomic<std::size_t> came{0};
  stream->Start(NewSink({.data =
                             [&](auto bytes) {
                               if (came.fetch_add(bytes.size()) > 0) return;
                               stream->Pause();
                               steps.Add("paused");
                             },
                         .end = [&](const Status& status) { steps.Add(status.ToString()); }}));
  REQUIRE(steps.Await("paused"));
  while (server.listener().connections() > 0) Notification().WaitFor(std::chrono::milliseconds(1));
  CHECK(came < kBytes);

  const auto await_turn = [&server] {
    const auto turn = std::make_shared<Notification>();
    server.dialer().loop().Post([turn] { turn->Notify(); });
    turn->Wait();
  };
  // The first is answered with a reset.
  for (int i = 0; i < 8; ++i) {
    (void)stream->Write("y");
    await_turn();
  }
  stream->Resume();

  CHECK(steps.AwaitCount(2));
  await_turn();  // The sink may still be telling `steps`.
  CHECK(came == kBytes);
  CHECK(steps.lines().back().find("connection lost") != std::string::npos);
}

TEST_CASE("http: a body of the wrong length is refused", "[http]") {
  World world(AnyWire());
  const auto connection = world.server.Connect();
  Told told(connection->OpenStream(Post("/echo", 5)).value());

  SECTION("longer") {
    told.stream->Write("four");
    told.stream->Write("more");
    CHECK(told.steps().Await(
        Status(Reason::kInvalid, "the request's body is longer than its Content-Length of 5")
            .ToString()));
  }
  SECTION("shorter") {
    told.stream->Write("four");
    told.stream->CloseWrite();
    CHECK(told.steps().Await(
        Status(Reason::kInvalid, "the request's body is shorter than its Content-Length of 5")
            .ToString()));
  }
  SECTION("right") {
    told.stream->Write("four");
    told.stream->Write("5");
    CHECK(told.steps().Await("end"));
    // The connection is as good as new.
    CHECK(connection->Call(Soon(), {.target = "/early"})->body == "early");
  }
}

TEST_CASE("http: streams go on after a GOAWAY, and new ones are refused", "[http]") {
  World world(GENERATE(Wire::kHttp2, Wire::kTlsHttp2));
  const auto connection = world.server.Connect();
  Told told(connection->OpenStream(Post("/echo")).value());
  told.stream->Write("before");
  REQUIRE(told.steps().Await("before"));

  world.server.listener().Drain();
  const auto until = RealClock().Now() + kPatience;
  while (!connection->closed() && RealClock().Now() < until) {
    Notification().WaitFor(std::chrono::milliseconds(1));
  }
  Told late(connection->OpenStream({.target = "/early"}).value());
  CHECK(late.steps().Await(
      Status(Reason::kServiceUnavailable, "the connection takes no more requests").ToString()));

  told.stream->Write("after");
  CHECK(told.steps().Await("after"));
  told.stream->CloseWrite();
  CHECK(told.steps().Await("end"));
  CHECK(world.service.ends.Await("200 ok"));
}

// Row 91 of docs/security.md.
TEST_CASE("http: a server that takes no bytes of a stream is dropped at its limit", "[http]") {
  World world(AnyWire());
  DialOptions options = world.server.dial_options();
  options.write_stall_timeout = std::chrono::milliseconds(100);
  const auto connection = world.server.dialer().Dial(Soon(), options).value();
  Told told(connection->OpenStream(Post("/hold")).value());
  REQUIRE(world.steps.Await("held"));

  for (int i = 0; i < 64; ++i) told.stream->Write(std::string(kMegabyte, 'x'));

  CHECK(told.steps().Await(Status(Reason::kTimeout, "the peer takes no bytes").ToString()));
  CHECK(connection->closed());
}

TEST_CASE("http: what a sink throws ends its stream alone", "[http]") {
  World world(GENERATE(Wire::kHttp2, Wire::kTlsHttp2));
  const auto connection = world.server.Connect();
  Told other(connection->OpenStream(Post("/echo")).value());
  const auto stream = connection->OpenStream(Post("/echo")).value();
  stream->Start(NewSink({.data = [](auto) { throw std::runtime_error("oh"); }}));

  stream->Write("throw");
  CHECK(world.service.ends.Await("200 cut"));
  other.stream->Write("still here");
  CHECK(other.steps().Await("still here"));
  other.stream->CloseWrite();
  CHECK(other.steps().Await("end"));
}

TEST_CASE("http: a head that cannot be sent as it is opens no stream", "[http]") {
  World world(GENERATE(Wire::kHttp1, Wire::kHttp2));
  const auto connection = world.server.Connect();
  const auto refused = [&](ClientRequestHead head) {
    return connection->OpenStream(std::move(head)).status().reason() == Reason::kInvalid;
  };

  CHECK(refused({.method = "GET x", .target = "/"}));
  CHECK(refused({.method = "CONNECT", .target = "/"}));
  CHECK(refused({.target = "/ HTTP/1.1"}));
  CHECK(refused({.target = ""}));
  CHECK(refused({.target = "/", .headers = {{"A b", "x"}}}));
  CHECK(refused({.target = "/", .headers = {{"A", "x\r\nB: y"}}}));
  CHECK(refused({.target = "/", .headers = {{"Host", "a"}, {"host", "b"}}}));
}

}  // namespace
}  // namespace http_test
