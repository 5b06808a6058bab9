#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include "support.h"

namespace http_test {
namespace {

Status Gone() { return Status(Reason::kTimeout, "too late").WithCode(504); }

TEST_CASE("http: filters run in order, heads and ends in reverse", "[http]") {
  Journal steps;
  TestService service([&](Exchange& exchange) {
    steps.Add("handler");
    return Answer(exchange, "x");
  });
  for (const std::string name : {"a", "b"}) {
    auto& filter = service.AddFilter();
    filter.begin = [&steps, name](Exchange&) {
      steps.Add("begin-" + name);
      return Step::Next();
    };
    filter.head = [&steps, name](Exchange&, ResponseHead& head) {
      steps.Add("head-" + name);
      head.headers.Add("X-" + name, "1");
    };
    filter.end = [&steps, name](Exchange&, const Outcome& outcome) {
      steps.Add("end-" + name + "-" + std::to_string(outcome.response_bytes));
    };
  }
  const auto connection = NewInProcessConnection(service.service);

  const auto response = connection->Call(Soon(), {.target = "/"});

  REQUIRE(response.ok());
  CHECK(response->headers.Get("x-a") == "1");
  CHECK(service.ends.Await("200 ok"));
  CHECK(steps.Text() == "begin-a begin-b handler head-b head-a end-b-1 end-a-1");
}

TEST_CASE("http: an exception anywhere becomes a 500, is logged, and ends once", "[http]") {
  struct Throwing final : BodySource {
    Pull Next(ChunkWriter& /*out*/, const Waker& /*waker*/) override {
      throw std::runtime_error("boom");
    }
  };
  const std::string place = GENERATE("begin", "handler", "pool", "later", "head", "writer", "end");
  TestService service([&](Exchange& exchange) -> Step {
    const auto boom = [] { throw std::runtime_error("boom"); };
    if (place == "handler") boom();
    if (place == "pool") {
      return Step::OnPool([boom]() -> Step {
        boom();
        return Step::Done();
      });
    }
    if (place == "later") return Step::Later([boom](Resume) { boom(); });
    if (place == "writer") return Status(Reason::kForbidden, "no");
    return Answer(exchange, "fine");
  });
  auto& filter = service.AddFilter();
  const auto maybe = [&place](const char* here) {
    if (place == here) throw std::runtime_error("boom");
  };
  filter.begin = [&](Exchange&) {
    maybe("begin");
    return Step::Next();
  };
  filter.head = [&](Exchange&, ResponseHead&) { maybe("head"); };
  filter.end = [&](Exchange&, const Outcome&) { maybe("end"); };
  service.service.write_error = [&](Exchange& exchange, const Status& status) {
    maybe("writer");
    ResponseHead head;
    head.code = status.code();
    exchange.writer().Send(std::move(head), "error: " + std::string(status.message()));
  };
  const auto connection = NewInProcessConnection(service.service);

  const auto response = connection->Call(Soon(), {.target = "/"});

  INFO(place);
  REQUIRE(response.ok());
  const int code = place == "end" ? 200 : place == "writer" ? 403 : 500;
  CHECK(response->code == code);
  CHECK(service.ends.Await(std::to_string(code) + " ok"));
  CHECK(service.ends.lines().size() == 1);
  REQUIRE(service.log.lines().size() == 1);
  CHECK(service.log.lines()[0].find("error=boom") != std::string::npos);
}

TEST_CASE("http: an exception in a body cuts the answer", "[http]") {
  struct Throwing final : BodySource {
    Pull Next(ChunkWriter& out, const Waker& /*waker*/) override {
      if (std::exchange(begun, true)) throw std::runtime_error("boom");
      out.Write("some");
      return Pull::kMore;
    }
    bool begun = false;
  };
  TestService service([](Exchange& exchange) {
    exchange.writer().Stream({}, std::make_unique<Throwing>());
    return Step::Done();
  });
  TestServer server(service.service, GENERATE(Wire::kHttp1, Wire::kHttp2));
  const auto connection = server.Connect();

  const auto response = connection->Call(Soon(), {.target = "/"});

  CHECK(response.status().reason() == Reason::kServiceUnavailable);
  CHECK(service.ends.Await("200 cut"));
}

TEST_CASE("http: a step that would block is run again on the pool", "[http]") {
  Journal steps;
  TestService service([&](Exchange& exchange) -> Step {
    steps.Add(exchange.ctx().may_block() ? "pool" : "loop");
    if (!exchange.ctx().may_block()) return Status(Reason::kWouldBlock, "");
    CHECK(exchange.pool().Inside());
    return Answer(exchange, "waited");
  });
  const auto connection = NewInProcessConnection(service.service);

  const auto response = connection->Call(Soon(), {.target = "/"});

  REQUIRE(response.ok());
  CHECK(response->body == "waited");
  CHECK(steps.Text() == "loop pool");
}

TEST_CASE("http: filters go on where they are, and come back with Later", "[http]") {
  Journal steps;
  const auto where = [&](Exchange& e) { steps.Add(e.ctx().may_block() ? "pool" : "loop"); };
  TestService service([&](Exchange& exchange) {
    where(exchange);
    return Answer(exchange, "x");
  });
  service.AddFilter().begin = [&](Exchange& e) {
    where(e);
    return Step::OnPool([] { return Step::Next(); });
  };
  service.AddFilter().begin = [&](Exchange& e) {
    where(e);
    return Step::Later([](Resume resume) { resume(Step::Next()); });
  };
  const auto connection = NewInProcessConnection(service.service);

  REQUIRE(connection->Call(Soon(), {.target = "/"}).ok());

  CHECK(steps.Text() == "loop pool loop");
}

TEST_CASE("http: a Resume that is dropped answers 500", "[http]") {
  TestService service([](Exchange&) { return Step::Later([](Resume) {}); });
  const auto connection = NewInProcessConnection(service.service);

  const auto response = connection->Call(Soon(), {.target = "/"});

  REQUIRE(response.ok());
  CHECK(response->code == 500);
}

TEST_CASE("http: Later may be resumed from any thread", "[http]") {
  TestService service([](Exchange& exchange) {
    return Step::Later([&exchange](Resume resume) {
      exchange.pool().Post([&exchange, resume = std::move(resume)]() mutable {
        resume(Answer(exchange, "from the pool"));
      });
    });
  });
  const auto connection = NewInProcessConnection(service.service);

  for (int i = 0; i < 200; ++i) {
    CHECK(connection->Call(Soon(), {.target = "/"})->body == "from the pool");
  }
}

TEST_CASE("http: what a Resume hands to the loop runs there and may go anywhere", "[http]") {
  const std::string next = GENERATE("answer", "pool", "error", "boom");
  TestService service([next](Exchange& exchange) {
    return Step::Later([&exchange, next](Resume resume) {
      exchange.pool().Post([&exchange, next, resume = std::move(resume)]() mutable {
        resume.OnLoop([&exchange, next]() -> Step {
          const std::string where = exchange.loop().Inside() ? "loop" : "elsewhere";
          if (next == "boom") throw std::runtime_error("boom");
          if (next == "error") return Status(Reason::kForbidden, where);
          if (next == "answer") return Answer(exchange, where);
          return Step::OnPool([&exchange, where]() -> Step {
            return Answer(exchange, where + (exchange.ctx().may_block() ? " pool" : ""));
          });
        });
      });
    });
  });
  const auto connection = NewInProcessConnection(service.service);

  const auto response = connection->Call(Soon(), {.target = "/"});

  REQUIRE(response.ok());
  const std::map<std::string, std::string> expected = {
      {"answer", "200 loop"},
      {"pool", "200 loop pool"},
      {"error", "403 loop\n"},
      {"boom", "500 This request caused apiserver to panic. Look in the logs for more info\n"}};
  CHECK(std::to_string(response->code) + " " + response->body == expected.at(next));
}

TEST_CASE("http: a deadline of the steps ends with them, one of the exchange does not", "[http]") {
  struct Slow final : BodySource {
    Pull Next(ChunkWriter& out, const Waker& /*waker*/) override {
      if (!std::exchange(said, true)) out.Write("begun");
      return Pull::kWait;
    }
    bool said = false;
  };
  const bool whole = GENERATE(true, false);
  TestService service([whole](Exchange& exchange) {
    const auto span = whole ? Exchange::Span::kExchange : Exchange::Span::kSteps;
    // The whole one's is long enough to send the beginning.
    exchange.EndEarlyAfter(std::chrono::milliseconds(whole ? 1000 : 20), span, &Gone);
    // The first call counts.
    exchange.EndEarlyAfter(std::chrono::hours(1), span, &Gone);
    exchange.writer().Stream({}, std::make_unique<Slow>());
    return Step::Done();
  });
  TestServer server(service.service, Wire::kHttp2);
  const auto connection = server.Connect();
  const auto stream = connection->Open({.target = "/"}).value();
  REQUIRE(stream->Read(Soon()).value() == "begun");

  const Context briefly =
      Context::Child(Context::Background(), RealClock().Now() + std::chrono::milliseconds(300));
  const auto rest = stream->Read(whole ? Soon() : briefly);

  const Reason expected = whole ? Reason::kServiceUnavailable : Reason::kTimeout;
  CHECK(rest.status().reason() == expected);
}

TEST_CASE("http: a deadline set on the pool ends work that never does", "[http]") {
  Notification go_on;
  TestService service([&](Exchange& exchange) {
    return Step::OnPool([&]() -> Step {
      exchange.EndEarlyAfter(std::chrono::milliseconds(1), Exchange::Span::kSteps, &Gone);
      go_on.Wait();
      return Answer(exchange, "late");
    });
  });
  const auto connection = NewInProcessConnection(service.service);

  const auto response = connection->Call(Soon(), {.target = "/"});
  go_on.Notify();

  REQUIRE(response.ok());
  CHECK(response->code == 504);
  CHECK(service.ends.Await("504 ok"));
}

TEST_CASE("http: a deadline ends the answer, and the work goes on", "[http]") {
  Journal steps;
  Notification go_on;
  TestService service([&](Exchange& exchange) {
    return Step::OnPool([&]() -> Step {
      steps.Add("working");
      exchange.loop().Post([self = exchange.Share()] { self->EndEarly(Gone()); });
      go_on.Wait();
      steps.Add(exchange.ctx().done() ? "cancelled" : "went-on");
      return Answer(exchange, "late");
    });
  });
  const auto connection = NewInProcessConnection(service.service);

  const auto response = connection->Call(Soon(), {.target = "/"});
  CHECK(service.ends.Text().empty());
  go_on.Notify();

  REQUIRE(response.ok());
  CHECK(response->code == 504);
  CHECK(response->body == "too late\n");
  CHECK(service.ends.Await("504 ok"));
  CHECK(steps.Text() == "working went-on");
}

TEST_CASE("http: a deadline during the body cuts it", "[http]") {
  struct Idle final : BodySource {
    Pull Next(ChunkWriter& out, const Waker& /*waker*/) override {
      if (!std::exchange(said, true)) out.Write("begun");
      return Pull::kWait;
    }
    bool said = false;
  };
  Journal ready;
  std::shared_ptr<Exchange> kept;
  TestService service([&](Exchange& exchange) {
    kept = exchange.Share();
    exchange.writer().Stream({}, std::make_unique<Idle>());
    return Step::Done();
  });
  TestServer server(service.service, GENERATE(Wire::kHttp1, Wire::kHttp2));
  const auto connection = server.Connect();
  const auto stream = connection->Open({.target = "/"}).value();
  REQUIRE(stream->Read(Soon()).value() == "begun");

  kept->EndEarly(Gone());
  kept->EndEarly(Gone());
  const auto rest = stream->Read(Soon());

  CHECK(rest.status().reason() == Reason::kServiceUnavailable);
  CHECK(service.ends.Await("200 cut"));
  kept.reset();
}

TEST_CASE("http: who goes away while a step is Later cancels the context", "[http]") {
  Journal steps;
  struct Waiting {
    std::optional<Resume> resume;
    Context::Registration registration;
  };
  Guarded<Waiting> waiting;
  TestService service([&](Exchange& exchange) {
    return Step::Later([&](Resume resume) {
      waiting.Lock()->resume.emplace(std::move(resume));
      auto registration = exchange.ctx().OnDone([&] { steps.Add("cancelled"); });
      waiting.Lock()->registration = std::move(registration);
      steps.Add("waiting");
    });
  });
  auto& after = service.AddFilter();
  after.end = [&](Exchange&, const Outcome& outcome) {
    steps.Add("end-" + std::to_string(outcome.code));
  };
  TestServer server(service.service, GENERATE(Wire::kHttp1, Wire::kHttp2));
  const auto connection = server.Connect();
  auto stream = connection->Open({.target = "/"}).value();
  REQUIRE(steps.Await("waiting"));

  stream.reset();
  REQUIRE(steps.Await("cancelled"));
  CHECK(steps.Text() == "waiting cancelled");
  auto resume = std::move(*std::exchange(waiting.Lock()->resume, std::nullopt));
  resume(Step::Next());

  CHECK(steps.Await("end-0"));
  CHECK(steps.Text() == "waiting cancelled end-0");
}

TEST_CASE("http: a Resume after the server has gone is harmless", "[http]") {
  Journal steps;
  Guarded<std::optional<Resume>> waiting;
  TestService service([&](Exchange&) {
    return Step::Later([&](Resume resume) {
      waiting.Lock()->emplace(std::move(resume));
      steps.Add("waiting");
    });
  });
  auto server = std::make_unique<TestServer>(service.service, Wire::kHttp2);
  auto connection = server->Connect();
  auto stream = connection->Open({.target = "/"}).value();
  REQUIRE(steps.Await("waiting"));
  stream.reset();
  connection.reset();

  server.reset();
  CHECK(service.ends.Text().empty());
  auto resume = std::move(*std::exchange(*waiting.Lock(), std::nullopt));
  resume(Step::Done());

  CHECK(service.ends.Text() == "0 cut");
}

TEST_CASE("http: work that outlives the server ends where it is", "[http]") {
  Journal steps;
  Notification go_on;
  TestService service([&](Exchange& exchange) {
    return Step::OnPool([&] {
      steps.Add("working");
      go_on.Wait();
      return Answer(exchange, "nobody");
    });
  });
  auto server = std::make_unique<TestServer>(service.service, Wire::kHttp1);
  auto connection = server->Connect();
  auto stream = connection->Open({.target = "/"}).value();
  REQUIRE(steps.Await("working"));
  server->StopListening();

  go_on.Notify();

  CHECK(service.ends.Await("0 cut"));
}

TEST_CASE("http: a done step without an answer, and a handler that passes on, are 500", "[http]") {
  TestService service([](Exchange& exchange) {
    return exchange.request().path == "/done" ? Step::Done() : Step::Next();
  });
  const auto connection = NewInProcessConnection(service.service);

  CHECK(connection->Call(Soon(), {.target = "/done"})->code == 500);
  CHECK(connection->Call(Soon(), {.target = "/next"})->code == 500);
}

TEST_CASE("http: only the first answer counts", "[http]") {
  TestService service([](Exchange& exchange) -> Step {
    (void)Answer(exchange, "first");
    (void)Answer(exchange, "second");
    return Status(Reason::kForbidden, "third");
  });
  const auto connection = NewInProcessConnection(service.service);

  const auto response = connection->Call(Soon(), {.target = "/"});

  CHECK(response->code == 200);
  CHECK(response->body == "first");
}

TEST_CASE("http: pool work may call the same server, twice the pool at once", "[http]") {
  constexpr int kThreads = 4;
  std::unique_ptr<Connection> inner;
  TestService service(
      [&](Exchange& exchange) {
        if (exchange.request().path == "/inner") {
          return Step::OnPool([&exchange] { return Answer(exchange, "inner"); });
        }
        return Step::OnPool([&]() -> Step {
          const auto response = inner->Call(Soon(), {.target = "/inner"});
          if (!response.ok()) return response.status();
          return Answer(exchange, "outer-" + response->body);
        });
      },
      kThreads);
  TestServer server(service.service, GENERATE(Wire::kHttp2, Wire::kTlsHttp2));
  inner = server.Connect();
  const auto connection = server.Connect();

  std::vector<std::unique_ptr<ClientStream>> streams;
  for (int i = 0; i < 2 * kThreads; ++i) {
    streams.push_back(connection->Open({.method = "POST", .target = "/outer"}).value());
  }

  for (const auto& stream : streams) CHECK(stream->Read(Soon()).value() == "outer-inner");
  inner.reset();
}

TEST_CASE("http: in process, identity and body arrive and cancelling is seen", "[http]") {
  auto peer = std::make_shared<PeerCertificates>();
  peer->der = {"certificate"};
  Journal steps;
  Context::Registration kept;
  TestService service([&](Exchange& exchange) -> Step {
    if (exchange.request().path == "/wait") {
      return Step::Later([&](Resume resume) {
        auto shared = std::make_shared<Resume>(std::move(resume));
        kept = exchange.ctx().OnDone([shared] { (*shared)(Step::Done()); });
        steps.Add("waiting");
      });
    }
    return Answer(exchange, exchange.request().peer->der.front() + ":" + *exchange.body() + ":" +
                                std::string(exchange.query().Get("q")));
  });
  service.AddFilter().begin = [](Exchange& e) { return e.CollectBody(100); };
  const auto connection = NewInProcessConnection(service.service, peer);

  const auto response =
      connection->Call(Soon(), {.method = "POST", .target = "/x?q=1%2B1", .body = "text"});
  auto stream = connection->Open({.target = "/wait"}).value();
  REQUIRE(steps.Await("waiting"));
  stream.reset();

  CHECK(response->body == "certificate:text:1+1");
  CHECK(service.ends.Await("0 cut"));
}

TEST_CASE("http: in process, connections that are cut end their calls and take no more", "[http]") {
  Journal steps;
  std::unique_ptr<Connection> before;
  std::unique_ptr<Connection> after;
  std::unique_ptr<ClientStream> stream;
  Context::Registration gone;
  {
    TestService service([&](Exchange& exchange) -> Step {
      if (exchange.request().path == "/quick") return Answer(exchange, "quick");
      return Step::Later([&](Resume resume) {
        auto shared = std::make_shared<Resume>(std::move(resume));
        // Not kept in the exchange, whose context it would keep.
        gone = exchange.ctx().OnDone([shared] { (*shared)(Step::Done()); });
        steps.Add("waiting");
      });
    });
    InProcessConnections connections(service.service);
    before = connections.New();
    CHECK(connections.New()->Call(Soon(), {.target = "/quick"})->body == "quick");
    stream = before->Open({.target = "/wait"}).value();
    REQUIRE(steps.Await("waiting"));
    CHECK_FALSE(before->closed());

    connections.Cut();
    connections.Cut();

    CHECK(service.ends.Await("0 cut"));
    after = connections.New();
  }

  CHECK(stream->Read(Soon()).status().reason() == Reason::kServiceUnavailable);
  for (const auto& connection : {&before, &after}) {
    CHECK((*connection)->closed());
    CHECK((*connection)->Call(Soon(), {.target = "/quick"}).status().reason() ==
          Reason::kServiceUnavailable);
  }
}

TEST_CASE("http: in process, connections of a service share few threads", "[http]") {
  Guarded<std::set<std::thread::id>> threads;
  TestService service([&](Exchange& exchange) {
    threads.Lock()->insert(std::this_thread::get_id());
    return Answer(exchange, "ok");
  });
  InProcessConnections connections(service.service);
  std::vector<std::unique_ptr<Connection>> kept;
  const auto ask = [&kept] {
    for (const auto& each : kept) CHECK(each->Call(Soon(), {.target = "/"})->body == "ok");
  };

  SECTION("one thread serves thirty-two") {
    for (int i = 0; i < 32; ++i) kept.push_back(connections.New());
    ask();
    CHECK(threads.Lock()->size() == 1);
    CHECK(!threads.Lock()->contains(std::this_thread::get_id()));
  }
  SECTION("more have four at most, also once the first are gone") {
    for (int i = 0; i < 140; ++i) kept.push_back(connections.New());
    ask();
    CHECK(threads.Lock()->size() == 4);
    kept.erase(kept.begin(), kept.begin() + 100);
    ask();
    for (int i = 0; i < 8; ++i)
      CHECK(connections.New()->Call(Soon(), {.target = "/"})->code == 200);
    CHECK(threads.Lock()->size() == 4);
  }
}

TEST_CASE("http: the context carries values and is done when the answer is over", "[http]") {
  std::optional<Context> kept;
  TestService service([&](Exchange& exchange) {
    kept.emplace(exchange.ctx());
    return Answer(exchange, exchange.Get<std::string>());
  });
  service.AddFilter().begin = [](Exchange& e) {
    e.Set<std::string>("value");
    return Step::Next();
  };
  const auto connection = NewInProcessConnection(service.service);

  const auto response = connection->Call(Soon(), {.target = "/"});

  CHECK(response->body == "value");
  REQUIRE(service.ends.Await("200 ok"));
  CHECK(kept->done());
}

}  // namespace
}  // namespace http_test
