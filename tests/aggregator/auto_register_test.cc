#include "aggregator/control/auto_register.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aggregator/front.h"
#include "apiserver/base/sync.h"
#include "apiserver/discovery/defined_versions.h"

namespace aggregator_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using aggregator::Action;
using aggregator::Managed;
using aggregator::Present;

struct DecideCase {
  std::string name;
  std::optional<Present> present;
  std::optional<Managed> wanted;
  Action action;
  bool synced = false;
};

// TestSync of autoregister_controller_test.go, and the rest of the table of checkAPIService.
// Returns whether the object at `path` comes to contain `text`.
testing::WaitResult Shows(const Front& front, const std::string& path, const std::string& text) {
  return Eventually([&] { return front.Get(path).body.find(text) != std::string::npos; });
}

// Checks that the server registers a local APIService at `path`, with the priorities of a defined
// one.
void CheckRegistered(const Front& front, const std::string& path) {
  CHECK(Shows(front, path, R"("groupPriorityMinimum":1000,"versionPriority":100)"));
  CHECK(Shows(front, path, R"("kube-aggregator.kubernetes.io/automanaged":"true")"));
  CHECK(Shows(front, path, R"("reason":"Local")"));
}

// Changes a priority as a user does.
void ChangePriority(const Front& front, const std::string& path) {
  CHECK(front.server
            ->Call("PATCH", path, R"({"spec":{"versionPriority":7}})",
                   {{"Content-Type", "application/merge-patch+json"}})
            .code == 200);
}

TEST_CASE("aggregator: APIServices of the server are managed as upstream's are") {
  const Present users{.managed = Managed::kNot};
  const Present always{.managed = Managed::kAlways, .as_wanted = true};
  const Present changed{.managed = Managed::kAlways};
  const Present at_start{.managed = Managed::kOnStart, .at_start = true};
  const Present later{.managed = Managed::kOnStart};
  const auto none = std::optional<Present>();
  const auto unwanted = std::optional<Managed>();
  const std::vector<DecideCase> cases{
      {"adding an API service which isn't auto-managed does nothing", users, unwanted,
       Action::kNothing},
      {"adding one to auto-register should create", none, Managed::kAlways, Action::kCreate},
      {"duplicate AddAPIServiceToSync", always, Managed::kAlways, Action::kNothing},
      {"duplicate RemoveAPIServiceToSync", always, unwanted, Action::kDelete},
      {"removing auto-managed then RemoveAPIService should not touch APIService", users, unwanted,
       Action::kNothing},
      {"create managed apiservice without a matching request", always, unwanted, Action::kDelete},
      {"modifying it should result in stomping", changed, Managed::kAlways, Action::kUpdate},
      {"adding one to auto-register on start should create", none, Managed::kOnStart,
       Action::kCreate},
      {"adding one to auto-register on start already synced should do nothing", none,
       Managed::kOnStart, Action::kNothing, true},
      {"managed onstart apiservice present at start without a matching request should delete",
       at_start, unwanted, Action::kDelete},
      {"managed onstart present at start without a matching request already synced should no-op",
       at_start, unwanted, Action::kNothing, true},
      {"managed onstart not present at start without a matching request should no-op", later,
       unwanted, Action::kNothing},
      {"modifying onstart it should result in stomping", changed, Managed::kOnStart,
       Action::kUpdate},
      {"modifying onstart already synced should no-op", changed, Managed::kOnStart,
       Action::kNothing, true},
      {"2A", none, unwanted, Action::kNothing},
      {"2C, again", none, Managed::kAlways, Action::kCreate, true},
      {"3B", users, Managed::kOnStart, Action::kNothing},
      {"3C", users, Managed::kAlways, Action::kNothing},
      {"4B", later, Managed::kOnStart, Action::kNothing},
      {"4C", later, Managed::kAlways, Action::kNothing},
      {"5B", at_start, Managed::kOnStart, Action::kUpdate},
      {"5C", at_start, Managed::kAlways, Action::kUpdate},
      {"5C, once", at_start, Managed::kAlways, Action::kNothing, true},
      {"6A, again", always, unwanted, Action::kDelete, true},
      {"6C, again", changed, Managed::kAlways, Action::kUpdate, true},
  };
  for (const DecideCase& each : cases) {
    CAPTURE(each.name);
    CHECK(aggregator::Decide(each.present, each.wanted, each.synced) == each.action);
  }
}

