// The rows are those of k8s.io/apiserver/pkg/server/options/api_enablement_test.go.
#include "apiserver/options/api_enablement.h"

#include <catch2/catch.hpp>

#include "read_flags.h"

using apiserver::options::APIEnablementOptions;
using apiserver::server::Config;
using apiserver::server::ResourceConfig;
using apiserver::server::RuntimeConfig;
using apiserver::testing::ReadFlags;
using Texts = std::vector<std::string>;

namespace {

ResourceConfig OneGroup() {
  ResourceConfig config;
  config.EnableVersions({{"apiregistration.k8s.io", "v1beta1"}});
  return config;
}

Texts ProblemsOf(RuntimeConfig config) {
  return APIEnablementOptions{.runtime_config = std::move(config)}.Validate(OneGroup());
}

}  // namespace

// TestAPIEnablementOptionsValidate
TEST_CASE("options: --runtime-config is checked in upstream's words", "[options]") {
  CHECK(ProblemsOf({}).empty());
  CHECK(ProblemsOf({{"api/all", "false"}}) ==
        Texts{"invalid runtime-config with only api/all=false"});
  CHECK(ProblemsOf({{"apiall", "false"}}) == Texts{"runtime-config invalid key apiall"});
  CHECK(ProblemsOf({{"a/b/c/d", "true"}}) == Texts{"runtime-config invalid key a/b/c/d"});
  CHECK(ProblemsOf({{"api/v1", "true"}, {"api/v1beta2", "true"}}) ==
        Texts{"unknown api groups api/v1,api/v1beta2"});
  CHECK(ProblemsOf({{"apiregistration.k8s.io/v1beta1", "true"}}).empty());
  CHECK(ProblemsOf({{"api/all", "false"}, {"apiregistration.k8s.io/v1beta1", "true"}}).empty());
}

// TestAPIEnablementOptionsApplyToErrorCases
TEST_CASE("options: a value of --runtime-config that is no boolean is refused", "[options]") {
  Config config;
  const APIEnablementOptions options{.runtime_config = {{"api/all", "invalid-value"}}};
  CHECK(options.ApplyTo(config, OneGroup()).message() == "invalid value api/all=invalid-value");
}

TEST_CASE("options: --runtime-config changes what a server serves", "[options]") {
  APIEnablementOptions options;
  ReadFlags flags;
  options.AddFlags(flags);
  CHECK(flags.SectionOf("--runtime-config") == "API enablement");
  CHECK(flags.Spec("--runtime-config")->comma_separated);
  CHECK(flags
            .Read({{"--runtime-config", "api/all = true"},
                   {"--runtime-config", ""},
                   {"--runtime-config", "apiregistration.k8s.io/v1beta1=true"},
                   {"--runtime-config", "apiregistration.k8s.io/v1beta1=false"},
                   {"--runtime-config", "x/v1"}})
            .empty());
  CHECK(options.runtime_config == RuntimeConfig{{"api/all", "true"},
                                                {"apiregistration.k8s.io/v1beta1", "false"},
                                                {"x/v1", ""}});
  Config config;
  REQUIRE(options.ApplyTo(config, OneGroup()).ok());
  CHECK_FALSE(config.resource_config->VersionEnabled({"apiregistration.k8s.io", "v1beta1"}));
}
