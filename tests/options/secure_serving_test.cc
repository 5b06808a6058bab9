#include "apiserver/options/secure_serving.h"

#include <catch2/catch.hpp>

#include "read_flags.h"

namespace apiserver::inline v0::options {
namespace {

using testing::ReadFlags;
using Texts = std::vector<std::string>;

}  // namespace

// Upstream's are 0.0.0.0 and 443; what a program starts without being told is nobody else's to
// call.
TEST_CASE("options: a server listens on the loopback's port 6443 by default", "[options]") {
  const SecureServingOptions options;
  server::StandaloneOptions standalone;
  options.ApplyTo(standalone);
  CHECK(standalone.address == "127.0.0.1");
  CHECK(standalone.port == 6443);
  CHECK(standalone.data_dir.empty());
  CHECK(standalone.tls_cert_file.empty());
  CHECK(standalone.tls_key_file.empty());
  CHECK(standalone.sni.empty());
  CHECK(options.http2_max_streams_per_connection == 1000);
}

TEST_CASE("options: each flag of serving sets what it is about", "[options]") {
  SecureServingOptions options;
  ReadFlags flags;
  options.AddFlags(flags);
  REQUIRE(flags
              .Read({{"--secure-port", "7443"},
                     {"--bind-address", "::1"},
                     {"--cert-dir", "/certificates"},
                     {"--tls-cert-file", "/cert"},
                     {"--tls-private-key-file", "/key"},
                     {"--tls-sni-cert-key", "a.crt,a.key"},
                     {"--tls-sni-cert-key", "b.crt,b.key:*.b.example"},
                     {"--tls-cipher-suites", "A,B"},
                     {"--tls-min-version", "VersionTLS13"},
                     {"--http2-max-streams-per-connection", "7"}})
              .empty());
  server::StandaloneOptions standalone;
  options.ApplyTo(standalone);
  CHECK(standalone.port == 7443);
  CHECK(standalone.address == "::1");
  CHECK(standalone.data_dir == "/certificates");
  CHECK(standalone.tls_cert_file == "/cert");
  CHECK(standalone.tls_key_file == "/key");
  REQUIRE(standalone.sni.size() == 2);
  CHECK(standalone.sni[0].cert_file == "a.crt");
  CHECK(standalone.sni[1].key_file == "b.key");
  CHECK(standalone.sni[1].names == Texts{"*.b.example"});
  CHECK(standalone.tls.cipher_suites == Texts{"A", "B"});
  CHECK(standalone.tls.min_version == "VersionTLS13");

  server::Config config;
  options.ApplyTo(config);
  CHECK_FALSE(config.serving);  // A server that does not listen has no connections.
  config.serving.emplace();
  options.ApplyTo(config);
  CHECK(config.serving->streams_max == 7);
}

TEST_CASE("options: certificates for names that cannot be read are refused with their flag",
          "[options]") {
  SecureServingOptions options;
  ReadFlags flags;
  options.AddFlags(flags);
  const std::string problem = flags.Read({{"--tls-sni-cert-key", "only-one"}});
  CHECK(problem.starts_with("--tls-sni-cert-key: "));
  CHECK(problem.size() > std::string("--tls-sni-cert-key: ").size());
}

TEST_CASE("options: a port and a number of streams have bounds", "[options]") {
  SecureServingOptions options;
  ReadFlags flags;
  options.AddFlags(flags);
  const auto& port = flags.Spec("--secure-port")->range;
  REQUIRE(port);
  CHECK(port->min == 0);
  CHECK(port->max == 65535);
  const auto& streams = flags.Spec("--http2-max-streams-per-connection")->range;
  REQUIRE(streams);
  CHECK(streams->min == 1);
  CHECK(streams->max == 100'000);
}

}  // namespace apiserver::inline v0::options
