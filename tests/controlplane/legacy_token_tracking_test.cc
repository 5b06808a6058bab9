#include "apiserver/controlplane/legacy_token_tracking.h"

#include <catch2/catch.hpp>

#include "apiserver/testing/server/fake_clock.h"
#include "controlplane/served.h"

namespace controlplane_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using std::chrono::milliseconds;

const std::string kMaps = "/api/v1/namespaces/kube-system/configmaps";
const std::string kMap = kMaps + "/" + controlplane::kLegacyTokenTracking;

std::unique_ptr<testing::TestServer> Tracking(const Clock& clock) {
  return Start({"ConfigMap"}, [&clock](server::GenericAPIServer& server) {
    return controlplane::AddLegacyTokenTracking(
        server,
        {.period = milliseconds(5), .pause_after_failure = milliseconds(5), .clock = &clock});
  });
}

std::string Since(testing::TestServer& api) {
  const auto answer = api.Call("GET", kMap);
  return answer.code == 200 ? TextAt(answer.body, {"data", "since"}) : "";
}

}  // namespace

// TestSyncConfigMap: it is created, kept if it has a date, mended if not, and not created again
// within half an hour.
TEST_CASE("controlplane: legacy tokens are tracked since a date", "[controlplane]") {
  testing::FakeClock clock;
  const auto api = Tracking(clock);
  CHECK(Since(*api) == "2020-09-13");
  const auto put = [&](const std::string& data) {
    return api
        ->Call("PUT", kMap,
               R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" +
                   std::string(controlplane::kLegacyTokenTracking) + R"("},"data":{)" + data + "}}")
        .code;
  };

  REQUIRE(put(R"("since":"2019-12-31")") == 200);
  clock.Advance(std::chrono::hours(24));
  REQUIRE(put(R"("other":"x")") == 200);
  CHECK(Eventually([&] { return Since(*api) == "2020-09-14"; }));
  REQUIRE(put(R"("since":"2020-13-45")") == 200);
  CHECK(Eventually([&] { return Since(*api) == "2020-09-14"; }));
}

TEST_CASE("controlplane: a ConfigMap that somebody deletes is made anew after half an hour",
          "[controlplane]") {
  testing::FakeClock clock;
  const auto api = Tracking(clock);
  REQUIRE(Since(*api) == "2020-09-13");
  REQUIRE(api->Call("DELETE", kMap).code == 200);
  clock.Advance(std::chrono::minutes(29));
  // Longer than the pause between two looks.
  for (int i = 0; i < 200; ++i) REQUIRE(Since(*api).empty());

  clock.Advance(std::chrono::minutes(2));

  CHECK(Eventually([&] { return Since(*api) == "2020-09-13"; }));
}

}  // namespace controlplane_test
