// Groups that are installed, refused and replaced.
#include <catch2/catch.hpp>

#include <memory>
#include <string>

#include "widget_server.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Contains;
using testing::kWidgets;
using testing::StartWidgetServer;
using testing::TestServer;
using testing::Widget;

namespace {

// The marks that outlive a storage, for its test.
struct SeenGroup {
  int destroyed = 0;
};

// A resource whose storage is never ready.
class Sick final : public rest::Storage,
                   public rest::Scoper,
                   public rest::SingularNameProvider,
                   public rest::StorageWithReadiness {
 public:
  Sick(runtime::KindPtr kind, std::shared_ptr<SeenGroup> seen)
      : kind_(std::move(kind)), seen_(std::move(seen)) {}
  std::unique_ptr<runtime::Object> New() const override {
    return std::make_unique<runtime::Object>(kind_, "v1");
  }
  void Destroy() override { ++seen_->destroyed; }
  bool NamespaceScoped() const override { return true; }
  std::string GetSingularName() const override { return "gadget"; }
  Status ReadinessCheck() const override { return {Reason::kServiceUnavailable, "ill"}; }

 private:
  runtime::KindPtr kind_;
  std::shared_ptr<SeenGroup> seen_;
};

runtime::KindPtr GadgetKind() {
  const auto schema = runtime::StructBuilder("com.example.v1.Gadget")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Build();
  return runtime::Kind::New({.group = "other.example.com",
                             .kind = "Gadget",
                             .plural = "gadgets",
                             .versions = {{.version = "v1", .schema = schema}}})
      .value();
}

}  // namespace

TEST_CASE("server: a group that is refused leaves nothing behind", "[server]") {
  const auto seen = std::make_shared<SeenGroup>();
  const auto sick = std::make_shared<Sick>(GadgetKind(), seen);
  {
    const auto server = StartWidgetServer();
    REQUIRE(server->server().scheme().Add(GadgetKind()).ok());
    const Status refused = server->server().InstallAPIGroup(
        {"other.example.com", {{"v1", {{"gadgets", sick}}}, {"v2", {{"orphans/status", sick}}}}});
    CHECK(Contains(refused.ToString(), "its parent resource is not served"));
    CHECK(server->Call("GET", "/readyz").code == 200);
    CHECK(server->Call("GET", "/apis/other.example.com/v1").code == 404);
  }
  CHECK(seen->destroyed == 0);
}

TEST_CASE("server: a group version is installed once, and replaced when that is asked for",
          "[server]") {
  const auto seen = std::make_shared<SeenGroup>();
  const auto server = StartWidgetServer();
  REQUIRE(server->Call("POST", kWidgets, Widget("a", 1)).code == 201);
  const auto sick = std::make_shared<Sick>(testing::WidgetKind(), seen);
  const server::APIGroupInfo second{"example.com", {{"v1", {{"widgets", sick}}}}};

  const Status refused = server->server().InstallAPIGroup(second);
  CHECK(refused.reason() == Reason::kConflict);
  CHECK(refused.message() ==
        "server: example.com/v1 is served already; ReplaceAPIGroup() would replace it");
  CHECK(server->Call("GET", std::string(kWidgets) + "/a").code == 200);
  CHECK(server->Call("GET", "/readyz").code == 200);

  CHECK(server->server().ReplaceAPIGroup(second).ok());
  CHECK(server->Call("GET", std::string(kWidgets) + "/a").code == 404);
  CHECK(server->Call("GET", "/apis/example.com/v1alpha1/namespaces/default/widgets/a").code == 200);
}
