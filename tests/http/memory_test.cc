// How the bytes of requests and answers count, and what happens when there is no room for them.
#include <catch2/catch.hpp>

#include "support.h"

namespace http_test {
namespace {

bool Waits(const FairShare& share, std::size_t waiting) {
  const auto until = RealClock().Now() + kPatience;
  while (share.waiting() != waiting && RealClock().Now() < until) {
    Notification().WaitFor(std::chrono::milliseconds(1));
  }
  return share.waiting() == waiting;
}

std::shared_ptr<MemoryBudget> Budget(const MemoryBudget::Limits& limits) {
  return std::make_shared<MemoryBudget>(limits);
}

// A service that charges requests to the tenant named by a header, collects their bodies and
// answers their length; /hold answers when it is told to.
struct Collecting {
  explicit Collecting(const MemoryBudget::Limits& limits)
      : service([this](Exchange& exchange) -> Step {
          if (exchange.request().path != "/hold") {
            return Answer(exchange, std::to_string(exchange.body()->size()));
          }
          return Step::Later([this](Resume resume) {
            held.Lock()->emplace(std::move(resume));
            steps.Add("held");
          });
        }) {
    service.AddFilter().begin = [](Exchange& e) {
      const std::string_view tenant = e.request().headers.Get("Tenant");
      if (!tenant.empty()) {
        e.ChargeTo({.flow = std::hash<std::string_view>()(tenant), .exempt = tenant == "admin"});
      }
      return Step::Next();
    };
    service.AddFilter().begin = [](Exchange& e) { return e.CollectBody(8 << 20); };
    service.service.memory = Budget(limits);
  }

  void Release(Step step) {
    auto resume = std::move(*std::exchange(*held.Lock(), std::nullopt));
    resume(std::move(step));
  }

