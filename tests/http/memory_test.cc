// How the bytes of requests and answers count.
#include <catch2/catch.hpp>

#include "support.h"

namespace http_test {
namespace {

// Whether `share` comes to `used`, soon.
bool Comes(const MemoryShare& share, std::size_t used) {
  const auto until = RealClock().Now() + kPatience;
  while (share.used() != used && RealClock().Now() < until) {
    Notification().WaitFor(std::chrono::milliseconds(1));
  }
  return share.used() == used;
}

std::shared_ptr<MemoryBudget> Budget(std::size_t decoding, std::size_t output) {
  return std::make_shared<MemoryBudget>(
      MemoryBudget::Limits{.decoding_bytes_max = decoding, .output_bytes_max = output});
}

TEST_CASE("http: bodies count as they come; once others fill the room they are refused", "[http]") {
  Journal steps;
  Guarded<std::optional<Resume>> held;
  TestService service([&](Exchange& exchange) -> Step {
    if (exchange.request().path != "/hold") {
      return Answer(exchange, std::to_string(exchange.body()->size()));
    }
    return Step::Later([&](Resume resume) {
      held.Lock()->emplace(std::move(resume));
      steps.Add("held");
    });
  });
  service.AddFilter().begin = [](Exchange& e) { return e.CollectBody(8 << 20); };
  service.service.memory = Budget(100'000, 1 << 20);
  const MemoryShare& share = service.service.memory->decoding;
  TestServer server(service.service, GENERATE(Wire::kHttp2, Wire::kHttp1));
  const auto post = [&](std::string path, std::size_t bytes) {
    return server.Connect()->Call(
        Soon(), {.method = "POST", .target = std::move(path), .body = std::string(bytes, 'b')});
  };

  // Larger than the share, but alone.
  CHECK(post("/", 500'000)->body == "500000");
  CHECK(Comes(share, 0));

  const auto holder = server.Connect();
  const auto hold =
      holder->Open({.method = "POST", .target = "/hold", .body = std::string(200'000, 'b')})
          .value();
  REQUIRE(steps.Await("held"));
  CHECK(share.used() == 200'000);
  CHECK(post("/", 3)->code == 429);
  CHECK(post("/", 300'000)->code == 429);
  CHECK(server.Connect()->Call(Soon(), {.target = "/"})->body == "0");
  CHECK(Comes(share, 200'000));

  auto resume = std::move(*std::exchange(*held.Lock(), std::nullopt));
  resume(Status(Reason::kForbidden, "no"));
  CHECK(hold->Head(Soon())->code == 403);
  CHECK(Comes(share, 0));
  CHECK(post("/", 3)->body == "3");
}

TEST_CASE("http: what others keep does not count in an answer, what is its own does", "[http]") {
  static const std::string shared(3'000'000, 's');
  TestService service([](Exchange& exchange) {
    Bytes body(nullptr, shared);
    body.Append(std::string(2'000'000, 'o'));
    exchange.writer().Send({}, std::move(body));
    return Step::Done();
  });
  service.service.memory = Budget(1 << 20, 1 << 20);
  const MemoryShare& share = service.service.memory->output;
  const auto connection = NewInProcessConnection(service.service);

  const auto stream = connection->Open({.target = "/"}).value();
  CHECK(stream->Head(Soon())->code == 200);
  CHECK(share.used() == 2'000'000);
  std::size_t bytes = 0;
  while (true) {
    const std::string some = stream->Read(Soon()).value();
    if (some.empty()) break;
    bytes += some.size();
  }

  CHECK(bytes == 5'000'000);
  CHECK(Comes(share, 0));
}

TEST_CASE("http: what a peer does not take counts until it has gone", "[http]") {
  TestService service(
      [](Exchange& exchange) { return Answer(exchange, std::string(64 << 20, 'x')); });
  service.service.memory = Budget(1 << 20, 1 << 20);
  const MemoryShare& share = service.service.memory->output;
  TestServer server(service.service, Wire::kHttp1);
  {
    RawClient client(server.listener().port());
    client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    client.ReadUntil("xxx");
    CHECK(share.used() >= 64 << 20);
    CHECK(share.over());
  }
  CHECK(Comes(share, 0));
}

TEST_CASE("http: a body source has less room while answers take all memory", "[http]") {
  struct Asking final : BodySource {
    Pull Next(ChunkWriter& out, const Waker& /*waker*/) override {
      out.Take(std::to_string(out.room()));
      return Pull::kEnd;
    }
  };
  TestService service([](Exchange& exchange) {
    exchange.writer().Stream({}, std::make_unique<Asking>());
    return Step::Done();
  });
  service.service.memory = Budget(1 << 20, 1000);
  MemoryShare& share = service.service.memory->output;
  const auto connection = NewInProcessConnection(service.service);

  CHECK(connection->Call(Soon(), {.target = "/"})->body == "65536");
  share.Add(1001);
  CHECK(connection->Call(Soon(), {.target = "/"})->body == "4096");
  share.Release(1001);
}

}  // namespace
}  // namespace http_test
