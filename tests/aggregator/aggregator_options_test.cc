#include "apiserver/aggregator/aggregator_options.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "aggregator/front.h"
#include "apiserver/testing/server/test_server.h"
#include "contains.h"
#include "options/read_flags.h"
#include "storage/rocks/temp_directory.h"

namespace aggregator_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using aggregator::AggregatorOptions;

TEST_CASE("aggregator: flags have kube-apiserver's names and defaults") {
  AggregatorOptions options;
  testing::ReadFlags flags;
  options.AddFlags(flags);
  CHECK(flags.Names() == std::vector<std::string>{"--proxy-client-cert-file",
                                                  "--proxy-client-key-file",
                                                  "--enable-aggregator-routing",
                                                  "--aggregator-reject-forwarding-redirect"});
  CHECK_FALSE(options.enable_aggregator_routing);
  CHECK(options.reject_forwarding_redirect);
  CHECK(options.Validate().ok());
  SECTION("a certificate without its key") {
    CHECK(flags.Read({{"--proxy-client-cert-file", "a"}}).empty());
    CHECK(options.Validate().message() ==
          "--proxy-client-cert-file and --proxy-client-key-file must be given together");
  }
  SECTION("a key without its certificate") {
    CHECK(flags.Read({{"--proxy-client-key-file", "a"}}).empty());
    CHECK_FALSE(options.Validate().ok());
  }
  SECTION("both") {
    CHECK(flags
              .Read({{"--proxy-client-cert-file", "a"},
                     {"--proxy-client-key-file", "b"},
                     {"--aggregator-reject-forwarding-redirect", "false"}})
              .empty());
    CHECK(options.Validate().ok());
    CHECK_FALSE(options.reject_forwarding_redirect);
  }
}

TEST_CASE("aggregator: --enable-aggregator-routing says where requests are sent") {
  const auto services = aggregator::NewStaticServices();
  services->Set({.namespace_ = "ns",
                 .name = "cluster",
                 .cluster_ip = "10.0.0.7",
                 .ports = {{.name = "https", .port = 443}}});
  services->SetEndpointSlices(
      "ns", "cluster",
      {{.endpoints = {{.addresses = {"10.1.1.1"}}}, .ports = {{.name = "https", .port = 8443}}}});
  services->Set({.namespace_ = "ns",
                 .name = "external",
                 .type = "ExternalName",
                 .external_name = "example.com"});
  const auto resolved = [&](const testing::ReadFlags::Words& words, const char* name) {
    AggregatorOptions options;
    testing::ReadFlags flags;
    options.AddFlags(flags);
    CHECK(flags.Read(words).empty());
    const auto host = options.NewResolver(services)->ResolveEndpoint("ns", name, 443);
    return host.ok() ? *host : "none";
  };
  CHECK(resolved({}, "cluster") == "10.1.1.1:8443");
  CHECK(resolved({}, "external") == "example.com:443");
  const testing::ReadFlags::Words on{{"--enable-aggregator-routing", "true"}};
  CHECK(resolved(on, "cluster") == "10.1.1.1:8443");
  CHECK(resolved(on, "external") == "none");
  const testing::ReadFlags::Words off{{"--enable-aggregator-routing", "false"}};
  CHECK(resolved(off, "cluster") == "10.0.0.7:443");
  CHECK(resolved(off, "external") == "example.com:443");
}

// The files of a certificate and of its key.
struct Files {
  Files() {
    CHECK(RealFileSystem().MakeDirectories(folder.path(), 0700).ok());
    (void)Write("first");
  }
  std::string certificate() const { return folder.path() + "/proxy.crt"; }
  std::string key() const { return folder.path() + "/proxy.key"; }
  http::KeyPair Write(const std::string& name) const {
    const auto authority = http::NewCertificateAuthority(name, RealClock()).value();
    auto pair =
        http::NewCertificate(authority, {.common_name = name, .client = true}, RealClock()).value();
    CHECK(RealFileSystem().WriteAtomically(certificate(), pair.certificate_pem, 0600).ok());
    CHECK(RealFileSystem().WriteAtomically(key(), pair.key_pem, 0600).ok());
    return pair;
  }
  storage::rocks::TempDirectory folder;
};

TEST_CASE("aggregator: the files of a front proxy's certificate are followed") {
  const Files files;
  AggregatorOptions options{.proxy_client_cert_file = files.certificate(),
                            .proxy_client_key_file = files.key(),
                            .reload_period = std::chrono::milliseconds(5)};
  std::shared_ptr<const Source<http::KeyPair>> pair;
  Status failed;
  testing::TestServerOptions server;
  server.install = [&](server::GenericAPIServer& api) -> Status {
    auto followed = options.FollowProxyClient(api);
    if (!followed.ok()) return failed = followed.status();
    pair = *followed;
    return {};
  };
  const std::string hook = "[+]poststarthook/aggregator-reload-proxy-client-cert ok";
  SECTION("a changed certificate") {
    auto started = testing::StartTestServer(std::move(server));
    REQUIRE(started.ok());
    for (const char* path : {"/readyz?verbose", "/livez?verbose"}) {
      CHECK(testing::Contains((*started)->Call("GET", path).body, hook));
    }
    const http::KeyPair second = files.Write("second");
    CHECK(Eventually([&] { return *pair->Get() == second; }));
  }
  SECTION("no certificate") {
    options = {};
    auto started = testing::StartTestServer(std::move(server));
    REQUIRE(started.ok());
    CHECK(pair == nullptr);
    CHECK_FALSE(testing::Contains((*started)->Call("GET", "/readyz?verbose").body, hook));
  }
  SECTION("a certificate that comes before its key") {
    const http::KeyPair first = files.Write("first");
    auto install = std::move(server.install);
    // Between the installation and the hook.
    server.install = [&](server::GenericAPIServer& api) -> Status {
      Status installed = install(api);
      const std::string key = RealFileSystem().Read(files.key()).value();
      (void)files.Write("second");
      CHECK(RealFileSystem().WriteAtomically(files.key(), key, 0600).ok());
      return installed;
    };
    auto started = testing::StartTestServer(std::move(server));
    REQUIRE(started.ok());
    CHECK(*pair->Get() == first);
    const http::KeyPair third = files.Write("third");
    CHECK(Eventually([&] { return *pair->Get() == third; }));
  }
  SECTION("a key of another certificate") {
    const std::string key = RealFileSystem().Read(files.key()).value();
    (void)files.Write("second");
    CHECK(RealFileSystem().WriteAtomically(files.key(), key, 0600).ok());
    CHECK_FALSE(testing::StartTestServer(std::move(server)).ok());
    CHECK(std::string(failed.message()).starts_with("--proxy-client-*: "));
  }
}

}  // namespace
}  // namespace aggregator_test
