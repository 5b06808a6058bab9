#include "overload/world.h"

#include <chrono>
#include <optional>
#include <utility>

#include "apiserver/base/status_macros.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/client.h"
#include "widget_server.h"

namespace overload {

namespace {

using namespace apiserver;  // NOLINT: tests only.

// "Bearer <user>": whoever says who she is, is believed.
class Believer final : public auth::Authenticator {
 public:
  Result<std::optional<auth::AuthenticateResponse>> Authenticate(
      const Context&, const http::Request& request) const override {
    std::string_view user = request.headers.Get("Authorization");
    if (!user.starts_with("Bearer ")) return std::nullopt;
    user.remove_prefix(7);
    return auth::AuthenticateResponse{std::make_shared<auth::UserInfo>(auth::UserInfo{
        .name = std::string(user),
        .groups = {"system:authenticated", user == "master" ? "system:masters" : "tenants"}})};
  }
};

// Holds what it runs on, and the seat, for five milliseconds.
class SlowStorage final : public rest::Storage,
                          public rest::Scoper,
                          public rest::SingularNameProvider,
                          public rest::Getter {
 public:
  explicit SlowStorage(runtime::KindPtr kind) : kind_(std::move(kind)) {}
  std::unique_ptr<runtime::Object> New() const override {
    return std::make_unique<runtime::Object>(kind_, "v1");
  }
  bool NamespaceScoped() const override { return true; }
  std::string GetSingularName() const override { return "widget"; }
  Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view name,
                                 const meta::GetOptions&) override {
    if (!ctx.may_block()) return Status(Reason::kWouldBlock, "it takes a while");
    Notification never;
    (void)never.WaitFor(std::chrono::milliseconds(5));
    auto object = New();
    object->Edit("metadata", "name") = name;
    object->Edit("metadata", "namespace") = "default";
    return runtime::ObjectPtr(std::move(object));
  }

 private:
  const runtime::KindPtr kind_;
};

}  // namespace

Result<std::unique_ptr<World>> World::Start() {
  auto world = std::make_unique<World>();
  APISERVER_ASSIGN_OR_RETURN(world->standalone_, server::NewStandalone({}));
  server::Config config;
  world->standalone_.Apply(config);
  config.authenticator = std::make_shared<Believer>();
  config.shutdown_grace = std::chrono::seconds(5);
  APISERVER_ASSIGN_OR_RETURN(auto completed, std::move(config).Complete());
  APISERVER_ASSIGN_OR_RETURN(world->server_, std::move(completed).New());
  const auto kind = testing::WidgetKind();
  APISERVER_RETURN_IF_ERROR(world->server_->scheme().Add(kind));
  APISERVER_RETURN_IF_ERROR(world->server_->InstallAPIGroup(
      {.group = "example.com",
       .storage = {{"v1", {{"widgets", std::make_shared<SlowStorage>(kind)}}}}}));
  APISERVER_RETURN_IF_ERROR(world->server_->PrepareRun());
  APISERVER_RETURN_IF_ERROR(world->server_->Start());
  APISERVER_RETURN_IF_ERROR(world->Configure());
  return world;
}

// As built in, but that tenants have a level of their own with a few seats.
Status World::Configure() {
  auto configuration = flowcontrol::BuiltInConfiguration();
  int shares = 0;
  for (const auto& level : configuration.priority_levels) {
    shares += level.nominal_concurrency_shares;
  }
  // Of 600 seats; rounded up, so a share less than it would be.
  const int mine = (kSeats * shares) / (600 - kSeats);
  configuration.priority_levels.push_back(
      {.name = "tenants",
       .uid = "",
       .nominal_concurrency_shares = mine,
       .borrowing_limit_percent = 0,
       .queuing = flowcontrol::QueuingConfiguration{128, 6, 50}});
  configuration.flow_schemas.push_back(
      {.name = "tenants",
       .uid = "",
       .priority_level = "tenants",
       .matching_precedence = 500,
       .distinguisher = flowcontrol::FlowSchema::Distinguisher::kByUser,
       .rules = {{.subjects = {{flowcontrol::Subject::Kind::kGroup, "tenants"}},
                  .resource_rules = {{{"*"}, {"*"}, {"*"}, true, {"*"}}},
                  .non_resource_rules = {}}}});
  server_->flow_control()->Configure(std::move(configuration));
  return {};
}

World::~World() {
  if (server_) server_->Stop();
}

Result<std::shared_ptr<http::Connection>> World::Dial(http::Dialer& dialer) const {
  APISERVER_ASSIGN_OR_RETURN(
      const auto options,
      client::DialOptionsFor(
          {.server = "https://127.0.0.1:" + std::to_string(port()), .ca_pem = ca_pem()}));
  APISERVER_ASSIGN_OR_RETURN(auto connection, dialer.Dial(Context::Background(), options));
  return std::shared_ptr<http::Connection>(std::move(connection));
}

http::ClientRequest World::RequestOf(const std::string& user) {
  return {.target = kTarget, .headers = {{"Authorization", "Bearer " + user}}};
}

}  // namespace overload