  Journal steps;
  Guarded<std::optional<Resume>> held;
  TestService service;
};

ClientRequest Post(std::string path, std::string tenant, std::size_t bytes) {
  return {.method = "POST",
          .target = std::move(path),
          .headers = {{"Tenant", std::move(tenant)}},
          .body = std::string(bytes, 'b')};
}

constexpr std::chrono::milliseconds kNoPatience(20);

TEST_CASE("http: bodies count until the work is done, and are refused when no room comes",
          "[http]") {
  Collecting world({.bodies_bytes_max = 100'000, .room_wait_max = kNoPatience});
  const FairShare& share = world.service.service.memory->bodies;
  TestServer server(world.service.service, GENERATE(Wire::kHttp2, Wire::kHttp1));

  // Larger than the share, but alone.
  CHECK(server.Connect()->Call(Soon(), Post("/", "a", 500'000))->body == "500000");
  CHECK(Comes(share, 0));

  const auto holder = server.Connect();
  const auto hold = holder->Open(Post("/hold", "a", 200'000)).value();
  REQUIRE(world.steps.Await("held"));
  CHECK(share.used() == 200'000);
  CHECK(server.Connect()->Call(Soon(), Post("/", "a", 3))->code == 429);
  CHECK(server.Connect()->Call(Soon(), Post("/", "a", 300'000))->code == 429);
  CHECK(server.Connect()->Call(Soon(), {.target = "/"})->body == "0");
  CHECK(Comes(share, 200'000));

  world.Release(Status(Reason::kForbidden, "no"));
  CHECK(hold->Head(Soon())->code == 403);
  CHECK(Comes(share, 0));
  CHECK(server.Connect()->Call(Soon(), Post("/", "a", 3))->body == "3");
}

// Rows 74 and 76.
TEST_CASE("http: bodies of one tenant leave room for those of others and of exempt ones",
          "[http]") {
  Collecting world({.bodies_bytes_max = 800'000, .room_wait_max = kNoPatience});
  TestServer server(world.service.service, GENERATE(Wire::kHttp2, Wire::kHttp1));
  const auto holder = server.Connect();
  const auto hold = holder->Open(Post("/hold", "a", 100'000)).value();
  REQUIRE(world.steps.Await("held"));

  CHECK(server.Connect()->Call(Soon(), Post("/", "a", 1))->code == 429);
  CHECK(server.Connect()->Call(Soon(), Post("/", "b", 100'000))->body == "100000");
  CHECK(server.Connect()->Call(Soon(), Post("/", "admin", 400'000))->body == "400000");

  world.Release(Status(Reason::kForbidden, "no"));
  CHECK(hold->Head(Soon())->code == 403);
}

TEST_CASE("http: a body for which there is no room waits unread until there is", "[http]") {
  Collecting world({.bodies_bytes_max = 80'000});
  const FairShare& share = world.service.service.memory->bodies;
  TestServer server(world.service.service, GENERATE(Wire::kHttp2, Wire::kHttp1));
  const auto holder = server.Connect();
  const auto hold = holder->Open(Post("/hold", "a", 100'000)).value();
  REQUIRE(world.steps.Await("held"));

  const auto waiter = server.Connect();
  const auto waiting = waiter->Open(Post("/", "a", 2'000'000)).value();
  REQUIRE(Waits(share, 1));
  world.Release(Status(Reason::kForbidden, "no"));

  CHECK(waiting->Head(Soon())->code == 200);
  CHECK(waiting->Read(Soon()).value() == "2000000");
  CHECK(hold->Head(Soon())->code == 403);
  CHECK(Comes(share, 0));
}

TEST_CASE("http: a client that goes away does not go on waiting for room", "[http]") {
  Collecting world({.bodies_bytes_max = 80'000});
  const FairShare& share = world.service.service.memory->bodies;
  TestServer server(world.service.service, Wire::kHttp1);
  const auto holder = server.Connect();
  const auto hold = holder->Open(Post("/hold", "a", 100'000)).value();
  REQUIRE(world.steps.Await("held"));
  {
    const auto waiter = server.Connect();
    const auto waiting = waiter->Open(Post("/", "a", 50'000)).value();
    REQUIRE(Waits(share, 1));
  }

  CHECK(Waits(share, 0));
  CHECK(Comes(share, 100'000));
  world.Release(Status(Reason::kForbidden, "no"));
  CHECK(hold->Head(Soon())->code == 403);
  CHECK(Comes(share, 0));
}

TEST_CASE("http: a body of unknown length waits in its middle when there is no more room",
          "[http]") {
  Collecting world({.bodies_bytes_max = 3'200'000});
  const FairShare& share = world.service.service.memory->bodies;
  TestServer server(world.service.service, Wire::kHttp1);
  RawClient client(server.listener().port());
  client.Send("POST / HTTP/1.1\r\nHost: x\r\nTenant: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  const auto chunk = [&client](std::size_t bytes) {
    client.Send((bytes == 0x10000 ? "10000" : "20000") + std::string("\r\n") +
                std::string(bytes, 'c') + "\r\n");
  };
  chunk(0x10000);
  REQUIRE(Comes(share, 256 << 10));
  const auto holder = server.Connect();
  const auto hold = holder->Open(Post("/hold", "a", 130'000)).value();
  REQUIRE(world.steps.Await("held"));

  chunk(0x20000);
  chunk(0x20000);
  REQUIRE(Waits(share, 1));
  world.Release(Status(Reason::kForbidden, "no"));
  CHECK(hold->Head(Soon())->code == 403);
  REQUIRE(Comes(share, 512 << 10));
  client.Send("0\r\n\r\n");

  CHECK(client.ReadUntil("327680").ends_with("327680"));
  CHECK(Comes(share, 0));
}

TEST_CASE("http: a body that stands still is refused with 408", "[http][slow]") {
  Collecting world({});
  const FairShare& share = world.service.service.memory->bodies;
  TestServer server(world.service.service, Wire::kHttp1);
  RawClient client(server.listener().port());

  client.Send("POST / HTTP/1.1\r\nHost: x\r\nTenant: a\r\nContent-Length: 3000000\r\n\r\n" +
              std::string(100'000, 'b'));
  REQUIRE(Comes(share, 3'000'000));

  CHECK(client.ReadAll().starts_with("HTTP/1.1 408 "));
  CHECK(Comes(share, 0));
}

// Row 75.
TEST_CASE("http: a body that stands still is refused at once when others wait for its room",
          "[http][slow]") {
  Collecting world({.bodies_bytes_max = 80'000, .room_wait_max = std::chrono::minutes(10)});
  const FairShare& share = world.service.service.memory->bodies;
  TestServer server(world.service.service, Wire::kHttp1);
  RawClient client(server.listener().port());
  client.Send("POST / HTTP/1.1\r\nHost: x\r\nTenant: a\r\nContent-Length: 3000000\r\n\r\n");
  REQUIRE(Comes(share, 3'000'000));

  CHECK(server.Connect()->Call(Soon(), Post("/", "b", 50'000))->body == "50000");
  CHECK(client.ReadAll().starts_with("HTTP/1.1 429 "));
  CHECK(Comes(share, 0));
}

TEST_CASE("http: a client that does not read its answer does not keep its body", "[http]") {
  TestService service(
      [](Exchange& exchange) { return Answer(exchange, std::string(64 << 20, 'x')); });
  service.AddFilter().begin = [](Exchange& e) { return e.CollectBody(8 << 20); };
  service.AddFilter().begin = [](Exchange& e) { return e.ReserveDecoding(5'000'000); };
  const std::shared_ptr<MemoryBudget> memory = service.service.memory;
  TestServer server(service.service, Wire::kHttp1);
  RawClient client(server.listener().port());

  client.Send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" +
              std::string(100'000, 'b'));
  client.ReadUntil("xxx");

  CHECK(Comes(memory->bodies, 0));
  CHECK(Comes(memory->decoding, 0));
  CHECK(memory->output.used() >= 64 << 20);
}

TEST_CASE("http: room to decode is waited for without a thread, and given to tenants in turn",
          "[http]") {
  Journal steps;
  Guarded<std::vector<Resume>> held;
  TestService service([&](Exchange& exchange) -> Step {
    return Step::Later([&](Resume resume) {
      held.Lock()->push_back(std::move(resume));
      steps.Add(exchange.request().path);
    });
  });
  service.AddFilter().begin = [](Exchange& e) { return e.ReserveDecoding(900); };
  service.service.memory = Budget({.decoding_bytes_max = 1000});
  const FairShare& share = service.service.memory->decoding;
  const auto connection = NewInProcessConnection(service.service);
  const auto first = connection->Open({.target = "/first"}).value();
  REQUIRE(steps.Await("/first"));

  const auto second = connection->Open({.target = "/second"}).value();
  REQUIRE(Waits(share, 1));
  const auto third = connection->Open({.target = "/third"}).value();
  REQUIRE(Waits(share, 2));
  const auto finish = [&] {
    Resume resume = std::move(held.Lock()->back());
    held.Lock()->pop_back();
    resume(Status(Reason::kForbidden, "no"));
  };
  finish();
  REQUIRE(steps.Await("/second"));
  CHECK(share.used() == 900);
  finish();
  REQUIRE(steps.Await("/third"));
  finish();

  CHECK(third->Head(Soon())->code == 403);
  CHECK(Comes(share, 0));
  CHECK(steps.Text() == "/first /second /third");
}

TEST_CASE("http: a request that finds no room to decode in time is refused", "[http]") {
  TestService service([](Exchange& exchange) { return Answer(exchange, "decoded"); });
  service.AddFilter().begin = [](Exchange& e) { return e.ReserveDecoding(900); };
  service.service.memory = Budget({.decoding_bytes_max = 1000, .room_wait_max = kNoPatience});
  FairShare& share = service.service.memory->decoding;
  const auto connection = NewInProcessConnection(service.service);

  share.Add(900);
  const auto refused = connection->Call(Soon(), {.target = "/"});
  CHECK(refused->code == 429);
  CHECK(refused->body ==
        "decoding other requests takes all memory there is for it, please try again\n");
  share.Release(900);
  CHECK(connection->Call(Soon(), {.target = "/"})->body == "decoded");
}

TEST_CASE("http: what others keep does not count in an answer, what is its own does", "[http]") {
  static const std::string shared(3'000'000, 's');
  TestService service([](Exchange& exchange) {
    Bytes body(nullptr, shared);
    body.Append(std::string(2'000'000, 'o'));
    exchange.writer().Send({}, std::move(body));
    return Step::Done();
  });
  const FairShare& share = service.service.memory->output;
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
  service.service.memory = Budget({.output_bytes_max = 1 << 20});
  const FairShare& share = service.service.memory->output;
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

// Row 77.
TEST_CASE("http: a body source has less room while its tenant does not take its answers",
          "[http]") {
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
  service.AddFilter().begin = [](Exchange& e) {
    e.ChargeTo({.flow = e.request().path == "/a" ? 1U : 2U});
    return Step::Next();
  };
  service.service.memory = Budget({.output_bytes_max = 8000});
  FairShare& share = service.service.memory->output;
  const auto connection = NewInProcessConnection(service.service);

  CHECK(connection->Call(Soon(), {.target = "/a"})->body == "65536");
  share.Add(1001, {.flow = 1});
  CHECK(connection->Call(Soon(), {.target = "/a"})->body == "4096");
  CHECK(connection->Call(Soon(), {.target = "/b"})->body == "65536");
  share.Release(1001, {.flow = 1});
}

}  // namespace
}  // namespace http_test
