#include "apiserver/aggregator/cluster_authentication.h"

#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <vector>

#include "aggregator/front.h"
#include "apiserver/http/tls.h"
#include "served_kinds.h"

namespace aggregator_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using Data = std::map<std::string, std::string>;

std::string AuthorityPem(const std::string& name,
                         std::chrono::hours valid_for = std::chrono::hours(24)) {
  return http::NewCertificateAuthority(name, RealClock(), valid_for).value().certificate_pem;
}

const std::string& SomeCa() {
  static const std::string pem = AuthorityPem("some");
  return pem;
}
const std::string& AnotherCa() {
  static const std::string pem = AuthorityPem("another");
  return pem;
}

// An empty list for each header, and what the fields say.
aggregator::ClusterAuthentication Nothing() {
  return {.username_headers = {},
          .uid_headers = {},
          .group_headers = {},
          .extra_header_prefixes = {},
          .allowed_names = {}};
}

Data Headers(const std::string& ca, Data more = {}) {
  Data data{{"requestheader-username-headers", "[]"},
            {"requestheader-group-headers", "[]"},
            {"requestheader-extra-headers-prefix", "[]"},
            {"requestheader-allowed-names", "[]"},
            {"requestheader-client-ca-file", ca}};
  for (auto& [key, value] : more) data[key] = std::move(value);
  return data;
}

// TestWriteClientCAs of kubernetes/pkg/controlplane/controller/clusterauthenticationtrust; not its
// rows without the gate RemoteRequestHeaderUID.
TEST_CASE("aggregator: what extension servers are told is united as upstream does") {
  struct Case {
    const char* name;
    aggregator::ClusterAuthentication own;
    Data stored;
    Data expected;
  };
  aggregator::ClusterAuthentication full{.client_ca_pem = SomeCa(),
                                         .request_header_ca_pem = AnotherCa(),
                                         .username_headers = {"alfa", "bravo", "charlie"},
                                         .uid_headers = {"golf", "hotel", "india"},
                                         .group_headers = {"delta"},
                                         .extra_header_prefixes = {"echo", "foxtrot"},
                                         .allowed_names = {"first", "second"}};
  aggregator::ClusterAuthentication clients = Nothing();
  clients.client_ca_pem = SomeCa();
  aggregator::ClusterAuthentication proxies = Nothing();
  proxies.request_header_ca_pem = AnotherCa();
  aggregator::ClusterAuthentication names = proxies;
  names.allowed_names = {"first", "second"};
  aggregator::ClusterAuthentication panda = proxies;
  panda.uid_headers = {"panda"};
  const Data uid_of_others = Headers(AnotherCa(), {{"requestheader-uid-headers", "[\"snorlax\"]"}});
  const std::vector<Case> cases{
      {"basic",
       full,
       {},
       {{"client-ca-file", SomeCa()},
        {"requestheader-username-headers", R"(["alfa","bravo","charlie"])"},
        {"requestheader-uid-headers", R"(["golf","hotel","india"])"},
        {"requestheader-group-headers", R"(["delta"])"},
        {"requestheader-extra-headers-prefix", R"(["echo","foxtrot"])"},
        {"requestheader-client-ca-file", AnotherCa()},
        {"requestheader-allowed-names", R"(["first","second"])"}}},
      {"proxies alone",
       names,
       {},
       Headers(AnotherCa(), {{"requestheader-allowed-names", R"(["first","second"])"}})},
      {"clients alone", clients, {}, {{"client-ca-file", SomeCa()}}},
      {"empty allowed names", proxies, {}, Headers(AnotherCa())},
      {"overwrite",
       clients,
       {{"client-ca-file", AnotherCa()}},
       {{"client-ca-file", AnotherCa() + SomeCa()}}},
      {"overwrite requestheader", proxies, Headers(SomeCa()), Headers(SomeCa() + AnotherCa())},
      {"no change", proxies, Headers(AnotherCa()), Headers(AnotherCa())},
      {"add uid", panda, Headers(AnotherCa()),
       Headers(AnotherCa(), {{"requestheader-uid-headers", "[\"panda\"]"}})},
      {"append uid", panda, uid_of_others,
       Headers(AnotherCa(), {{"requestheader-uid-headers", R"(["snorlax","panda"])"}})},
  };
  for (const Case& each : cases) {
    CAPTURE(each.name);
    const auto merged = aggregator::MergeClusterAuthentication(each.stored, each.own, RealClock());
    REQUIRE(merged.ok());
    CHECK(*merged == each.expected);
  }
}

TEST_CASE("aggregator: authorities that have expired are told no more, and garbage is refused") {
  aggregator::ClusterAuthentication clients = Nothing();
  clients.client_ca_pem = SomeCa();
  const std::string expired = AuthorityPem("old", std::chrono::hours(-1));
  const auto merged =
      aggregator::MergeClusterAuthentication({{"client-ca-file", expired}}, clients, RealClock());
  REQUIRE(merged.ok());
  CHECK(*merged == Data{{"client-ca-file", SomeCa()}});

  aggregator::ClusterAuthentication proxies = Nothing();
  proxies.request_header_ca_pem = AnotherCa();
  CHECK_FALSE(aggregator::MergeClusterAuthentication({{"requestheader-allowed-names", "[1"}},
                                                     proxies, RealClock())
                  .ok());
  const std::string broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  CHECK_FALSE(
      aggregator::MergeClusterAuthentication({{"client-ca-file", broken}}, proxies, RealClock())
          .ok());
}

// TestWriteConfigMapDeleted, and what a server does by itself.
TEST_CASE("aggregator: the ConfigMap for extension servers is written, and put right again") {
  testing::TestServerOptions options;
  options.kinds = testing::ServedKinds({"ConfigMap", "Namespace"});
  options.install = [](server::GenericAPIServer& api) {
    return aggregator::PublishClusterAuthentication(
        api, {.own = [] { return aggregator::ClusterAuthentication{.client_ca_pem = SomeCa()}; },
              .period = std::chrono::milliseconds(20),
              .pause_after_failure = std::chrono::milliseconds(20)});
  };
  auto started = testing::StartTestServer(std::move(options));
  INFO(started.status().ToString());
  REQUIRE(started.ok());
  testing::TestServer& api = **started;
  constexpr char kPath[] =
      "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
  const auto told = [&] {
    return api.Call("GET", kPath).body.find(R"("client-ca-file":"-----BEGIN)") != std::string::npos;
  };
  CHECK(Eventually(told));
  CHECK(api.Call("GET", "/api/v1/namespaces/kube-system").code == 200);
  REQUIRE(api.Call("DELETE", kPath).code == 200);
  CHECK(Eventually(told));
  REQUIRE(api.Call("PUT", kPath,
                   R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":)"
                   R"("extension-apiserver-authentication"},"data":{}})")
              .code == 200);
  CHECK(Eventually(told));
}

}  // namespace
}  // namespace aggregator_test
