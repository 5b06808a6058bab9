#include "apiserver/controlplane/api_enablement.h"

#include <catch2/catch.hpp>

#include <string>
#include <utility>

using apiserver::controlplane::CompleteAPIEnablement;
using apiserver::controlplane::DefaultAPIResourceConfigSource;
using apiserver::options::APIEnablementOptions;
using apiserver::server::RuntimeConfig;

namespace {

std::string ProblemOf(RuntimeConfig config, bool priority_and_fairness = true) {
  APIEnablementOptions options{.runtime_config = std::move(config)};
  return std::string(CompleteAPIEnablement(options, priority_and_fairness).message());
}

}  // namespace

TEST_CASE("controlplane: stable versions are served, and no others", "[controlplane]") {
  const auto config = DefaultAPIResourceConfigSource();
  for (const auto& version : config.versions()) {
    INFO(version.ToString());
    CHECK(config.VersionEnabled(version) == (version.version == "v1"));
  }
}

TEST_CASE("controlplane: the core group has three names in --runtime-config", "[controlplane]") {
  for (const char* name : {"v1", "api/v1", "api/v1/pods", "v1/pods", "/v1"}) {
    INFO(name);
    APIEnablementOptions options{.runtime_config = {{name, "true"}, {"api/legacy", "false"}}};
    REQUIRE(CompleteAPIEnablement(options, /*priority_and_fairness=*/true).ok());
    CHECK(options.runtime_config == RuntimeConfig{{"/v1", "true"}});
  }
}

// The texts are those of validateAPIPriorityAndFairness.
TEST_CASE("controlplane: priority and fairness needs its group", "[controlplane]") {
  const auto conflict = [](const std::string& key) {
    return "--runtime-config=" + key + "=false conflicts with --enable-priority-and-fairness=true";
  };
  const std::string group = "flowcontrol.apiserver.k8s.io/v1";
  CHECK(ProblemOf({{group, "false"}}) == conflict(group));
  CHECK(ProblemOf({{"api/ga", "false"}}) == conflict("api/ga"));
  CHECK(ProblemOf({{"api/all", "false"}, {"/v1", "true"}}) == conflict("api/all"));
  CHECK(ProblemOf({{"api/ga", "true"}, {"api/all", "false"}}).empty());
  CHECK(ProblemOf({{"api/all", "false"}, {group, "true"}}).empty());
  CHECK(ProblemOf({{group, "false"}}, /*priority_and_fairness=*/false).empty());
}

TEST_CASE("controlplane: --runtime-config knows the groups that there are", "[controlplane]") {
  CHECK(ProblemOf({{"nothing.io/v1", "true"}}) == "unknown api groups nothing.io/v1");
  CHECK(ProblemOf({{"api/all", "false"}}, /*priority_and_fairness=*/false) ==
        "invalid runtime-config with only api/all=false");
}
