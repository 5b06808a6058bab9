// What a tunnel holds, how both sides hold each other back, and how it ends.
#include <catch2/catch.hpp>

#include "support.h"

namespace http_test {
namespace {

constexpr std::string_view kUpgrade =
    "GET /tunnel HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n";

ClientRequest UpgradeRequest() {
  return {.target = "/tunnel", .headers = {{"Connection", "Upgrade"}, {"Upgrade", "raw"}}};
}

// A service that upgrades every request and hands the tunnel to a test.
struct Tunnels {
  explicit Tunnels(std::function<void(std::unique_ptr<Tunnel>)> on_open)
      : service([on_open = std::move(on_open)](Exchange& exchange) -> Step {
          const Status status =
              exchange.writer().Upgrade({.code = 101, .headers = {{"Upgrade", "raw"}}}, on_open);
          return status.ok() ? Step::Done() : Step(status);
        }) {}
  const FairShare& output() const { return service.service.memory->output; }
  // Whether all that was charged is given back, soon.
  bool AwaitNothingHeld() const {
    const auto until = RealClock().Now() + kPatience;
    while (output().used() > 0 && RealClock().Now() < until) {
      Notification().WaitFor(std::chrono::milliseconds(1));
    }
    return output().used() == 0;
  }

  TestService service;
};

// Writes as much as it is told, as long as there is room, and closes. On the tunnel's loop.
struct Writer : std::enable_shared_from_this<Writer> {
  explicit Writer(const FairShare& share, std::size_t bytes) : output(share), left(bytes) {}

  void Open(std::unique_ptr<Tunnel> opened) {
    tunnel = std::move(opened);
    heap_before = HeapBytes();
    tunnel->Start(NewSink({
        .end =
            [self = shared_from_this()](const Status& status) {
              self->ended.Add(status.ToString());
              self->tunnel.reset();
            },
        .room = [self = shared_from_this()] { self->Write(); },
    }));
    Write();
  }
  void Write() {
    output_peak = std::max(output_peak, output.used());
    heap_peak = std::max(heap_peak, HeapBytes());
    while (left > 0) {
      left -= kPieceBytes;
      if (tunnel->Write(std::string(kPieceBytes, static_cast<char>('a' + left % 23)))) continue;
      ++stops;
      stopped.Notify();
      return;
    }
    tunnel->Close();
  }

