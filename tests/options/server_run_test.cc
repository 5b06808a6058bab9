// Literal values are those of k8s.io/apiserver/pkg/server/options and of server.NewConfig.
#include "apiserver/options/server_run.h"

#include <catch2/catch.hpp>

#include "apiserver/options/feature.h"
#include "read_flags.h"

using apiserver::Reason;
using apiserver::Status;
using apiserver::options::FeatureOptions;
using apiserver::options::ServerRunOptions;
using apiserver::server::Config;
using apiserver::testing::ReadFlags;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Mode = apiserver::server::FlowControlConfig::Mode;
using Texts = std::vector<std::string>;
using Words = ReadFlags::Words;

namespace {

// Both groups after a command line, and what they make of a server's configuration.
struct Line {
  explicit Line(const Words& words) {
    run.AddFlags(flags);
    features.AddFlags(flags);
    CHECK(flags.Read(words).empty());
    features.ApplyTo(config);
    applied = run.ApplyTo(config);
  }

  ReadFlags flags;
  ServerRunOptions run;
  FeatureOptions features;
  Config config;
  Status applied;
};

}  // namespace

TEST_CASE("options: a server runs by upstream's defaults", "[options]") {
  const Line line({});
  REQUIRE(line.applied.ok());
  CHECK(line.run.Validate().empty());
  CHECK(line.features.Validate(line.run).empty());
  CHECK(line.config.request_timeout == seconds(60));
  CHECK(line.config.min_request_timeout == seconds(1800));
  CHECK(line.config.goaway_chance == 0);
  CHECK(line.config.cors_allowed_origins.empty());
  CHECK(line.config.hsts_directives.empty());
  CHECK(line.config.livez_grace == seconds(0));
  CHECK(line.config.shutdown_delay == seconds(0));
  CHECK(line.config.shutdown_watch_termination_grace == seconds(0));
  CHECK_FALSE(line.config.shutdown_send_retry_after);
  CHECK(line.config.flow_control.max_requests_in_flight == 400);
  CHECK(line.config.flow_control.max_mutating_requests_in_flight == 200);
  CHECK(line.config.flow_control.mode == Mode::kPriorityAndFairness);
  CHECK(line.config.enable_profiling);
  CHECK(line.config.debug_socket_path.empty());
}

TEST_CASE("options: each flag of a server's run sets what it is about", "[options]") {
  const Line line({{"--request-timeout", "1m30s"},
                   {"--min-request-timeout", "7"},
                   {"--goaway-chance", "0.01"},
                   {"--cors-allowed-origins", "//a\\.example(:|$),//b\\.example(:|$)"},
                   {"--strict-transport-security-directives", "max-age=1,preload"},
                   {"--livez-grace-period", "1s"},
                   {"--shutdown-delay-duration", "250ms"},
                   {"--shutdown-watch-termination-grace-period", "3s"},
                   {"--shutdown-send-retry-after", "true"},
                   {"--max-requests-inflight", "5"},
                   {"--max-mutating-requests-inflight", "6"},
                   {"--enable-priority-and-fairness", "false"},
                   {"--profiling", "false"},
                   {"--debug-socket-path", "/run/debug.sock"}});
  REQUIRE(line.applied.ok());
  CHECK(line.config.request_timeout == seconds(90));
  CHECK(line.config.min_request_timeout == seconds(7));
  CHECK(line.config.goaway_chance == 0.01);
  CHECK(line.config.cors_allowed_origins == Texts{"//a\\.example(:|$)", "//b\\.example(:|$)"});
  CHECK(line.config.hsts_directives == Texts{"max-age=1", "preload"});
  CHECK(line.config.livez_grace == seconds(1));
  CHECK(line.config.shutdown_delay == milliseconds(250));
  CHECK(line.config.shutdown_watch_termination_grace == seconds(3));
  CHECK(line.config.shutdown_send_retry_after);
  CHECK(line.config.flow_control.max_requests_in_flight == 5);
  CHECK(line.config.flow_control.max_mutating_requests_in_flight == 6);
  CHECK(line.config.flow_control.mode == Mode::kMaxInFlight);
  CHECK_FALSE(line.config.enable_profiling);
  CHECK(line.config.debug_socket_path == "/run/debug.sock");
}

TEST_CASE("options: numbers of a server's run have bounds, and its switches a word for off",
          "[options]") {
  Line line({});
  const auto range_of = [&](const char* name) { return line.flags.Spec(name)->range; };
  REQUIRE(range_of("--min-request-timeout"));
  CHECK(range_of("--min-request-timeout")->min == 1);
  CHECK(range_of("--min-request-timeout")->max == 86'400);
  for (const char* name : {"--max-requests-inflight", "--max-mutating-requests-inflight"}) {
    REQUIRE(range_of(name));
    CHECK(range_of(name)->min == 0);
    CHECK(range_of(name)->max == 1'000'000);
  }
  CHECK(line.flags.Spec("--profiling")->off_name == "--no-profiling");
  CHECK(line.flags.Spec("--enable-priority-and-fairness")->off_name ==
        "--no-enable-priority-and-fairness");
}

TEST_CASE("options: --request-timeout must be positive", "[options]") {
  CHECK(Line(Words{{"--request-timeout", "0"}}).run.Validate() ==
        Texts{"--request-timeout must be positive, e.g. 60s"});
  CHECK(Line(Words{{"--request-timeout", "1ms"}}).run.Validate().empty());
}

TEST_CASE("options: of a feature gate that is named twice the last word counts", "[options]") {
  const Line line({{"--feature-gates", "CBORServingAndStorage=true,ConstrainedImpersonation=false"},
                   {"--feature-gates", "APIResponseCompression=false"},
                   {"--feature-gates", "ConstrainedImpersonation=true"}});
  REQUIRE(line.applied.ok());
  CHECK(line.config.features.Enabled("CBORServingAndStorage"));
  CHECK_FALSE(line.config.features.Enabled("APIResponseCompression"));
  CHECK(line.config.features.Enabled("ConstrainedImpersonation"));
}

TEST_CASE("options: an unknown feature gate is refused with its flag", "[options]") {
  CHECK(Line(Words{{"--feature-gates", "Nothing=true"}}).applied.message() ==
        "--feature-gates: unrecognized feature gate: Nothing");
}

TEST_CASE("options: no seats to share is refused with the flags that help", "[options]") {
  const auto problems = [](const Words& words) {
    const Line line(words);
    return line.features.Validate(line.run);
  };
  const Words none = {{"--max-requests-inflight", "0"}, {"--max-mutating-requests-inflight", "0"}};
  CHECK(problems(none) ==
        Texts{"--max-requests-inflight=0 and --max-mutating-requests-inflight=0 leave no seats to "
              "share; raise one, or have no limit with --enable-priority-and-fairness=false"});
  CHECK(problems({{"--max-requests-inflight", "0"}}).empty());
  auto off = none;
  off.emplace_back("--enable-priority-and-fairness", "false");
  CHECK(problems(off).empty());
}
