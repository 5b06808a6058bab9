#include "apiserver/controlplane/identity_lease.h"

#include <catch2/catch.hpp>

#include "apiserver/storage/memory/engine.h"
#include "apiserver/testing/server/fake_clock.h"
#include "controlplane/served.h"

namespace controlplane_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using std::chrono::milliseconds;

const std::string kLeases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
constexpr char kId[] = "apiserver-lgabes5ywnaqeagh5dny4zlzs4";

controlplane::IdentityLeaseOptions Quick(const Clock& clock = RealClock()) {
  return {.hostname = "node-1",
          .renew_period = milliseconds(10),
          .pause_after_failure = milliseconds(10),
          .gc_period = milliseconds(10),
          .clock = &clock};
}

std::unique_ptr<testing::TestServer> WithLease(controlplane::IdentityLeaseOptions options,
                                               storage::kv::Engine* engine = nullptr) {
  testing::TestServerOptions all;
  all.engine = engine;
  all.kinds = testing::ServedKinds({"Lease"});
  all.install = [options](server::GenericAPIServer& server) {
    return controlplane::AddIdentityLease(server, options);
  };
  auto started = testing::StartTestServer(std::move(all));
  REQUIRE(started.status() == Status());
  return *std::move(started);
}

}  // namespace

TEST_CASE("controlplane: the id of a server is the one that Go's has", "[controlplane]") {
  CHECK(controlplane::ApiServerId("node-1", "kube-apiserver") == kId);
  CHECK(controlplane::ApiServerId("node-1", "other") != kId);
}

TEST_CASE("controlplane: a server renews its Lease, and deletes it when it stops",
          "[controlplane]") {
  testing::FakeClock clock;
  const auto engine = storage::memory::NewEngine();
  auto api = WithLease(Quick(clock), engine.get());
  const std::string path = kLeases + "/" + kId;
  REQUIRE(Eventually([&] { return api->Call("GET", path).code == 200; }));

  const std::string lease = api->Call("GET", path).body;
  CHECK(TextAt(lease, {"spec", "holderIdentity"}).starts_with(std::string(kId) + "_"));
  CHECK(lease.find(R"("leaseDurationSeconds":3600)") != std::string::npos);
  CHECK(TextAt(lease, {"spec", "renewTime"}) == "2020-09-13T12:26:40.000000Z");
  CHECK(TextAt(lease, {"metadata", "labels", "apiserver.kubernetes.io/identity"}) ==
        "kube-apiserver");
  CHECK(TextAt(lease, {"metadata", "labels", "kubernetes.io/hostname"}) == "node-1");
  clock.Advance(std::chrono::seconds(10));
  CHECK(Eventually([&] {
    return TextAt(api->Call("GET", path).body, {"spec", "renewTime"}) ==
           "2020-09-13T12:26:50.000000Z";
  }));

  api.reset();
  const auto left = engine->Range(Context::Background(),
                                  {.key = "/registry/coordination.k8s.io/leases/kube-system/",
                                   .end = "/registry/coordination.k8s.io/leases/kube-system0"});
  REQUIRE(left.ok());
  CHECK(left->count == 0);
}

TEST_CASE("controlplane: a Lease that somebody deletes or changes is kept up", "[controlplane]") {
  const auto api = WithLease(Quick());
  const std::string path = kLeases + "/" + kId;
  REQUIRE(Eventually([&] { return api->Call("GET", path).code == 200; }));
  const std::string uid = TextAt(api->Call("GET", path).body, {"metadata", "uid"});

  REQUIRE(api->Call("DELETE", path).code == 200);

  CHECK(Eventually([&] {
    const auto answer = api->Call("GET", path);
    return answer.code == 200 && TextAt(answer.body, {"metadata", "uid"}) != uid;
  }));
  REQUIRE(api->Call("PATCH", path, R"({"metadata":{"labels":{"kubernetes.io/hostname":"x"}}})",
                    {{"Content-Type", "application/merge-patch+json"}})
              .code == 200);
  CHECK(Eventually([&] {
    return TextAt(api->Call("GET", path).body, {"metadata", "labels", "kubernetes.io/hostname"}) ==
           "node-1";
  }));
}

// Test_Controller of apiserverleasegc.
TEST_CASE("controlplane: expired Leases of servers are deleted, and no others", "[controlplane]") {
  struct Row {
    std::string name;
    std::string identity;
    std::string spec;
    bool deleted;
  };
  testing::FakeClock clock;
  const std::string duration = R"("leaseDurationSeconds":10)";
  const std::string now = R"(,"renewTime":"2020-09-13T12:26:40.000000Z")";
  const std::string minute_ago = R"(,"renewTime":"2020-09-13T12:25:40.000000Z")";
  const std::vector<Row> rows{
      {"not-expired", "kube-apiserver", duration + now, false},
      {"of-another-component", "kube-controller-manager", duration + minute_ago, false},
      {"expired", "kube-apiserver", duration + minute_ago, true},
      {"without-time", "kube-apiserver", duration, true},
      {"without-duration", "kube-apiserver", now.substr(1), true},
  };
  controlplane::IdentityLeaseOptions options = Quick(clock);
  const auto api = WithLease(options);
  for (const Row& row : rows) {
    REQUIRE(api->Call("POST", kLeases,
                      R"({"metadata":{"name":")" + row.name +
                          R"(","labels":{"apiserver.kubernetes.io/identity":")" + row.identity +
                          R"("}},"spec":{"holderIdentity":"x",)" + row.spec + "}}")
                .code == 201);
  }

  for (const Row& row : rows) {
    if (!row.deleted) continue;
    CAPTURE(row.name);
    CHECK(Eventually([&] { return api->Call("GET", kLeases + "/" + row.name).code == 404; }));
  }
  for (const Row& row : rows) {
    if (row.deleted) continue;
    CAPTURE(row.name);
    CHECK(api->Call("GET", kLeases + "/" + row.name).code == 200);
  }
  CHECK(Eventually([&] { return api->Call("GET", kLeases + "/" + kId).code == 200; }));
}

}  // namespace controlplane_test