  static constexpr std::size_t kPieceBytes = 32 << 10;
  const FairShare& output;
  std::size_t left;
  std::size_t output_peak = 0;
  std::size_t heap_before = 0;
  std::size_t heap_peak = 0;
  int stops = 0;
  Notification stopped;
  Journal ended;
  std::unique_ptr<Tunnel> tunnel;
};

TEST_CASE("http: 64 MiB go through a tunnel to a slow reader, and nearly nothing is held",
          "[http]") {
  std::shared_ptr<Writer> writer;
  Tunnels tunnels([&](std::unique_ptr<Tunnel> tunnel) { writer->Open(std::move(tunnel)); });
  TestServer server(tunnels.service.service, GENERATE(Wire::kHttp1, Wire::kTlsHttp1));
  writer = std::make_shared<Writer>(tunnels.output(), 64 * kMegabyte);
  const auto connection = server.Connect(/*window_bytes=*/64 << 10);
  const auto stream = connection->Open(UpgradeRequest()).value();
  REQUIRE(stream->Head(Soon())->code == 101);

  // Nothing is read until the writer was told to stop.
  REQUIRE(writer->stopped.WaitFor(kPatience));
  std::size_t came = 0;
  bool right = true;
  for (;;) {
    const auto bytes = stream->Read(Soon());
    REQUIRE(bytes.ok());
    if (bytes->empty()) break;
    for (const char c : *bytes) {
      const std::size_t left =
          64 * kMegabyte - (came++ / Writer::kPieceBytes + 1) * Writer::kPieceBytes;
      right = right && c == static_cast<char>('a' + left % 23);
    }
  }

  CHECK(came == 64 * kMegabyte);
  CHECK(right);
  CHECK(tunnels.service.ends.Await("101 ok"));
  CHECK(writer->stops > 50);
  CHECK(writer->output_peak <= (512 << 10));
  CHECK(writer->heap_peak < writer->heap_before + 2 * kMegabyte);
  CHECK(tunnels.AwaitNothingHeld());
}

TEST_CASE("http: a tunnel that is paused tells nothing until it goes on, and loses nothing",
          "[http]") {
  std::unique_ptr<Tunnel> tunnel;
  Journal steps;
  std::size_t came = 0;
  std::atomic<bool> paused{false};
  bool told_while_paused = false;
  Tunnels tunnels([&](std::unique_ptr<Tunnel> opened) {
    tunnel = std::move(opened);
    tunnel->Start(NewSink({
        .data =
            [&](auto bytes) {
              told_while_paused = told_while_paused || paused;
              came += bytes.size();
              paused = true;
              tunnel->Pause();
              steps.Add("came " + std::to_string(came));
            },
        .end = [&](const Status&) { steps.Add("end"); },
    }));
  });
  TestServer server(tunnels.service.service, GENERATE(Wire::kHttp1, Wire::kTlsHttp1));
  const auto connection = server.Connect();
  const auto stream = connection->Open(UpgradeRequest()).value();
  REQUIRE(stream->Head(Soon())->code == 101);

  REQUIRE(stream->Write(std::string(4 * kMegabyte, 'x')).ok());
  for (std::size_t pieces = 1;; ++pieces) {
    REQUIRE(steps.AwaitCount(pieces));
    if (steps.lines().back() == "came " + std::to_string(4 * kMegabyte)) break;
    paused = false;
    tunnel->Resume();
  }
  stream->Cancel();
  tunnel->Resume();

  CHECK(steps.Await("end"));
  CHECK_FALSE(told_while_paused);
  tunnel.reset();
  CHECK(tunnels.service.ends.Await("101 ok"));
}

TEST_CASE("http: a paused tunnel ends with its server", "[http]") {
  std::unique_ptr<Tunnel> tunnel;
  Journal steps;
  Tunnels tunnels([&](std::unique_ptr<Tunnel> made) {
    tunnel = std::move(made);
    tunnel->Pause();
    tunnel->Start(NewSink({.data = [&](auto) { steps.Add("data"); },
                           .end = [&](const Status&) { steps.Add("end"); }}));
  });
  auto server = std::make_unique<TestServer>(tunnels.service.service, Wire::kHttp1);
  const auto connection = server->Connect();
  const auto stream = connection->Open(UpgradeRequest()).value();
  REQUIRE(stream->Head(Soon())->code == 101);
  REQUIRE(stream->Write("unread").ok());

  if (GENERATE(true, false)) stream->Cancel();
  server.reset();

  CHECK(steps.Text() == "end");
}

TEST_CASE("http: a peer of a paused tunnel can send no more than the kernel takes", "[http]") {
  std::unique_ptr<Tunnel> tunnel;
  Notification opened;
  std::atomic<std::size_t> came{0};
  Journal steps;
  Tunnels tunnels([&](std::unique_ptr<Tunnel> made) {
    tunnel = std::move(made);
    tunnel->Pause();
    tunnel->Start(NewSink({.data = [&](auto bytes) { came += bytes.size(); },
                           .end = [&](const Status&) { steps.Add("end"); }}));
    opened.Notify();
  });
  TestServer server(tunnels.service.service, Wire::kHttp1);
  RawClient client(server.listener().port());
  client.Send(kUpgrade);
  REQUIRE(opened.WaitFor(kPatience));
  const std::string bytes(64 * kMegabyte, 'x');
  const std::size_t heap = HeapBytes();

  const std::size_t sent = client.SendSome(bytes);
  CHECK(sent < bytes.size());
  CHECK(came == 0);
  CHECK(HeapBytes() < heap + kMegabyte);

  tunnel->Resume();
  client.Send(std::string_view(bytes).substr(sent));
  client.CloseWrite();
  CHECK(steps.Await("end"));
  CHECK(came == bytes.size());
}

TEST_CASE("http: bytes that came with the head are a tunnel's first, also once the peer has gone",
          "[http]") {
  Guarded<std::unique_ptr<Tunnel>> tunnel;
  Notification opened;
  Journal steps;
  Tunnels tunnels([&](std::unique_ptr<Tunnel> made) {
    *tunnel.Lock() = std::move(made);
    opened.Notify();
  });
  TestServer server(tunnels.service.service, Wire::kHttp1);
  {
    RawClient client(server.listener().port());
    client.Send(std::string(kUpgrade) + "early");
    REQUIRE(opened.WaitFor(kPatience));
    if (GENERATE(true, false)) client.Reset();
  }

  (*tunnel.Lock())
      ->Start(NewSink({.data = [&](auto bytes) { steps.Add(std::string(bytes)); },
                       .end = [&](const Status&) { steps.Add("end"); }}));

  CHECK(steps.Await("end"));
  CHECK(steps.Text() == "early end");
  tunnel.Lock()->reset();
}

TEST_CASE("http: either end of a tunnel may end its direction and go on with the other", "[http]") {
  std::shared_ptr<Tunnel> tunnel;
  Journal steps;
  Tunnels tunnels([&](std::unique_ptr<Tunnel> made) {
    tunnel = std::move(made);
    tunnel->Start(NewSink({
        .data = [&](auto bytes) { steps.Add(std::string(bytes)); },
        .end =
            [&](const Status& status) {
              steps.Add("end " + status.ToString());
              tunnel->Write("answer");
              tunnel->CloseWrite();
            },
    }));
  });
  TestServer server(tunnels.service.service, Wire::kHttp1);

  SECTION("the peer first") {
    RawClient client(server.listener().port());
    client.Send(std::string(kUpgrade) + "question");
    client.CloseWrite();
    CHECK(client.ReadAll().ends_with("\r\n\r\nanswer"));
    CHECK(steps.Text() == "question end " + Status::Ok().ToString());
  }
  SECTION("this side first") {
    RawClient client(server.listener().port());
    client.Send(kUpgrade);
    client.ReadUntil("\r\n\r\n");
    tunnel->Write("first");
    tunnel->CloseWrite();
    tunnel->Write("too late");
    CHECK(client.ReadAll() == "first");
    client.Send("still heard");
    CHECK(steps.Await("still heard"));
    client.CloseWrite();
    CHECK(steps.Await("end " + Status::Ok().ToString()));
  }

  CHECK(tunnels.service.ends.Await("101 ok"));
}

// A client that reads once whenever its socket becomes readable sees every piece.
TEST_CASE("http: the pieces of a tunnel are TLS records of their own", "[http]") {
  Tunnels tunnels([](std::unique_ptr<Tunnel> tunnel) {
    for (const char* piece : {"port", "error", "answer"}) (void)tunnel->Write(piece);
    tunnel->Close();
  });
  TestServer server(tunnels.service.service, Wire::kTlsHttp1);
  Journal told;
  const auto connection = server.Connect();
  const auto stream =
      connection
          ->OpenUpgrade({.target = "/tunnel",
                         .headers = {{"Host", "x"}, {"Connection", "Upgrade"}, {"Upgrade", "raw"}}})
          .value();

  stream->Start(NewSink({
      .data = [&](std::string_view bytes) { told.Add(std::string(bytes)); },
      .end = [&](const Status& /*status*/) { told.Add("end"); },
      .head = [&](const ResponseHead& head) { told.Add(std::to_string(head.code)); },
  }));

  CHECK(told.Await("end"));
  CHECK(told.Text() == "101 port error answer end");
}

// Row 88 of docs/security.md.
TEST_CASE("http: a peer that takes nothing out of a tunnel is dropped at its limit", "[http]") {
  std::shared_ptr<Writer> writer;
  Tunnels tunnels([&](std::unique_ptr<Tunnel> tunnel) { writer->Open(std::move(tunnel)); });
  ListenerOptions options;
  options.write_stall_timeout = std::chrono::milliseconds(100);
  TestServer server(tunnels.service.service, GENERATE(Wire::kHttp1, Wire::kTlsHttp1), options);
  writer = std::make_shared<Writer>(tunnels.output(), 256 * kMegabyte);
  const auto connection = server.Connect(/*window_bytes=*/16 << 10);
  const auto stream = connection->Open(UpgradeRequest()).value();
  REQUIRE(stream->Head(Soon())->code == 101);

  CHECK(writer->ended.Await(Status(Reason::kTimeout, "the peer takes no bytes").ToString()));
  CHECK(tunnels.service.ends.Await("101 ok"));
  CHECK(writer->left > 0);
  CHECK(tunnels.AwaitNothingHeld());
}

TEST_CASE("http: a writer that waits for room is told of it when the peer goes away", "[http]") {
  std::unique_ptr<Tunnel> tunnel;
  Journal steps;
  Tunnels tunnels([&](std::unique_ptr<Tunnel> made) {
    tunnel = std::move(made);
    tunnel->Start(
        NewSink({.end = [&](const Status& status) { steps.Add(status.ok() ? "end" : "broken"); },
                 .room = [&] { steps.Add("room"); }}));
    // It reads nothing either: it is OnRoom alone that can tell it.
    tunnel->Pause();
    while (tunnel->Write(std::string(kMegabyte, 'x'))) continue;
    for (int i = 0; i < 64; ++i) tunnel->Write(std::string(kMegabyte, 'x'));
    steps.Add("full");
  });
  TestServer server(tunnels.service.service, Wire::kHttp1);
  RawClient client(server.listener().port());
  client.Send(kUpgrade);
  REQUIRE(steps.Await("full"));

  client.Reset();
  CHECK(steps.Await("room"));
  tunnel->Resume();

  CHECK(steps.Await("broken"));
  CHECK(steps.Text() == "full room broken");
}

TEST_CASE("http: a tunnel that is cancelled ends at once, and one that throws ends alone",
          "[http]") {
  std::unique_ptr<Tunnel> tunnel;
  Journal steps;
  Tunnels tunnels([&](std::unique_ptr<Tunnel> made) {
    tunnel = std::move(made);
    tunnel->Start(NewSink({
        .data =
            [&](auto bytes) {
              if (bytes == "throw") throw std::runtime_error("oh");
              tunnel->Pause();
              tunnel->Cancel();
            },
        .end = [&](const Status& status) { steps.Add(status.ToString()); },
    }));
  });
  ListenerOptions options;
  options.log = &tunnels.service.sink;
  TestServer server(tunnels.service.service, Wire::kHttp1, options);
  RawClient client(server.listener().port());

  SECTION("cancelled") {
    client.Send(std::string(kUpgrade) + "cancel");
    CHECK(client.ReadAll().find("101 ") != std::string::npos);
    CHECK(steps.Await(Status(Reason::kTimeout, "cancelled").ToString()));
  }
  SECTION("thrown") {
    client.Send(std::string(kUpgrade) + "throw");
    CHECK(client.ReadAll().find("101 ") != std::string::npos);
    CHECK(tunnels.service.log.Await("exception in a tunnel error=oh"));
  }

  CHECK(tunnels.service.ends.Await("101 ok"));
}

// 64 seconds; run by name.
TEST_CASE("http: a tunnel's reader that takes 1 MB/s makes the process no larger", "[.rate]") {
  std::shared_ptr<Writer> writer;
  Tunnels tunnels([&](std::unique_ptr<Tunnel> tunnel) { writer->Open(std::move(tunnel)); });
  TestServer server(tunnels.service.service, Wire::kTlsHttp1);
  writer = std::make_shared<Writer>(tunnels.output(), 64 * kMegabyte);
  const auto connection = server.Connect(/*window_bytes=*/64 << 10);
  const auto stream = connection->Open(UpgradeRequest()).value();
  REQUIRE(stream->Head(Soon())->code == 101);

  const auto began = RealClock().Now();
  std::size_t came = 0;
  for (;;) {
    const auto bytes = stream->Read(Context::Background());
    REQUIRE(bytes.ok());
    if (bytes->empty()) break;
    came += bytes->size();
    const auto due = began + std::chrono::microseconds(came);
    (void)Notification().WaitFor(
        std::chrono::duration_cast<std::chrono::milliseconds>(due - RealClock().Now()));
  }

  WARN("heap grew by " << writer->heap_peak - writer->heap_before << ", output share at most "
                       << writer->output_peak);
  CHECK(came == 64 * kMegabyte);
  CHECK(writer->heap_peak < writer->heap_before + 2 * kMegabyte);
}

}  // namespace
}  // namespace http_test