TEST_CASE("aggregator: built-in group versions have a kube-apiserver's priorities") {
  const auto priorities = [](const std::string& group, const std::string& version) {
    const auto row = aggregator::BuiltIn(group, version);
    if (!row) return std::string();
    return std::to_string(row->group_priority) + "/" + std::to_string(row->version_priority);
  };
  CHECK(priorities("", "v1") == "18000/1");
  CHECK(priorities("autoscaling", "v2") == "17500/30");
  CHECK(priorities("apiextensions.k8s.io", "v1") == "16700/15");
  CHECK(priorities("storagemigration.k8s.io", "v1beta1") == "15800/9");
  CHECK(priorities("apiregistration.k8s.io", "v1").empty());
  CHECK(priorities("example.com", "v1").empty());
}

TEST_CASE("aggregator: what is wanted is created, put right and deleted") {
  const Front front;
  const auto client = std::shared_ptr<client::Client>(
      client::NewClient(front.server->server().LoopbackConnection()));
  const auto find = [&client](const std::string& name) -> runtime::ObjectPtr {
    auto found =
        client->Get(Context::Background(),
                    {.resource = {"apiregistration.k8s.io", "v1", "apiservices"}, .name = name});
    return found.ok() ? runtime::ObjectPtr(*std::move(found)) : nullptr;
  };
  aggregator::AutoRegister registration(
      {.pool = &front.server->server().pool(), .client = client, .find = find});
  const std::string path = std::string(kAPIServices) + "/v1.a.com";
  registration.Want(
      {.group = "a.com", .version = "v1", .group_priority = 1000, .version_priority = 100});
  registration.Start({});
  CheckRegistered(front, path);

  ChangePriority(front, path);
  registration.Add("v1.a.com");
  CHECK(Shows(front, path, R"("versionPriority":100)"));

  registration.WantNot("v1.a.com");
  CHECK(Eventually([&] { return front.Get(path).code == 404; }));
}

TEST_CASE("aggregator: a server registers its built-in group versions when it starts") {
  const runtime::KindPtr kind =
      runtime::Kind::New({.group = "policy",
                          .kind = "Thing",
                          .plural = "things",
                          .versions = {{.version = "v1", .schema = runtime::AnySchema()}}})
          .value();
  const Front front(std::chrono::seconds(30), std::chrono::minutes(1), {{.kind = kind}});
  const std::string path = std::string(kAPIServices) + "/v1.policy";
  CHECK(Eventually([&] { return front.Get(path).code == 200; }));
  const std::string body = front.Get(path).body;
  CHECK(body.find(R"("groupPriorityMinimum":17100,"versionPriority":15)") != std::string::npos);
  CHECK(body.find(R"("kube-aggregator.kubernetes.io/automanaged":"onstart")") != std::string::npos);
  CHECK(front.Get("/apis/policy/v1/namespaces/default/things").code == 200);
  // The server is ready, for good, once they have been available.
  const std::string check = "/readyz/autoregister-completion";
  CHECK(Eventually([&] { return front.Get(check).code == 200; }));
  for (const char* name : {"apiservice-openapi-controller", "apiservice-openapiv3-controller"}) {
    CHECK(front.Get("/readyz/poststarthook/" + std::string(name)).code == 200);
  }
  CHECK(front.Get(std::string(kAPIServices) + "/v1.apiregistration.k8s.io").code == 404);
}

// Tells of what a test defines.
class Definitions final : public discovery::DefinedVersions {
 public:
  void Follow(Told told) override { *told_.Lock() = std::move(told); }
  bool WaitForSync(std::chrono::milliseconds) const override { return true; }
  bool followed() const { return static_cast<bool>(*told_.Lock()); }
  void Define(const runtime::GroupVersion& version, bool defined) const {
    (*told_.Lock())(version, defined);
  }

 private:
  Guarded<Told> told_;
};

TEST_CASE("aggregator: group versions have an APIService for as long as they are defined") {
  const auto definitions = std::make_shared<Definitions>();
  {
    const Front front(std::chrono::seconds(30), std::chrono::minutes(1), {}, definitions);
    const std::string path = std::string(kAPIServices) + "/v1.b.com";
    REQUIRE(Eventually([&] { return definitions->followed(); }));
    definitions->Define({"b.com", "v1"}, true);
    CheckRegistered(front, path);
    // The server undoes a change and a deletion by a user.
    ChangePriority(front, path);
    CHECK(Shows(front, path, R"("versionPriority":100)"));
    CHECK(front.server->Call("DELETE", path).code == 200);
    CHECK(Shows(front, path, R"("reason":"Local")"));

    definitions->Define({"b.com", "v1"}, false);
    CHECK(Eventually([&] { return front.Get(path).code == 404; }));
  }
  CHECK_FALSE(definitions->followed());
}

}  // namespace
}  // namespace aggregator_test
