// An allocation that fails in a request ends that request, not the process.
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/codec/json.h"
#include "exhaustion/failing_new.h"
#include "http/support.h"
#include "widget_server.h"

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

// Row 75.
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

// Fails an allocation of each create in its turn, from admission on.
class FailingPlugin final : public apiserver::admission::Plugin {
 public:
  std::string_view name() const override { return "Failing"; }
  bool Handles(apiserver::admission::Operation /*operation*/) const override { return true; }
  apiserver::Status Admit(const apiserver::Context& /*ctx*/,
                          apiserver::admission::Attributes& /*attributes*/) const override {
    if (armed) FailAllocations(after.load(), 1);
    return {};
  }
  std::atomic<bool> armed{false};
  std::atomic<std::size_t> after{0};
};

TEST_CASE("exhaustion: whichever allocation of a create fails, others are served", "[exhaustion]") {
  const auto plugin = std::make_shared<FailingPlugin>();
  const auto server = apiserver::testing::StartWidgetServer({.admission = {plugin}});
  const std::string collection = apiserver::testing::kWidgets;
  std::size_t made = 0;
  std::size_t failed = 0;
  for (std::size_t after = 0; after < 400; ++after) {
    INFO("after " << after);
    plugin->after = after;
    plugin->armed = true;
    const std::string name = "w" + std::to_string(after);
    const int code = server->Call("POST", collection, apiserver::testing::Widget(name, 1)).code;
    plugin->armed = false;
    CHECK((code == 201 || code == 500));
    (code == 201 ? made : failed) += 1;
    const std::string other = "other" + std::to_string(after);
    REQUIRE(server->Call("POST", collection, apiserver::testing::Widget(other, 1)).code == 201);
  }
  CHECK(made > 0);
  CHECK(failed > 20);
}

}  // namespace
}  // namespace exhaustion
