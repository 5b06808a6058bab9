// Streams of a client: a body that is written while the response is read, and how each may end.
#include <catch2/catch.hpp>

#include "support.h"
#include "talker.h"

namespace http_test {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

// Sends a request's body back as its answer, as it comes. Holds one piece.
struct Echo final : StreamSink, BodySource {
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

  std::weak_ptr<Echo> self;
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
  ~World() { Release(); }

  Step Serve(Exchange& exchange) {
    const std::string& path = exchange.request().path;
    if (path == "/echo") {
      const auto echo = std::make_shared<Echo>();
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
    for (Resume& resume : std::exchange(*held.Lock(), {}))
      resume(Status(Reason::kConflict, "held"));
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

const std::string kCancelled = Status(Reason::kTimeout, "cancelled").ToString();

auto AnyWire() { return GENERATE(Wire::kHttp1, Wire::kHttp2, Wire::kTlsHttp1, Wire::kTlsHttp2); }

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
  CHECK(talker->heap_peak < talker->heap_before + 2 * kMegabyte);
  CHECK(world.service.ends.Await("200 ok"));
  // Over HTTP/1.1 the server closes after an answer that did not wait for the whole body.
  if (connection->multiplexed()) {
    CHECK(connection->Call(Soon(), {.target = "/early"})->body == "early");
  }
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
  CHECK(talker->heap_peak < talker->heap_before + 2 * kMegabyte);
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

}  // namespace
}  // namespace http_test
