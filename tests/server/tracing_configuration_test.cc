// TracingConfiguration: k8s.io/apiserver/pkg/server/options/tracing_test.go and
// k8s.io/component-base/tracing/api/v1/config_test.go.
#include <catch2/catch.hpp>

#include <string>

#include "apiserver/base/file_system.h"
#include "apiserver/server/tracing.h"

using apiserver::server::LoadTracingConfigurationFile;
using apiserver::server::ParseTracingConfiguration;
using apiserver::server::TracingConfiguration;

namespace {

std::string Document(const std::string& rest, const std::string& version = "v1") {
  return "apiVersion: apiserver.config.k8s.io/" + version + "\nkind: TracingConfiguration\n" + rest;
}

std::string Problem(const std::string& text) {
  return std::string(ParseTracingConfiguration(text).status().message());
}

}  // namespace

// TestReadTracingConfiguration
TEST_CASE("tracing: a configuration is read in every version", "[server]") {
  const std::string version = GENERATE("v1", "v1beta1", "v1alpha1");

  const auto read = ParseTracingConfiguration(
      Document("endpoint: https://localhost:4318\nsamplingRatePerMillion: 12345\n", version));

  REQUIRE(read.ok());
  CHECK(read->endpoint == "https://localhost:4318");
  CHECK(read->sampling_rate_per_million == 12'345);
}

TEST_CASE("tracing: without fields only traces that come sampled are recorded", "[server]") {
  const auto read = ParseTracingConfiguration(Document(""));
  REQUIRE(read.ok());
  CHECK(read->endpoint == "http://localhost:4318");
  CHECK(read->sampling_rate_per_million == 0);
}

// TestReadTracingConfiguration, TestValidateTracingConfiguration
TEST_CASE("tracing: what is wrong with a configuration is told with its line", "[server]") {
  CHECK(Problem("") == "the file is empty; it must hold an object of kind TracingConfiguration");
  CHECK(Problem(Document("endpoint: http://a:1\nendpoint: http://b:1\n")).starts_with("line 4"));
  CHECK(Problem(Document("foo: bar\nendpoint: http://a:1\n")) ==
        "line 3: foo is no field here; known are apiVersion, kind, endpoint, "
        "samplingRatePerMillion");
  CHECK(Problem("apiVersion: apps/v1\nkind: DaemonSet\nmetadata:\n  name: agent\n") ==
        "line 1: apiVersion is \"apps/v1\"; use apiserver.config.k8s.io/v1, "
        "apiserver.config.k8s.io/v1beta1, apiserver.config.k8s.io/v1alpha1; line 2: kind is "
        "\"DaemonSet\"; use TracingConfiguration");
  CHECK(Problem(Document("samplingRatePerMillion: -1\n")) ==
        "line 3: samplingRatePerMillion: Invalid value: -1: sampling rate must be positive");
  CHECK(Problem(Document("samplingRatePerMillion: 1000001\n")) ==
        "line 3: samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be "
        "less than or equal to one million");
  CHECK(Problem(Document("samplingRatePerMillion: many\n")) ==
        "line 3: samplingRatePerMillion must be an integer");
  CHECK(Problem(Document("endpoint: 4318\n")) == "line 3: endpoint must be a string");
  CHECK(Problem(Document("endpoint: localhost:4317\n")) ==
        "line 3: endpoint is \"localhost:4317\"; it must be the URL of a collector that takes OTLP "
        "over HTTP, such as http://localhost:4318; OTLP over gRPC, as on port 4317, is not spoken");
}

TEST_CASE("tracing: an endpoint is a URL of host, port and path", "[server]") {
  const std::string good =
      GENERATE("http://localhost", "http://127.0.0.1:4318", "https://[::1]:4318/",
               "https://collector.example.com/otlp", "http://c:4318/v1/traces");
  CHECK(Problem(Document("endpoint: \"" + good + "\"\n")).empty());
}

TEST_CASE("tracing: an endpoint is no other URL", "[server]") {
  // The first six: TestValidateTracingConfiguration
  const std::string bad = GENERATE(
      as<std::string>(), "localhost:4317", "dns://google.com:4317", "unix://path/to/socket",
      "dn%2s://localhost:4317", "127.0.0.1:4317", "", "http://", "http:///x", "http://:4318",
      "http://a:0", "http://a:65536", "http://a:x", "http://me:secret@a:4318", "http://a/?x=y",
      "http://a/#x", "http://a b", "http://[::1", "http://[]:1", "http://[::1]4318", "ftp://a");
  INFO(bad);
  CHECK(Problem(Document("endpoint: \"" + bad + "\"\n")).starts_with("line 3: endpoint is "));
}

TEST_CASE("tracing: spans are posted to the path of traces", "[server]") {
  const auto url = [](const std::string& endpoint) {
    return TracingConfiguration{.endpoint = endpoint}.TracesUrl();
  };
  CHECK(TracingConfiguration().TracesUrl() == "http://localhost:4318/v1/traces");
  CHECK(url("http://a:1/") == "http://a:1/v1/traces");
  CHECK(url("https://a/otlp") == "https://a/otlp/v1/traces");
  CHECK(url("https://a/otlp/v1/traces") == "https://a/otlp/v1/traces");
}

TEST_CASE("tracing: a file that is wrong or missing is named", "[server]") {
  const auto files = apiserver::NewMemoryFileSystem();
  REQUIRE(files->WriteAtomically("/tracing.yaml", Document("x: y\n"), 0600).ok());
  CHECK(std::string(LoadTracingConfigurationFile(*files, "/tracing.yaml").status().message())
            .starts_with("tracing configuration /tracing.yaml: line 3: x is no field here"));
  const std::string missing(LoadTracingConfigurationFile(*files, "/none").status().message());
  CHECK(missing.starts_with("tracing configuration: "));
  CHECK(missing.find("/none") != std::string::npos);
}

TEST_CASE("tracing: a tracer needs a client", "[server]") {
  CHECK(apiserver::server::NewTracer({}, {}).status().message() ==
        "tracing: a factory of HTTP clients is required");
}
