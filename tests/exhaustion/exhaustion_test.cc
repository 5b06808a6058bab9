// An allocation that fails in a request ends that request, not the process.
#include <atomic>
#include <catch2/catch.hpp>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/codec/json.h"
#include "exhaustion/failing_new.h"
#include "http/support.h"

namespace exhaustion {
namespace {

using http_test::Answer;
using http_test::Exchange;
using http_test::Step;
using http_test::TestServer;
using http_test::TestService;
using http_test::Wire;

std::string Contained(const std::vector<std::string>& lines, const std::string& text) {
  for (const std::string& line : lines) {
    if (line.find(text) != std::string::npos) return line;
  }
  return "";
}

// What a handler throws that finds no memory, once.
Step Greedy(Exchange& exchange, std::size_t failures) {
  FailAllocations(0, failures);
  return Answer(exchange, std::string(1 << 20, 'x'));
}

// Row 85.
TEST_CASE("exhaustion: a request that finds no memory is a 500 and a line in the log",
          "[exhaustion]") {
  const bool on_pool = GENERATE(false, true);
  TestService service([&](Exchange& exchange) -> Step {
    if (!on_pool) return Greedy(exchange, 1);
    return Step::OnPool([&exchange] { return Greedy(exchange, 1); });
  });
  TestServer server(service.service, GENERATE(Wire::kHttp1, Wire::kHttp2));

  const auto answer = server.Connect()->Call(http_test::Soon(), {.target = "/big"});

  REQUIRE(answer.ok());
  CHECK(answer->code == 500);
  CHECK(answer->body == "This request caused apiserver to panic. Look in the logs for more info\n");
  CHECK(Contained(service.log.lines(), "exception while serving a request") ==
        std::string("exception while serving a request in=") +
            (on_pool ? "work on the pool" : "handler") +
            " error=std::bad_alloc method=GET path=/big");
}

// The line in the log, the answer and what stands around them find no memory either.
TEST_CASE("exhaustion: a server lives on where not even the answer finds memory", "[exhaustion]") {
  const bool on_pool = GENERATE(false, true);
  std::atomic<std::size_t> failures{1};
  TestService service([&](Exchange& exchange) -> Step {
    if (exchange.request().path != "/big") return Answer(exchange, "fine");
    if (!on_pool) return Greedy(exchange, failures.load());
    return Step::OnPool([&] { return Greedy(exchange, failures.load()); });
  });
  TestServer server(service.service, GENERATE(Wire::kHttp1, Wire::kHttp2));
  std::size_t answered = 0;
  for (; failures < 40; ++failures) {
    INFO("failures " << failures.load());
    const auto big = server.Connect()->Call(http_test::Soon(), {.target = "/big"});
    if (big.ok()) {
      CHECK(big->code == 500);
      ++answered;
    }
    // Whoever comes next may meet what is left of the failures, but not for ever.
    bool fine = false;
    for (int i = 0; i < 100 && !fine; ++i) {
      const auto small = server.Connect()->Call(http_test::Soon(), {.target = "/small"});
      fine = small.ok() && small->body == "fine";
    }
    REQUIRE(fine);
  }
  CHECK(answered > 0);
}

// The thread of a task finds no memory for what comes after it, either.
TEST_CASE("exhaustion: a task that uses up the memory ends alone", "[exhaustion]") {
  constexpr int kThreads = 2;
  const auto log = apiserver::NewStderrLogSink();
  const auto pool = apiserver::NewThreadPool({.threads = kThreads, .log = log.get()});
  for (int round = 0; round < 20; ++round) {
    // Shared, as a task still looks at them when the last has arrived.
    const auto begun = std::make_shared<std::latch>(kThreads);
    const auto ended = std::make_shared<std::latch>(kThreads);
    for (int i = 0; i < kThreads; ++i) {
      pool->Post([begun, ended, round] {
        begun->arrive_and_wait();
        ended->count_down();
        FailAllocations(round % 4, 4);
        if (round % 2 == 0) throw std::runtime_error("a task that fails");
      });
    }
    ended->wait();
  }
  pool->Stop();
}

// Each allocation of a parse in its turn, those of RapidJSON's stack among them.
TEST_CASE("exhaustion: a document that finds no memory is an exception", "[exhaustion]") {
  std::string text = "1";
  for (int i = 0; i < 300; ++i) text = R"({"a":[)" + text + "]}";
  std::size_t thrown = 0;
  for (std::size_t after = 0;; ++after) {
    apiserver::runtime::Arena arena;
    FailAllocations(after, 1);
    try {
      const auto parsed = apiserver::codec::ParseJson(text, arena);
      if (StopFailing() == 0) {
        CHECK(parsed.ok());
        break;
      }
    } catch (const std::bad_alloc&) {
      ++thrown;
      StopFailing();
    }
  }
  CHECK(thrown > 5);
}

// So is one that finds none to be written.
TEST_CASE("exhaustion: JSON that finds no memory is an exception", "[exhaustion]") {
  apiserver::runtime::Arena arena;
  const auto value =
      apiserver::codec::ParseJson(R"({"a":[")" + std::string(10'000, 'x') + R"(",1,"<"]})", arena);
  REQUIRE(value.ok());
  std::size_t thrown = 0;
  for (std::size_t after = 0;; ++after) {
    std::string out;
    FailAllocations(after, 1);
    try {
      apiserver::codec::AppendJson(*value, out);
      if (StopFailing() == 0) break;
    } catch (const std::bad_alloc&) {
      ++thrown;
      StopFailing();
    }
  }
  CHECK(thrown > 0);
}

}  // namespace
}  // namespace exhaustion
