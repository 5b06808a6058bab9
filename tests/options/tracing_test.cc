#include "apiserver/options/tracing.h"

#include <catch2/catch.hpp>
#include <memory>

#include "apiserver/base/file_system.h"
#include "read_flags.h"
#include "warnings.h"

using apiserver::Reason;
using apiserver::Status;
using apiserver::options::TracingOptions;
using apiserver::server::Config;
using apiserver::testing::ReadFlags;
using apiserver::testing::Warnings;

namespace {

// A configuration after --tracing-config-file with a file that holds `text`.
struct Traced {
  explicit Traced(const std::string& text) {
    CHECK(files->WriteAtomically("/tracing", text, 0600).ok());
    TracingOptions options;
    options.files = files.get();
    ReadFlags flags;
    options.AddFlags(flags);
    CHECK(flags.Read({{"--tracing-config-file", "/tracing"}}).empty());
    status = options.ApplyTo(config, log);
  }

  std::unique_ptr<apiserver::FileSystem> files = apiserver::NewMemoryFileSystem();
  Warnings log;
  Config config;
  Status status;
};

}  // namespace

TEST_CASE("options: without a tracing configuration there is no tracer", "[options]") {
  Config config;
  Warnings log;
  REQUIRE(TracingOptions{}.ApplyTo(config, log).ok());
  CHECK_FALSE(config.tracer);
  CHECK_FALSE(config.metrics);
}

TEST_CASE("options: a tracing configuration makes a tracer, and metrics for its calls",
          "[options]") {
  const Traced traced(
      "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n"
      "endpoint: http://127.0.0.1:4318\nsamplingRatePerMillion: 1000000\n");
  REQUIRE(traced.status.ok());
  CHECK(traced.config.tracer);
  CHECK(traced.config.metrics);
}

TEST_CASE("options: a tracing configuration that cannot be used is refused with its flag",
          "[options]") {
  const Traced traced("apiVersion: apiserver.config.k8s.io/v1\nkind: Something\n");
  REQUIRE_FALSE(traced.status.ok());
  CHECK(traced.status.reason() == Reason::kInvalid);
  CHECK(traced.status.message().starts_with("--tracing-config-file: "));
  CHECK_FALSE(traced.config.tracer);
}
