#include "groups/rbac_server.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <optional>

#include "apiserver/authz/builtin.h"
#include "apiserver/authz/union.h"
#include "apiserver/base/sync.h"
#include "apiserver/groups/authorization.h"
#include "apiserver/groups/core.h"
#include "apiserver/groups/rbac.h"
#include "apiserver/http/in_process.h"
#include "apiserver/server/install.h"
#include "apiserver/storage/memory/engine.h"

namespace rbac_server {
namespace {

namespace auth = apiserver::auth;
namespace authz = apiserver::authz;
using apiserver::Context;
using apiserver::Result;

// Believes the headers.
class Believing final : public auth::Authenticator {
 public:
  Result<std::optional<auth::AuthenticateResponse>> Authenticate(
      const Context& /*ctx*/, const apiserver::http::Request& request) const override {
    auth::UserInfo user{.name = std::string(request.headers.Get("X-Test-User"))};
    if (user.name.empty()) return std::optional<auth::AuthenticateResponse>();
    for (const auto& header : request.headers) {
      if (header.name == "X-Test-Group") user.groups.push_back(header.value);
    }
    return std::optional<auth::AuthenticateResponse>(
        {.user = std::make_shared<const auth::UserInfo>(std::move(user))});
  }
};

bool WithinAMinute(const std::function<bool()>& done) {
  const apiserver::Notification never;
  for (int i = 0; i < 12'000; ++i) {
    if (done()) return true;
    (void)never.WaitFor(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace

RbacServer::RbacServer(Options options) : rbac_(authz::rbac::NewRbacAuthorizer()) {
  if (options.engine == nullptr) {
    own_engine_ = apiserver::storage::memory::NewEngine();
    options.engine = own_engine_.get();
  }
  std::vector<std::shared_ptr<const auth::Authorizer>> authorizers = {
      authz::NewPrivilegedGroups({std::string(auth::kSystemPrivilegedGroup)}), rbac_};
  if (options.last) authorizers.push_back(options.last);
  const std::shared_ptr<const auth::Authorizer> authorizer =
      authz::NewUnion(std::move(authorizers));
  apiserver::server::Config config;
  config.authenticator = std::make_shared<Believing>();
  config.authorizer = authorizer;
  auto completed = std::move(config).Complete();
  REQUIRE(completed.ok());
  auto server = std::move(*completed).New();
  REQUIRE(server.ok());
  server_ = std::move(*server);
  const auto installed = apiserver::groups::rbac::Install(
      *server_, {.storage = {.engine = options.engine, .executor = &server_->pool()},
                 .rbac = rbac_,
                 .authorizer = authorizer,
                 .bootstrap = options.bootstrap});
  INFO(installed.ToString());
  REQUIRE(installed.ok());
  if (options.namespaces) {
    auto kinds = apiserver::groups::core::ClusterResources(apiserver::RealClock());
    REQUIRE(kinds.ok());
    const auto kinds_installed = apiserver::server::InstallKinds(
        *server_, server_->Storage(*options.engine), *std::move(kinds));
    INFO(kinds_installed.status().ToString());
    REQUIRE(kinds_installed.ok());
  }
  REQUIRE(apiserver::groups::authorization::Install(*server_, authorizer, rbac_).ok());
  REQUIRE(server_->PrepareRun().ok());
  const auto started = server_->Start();
  INFO(started.ToString());
  REQUIRE(started.ok());
  connection_ = apiserver::http::NewInProcessConnection(server_->service());
}

RbacServer::~RbacServer() {
  connection_.reset();
  if (server_) server_->Stop();
}

apiserver::http::ClientResponse RbacServer::Call(const Who& who, std::string method,
                                                 std::string target, std::string body,
                                                 const std::string& content_type,
                                                 const std::string& accept) {
  apiserver::http::ClientRequest request{
      .method = std::move(method), .target = std::move(target), .body = std::move(body)};
  request.headers.Add("X-Test-User", who.name);
  for (const std::string& group : who.groups) request.headers.Add("X-Test-Group", group);
  if (!request.body.empty()) request.headers.Add("Content-Type", content_type);
  request.headers.Add("Accept", accept);
  auto response = connection_->Call(Context::Background(), request);
  INFO(response.status().ToString());
  REQUIRE(response.ok());
  return std::move(*response);
}

bool RbacServer::Eventually(bool allowed, const Who& who, const std::string& method,
                            const std::string& target) {
  return WithinAMinute([&] {
    const int code = Call(who, method, target).code;
    // An authorizer that fails has not allowed anything.
    return allowed ? code != 403 && code < 500 : code == 403;
  });
}

bool RbacServer::EventuallyContains(const std::string& target, const std::string& text,
                                    const Who& who) {
  return WithinAMinute(
      [&] { return Call(who, "GET", target).body.find(text) != std::string::npos; });
}

std::string RbacServer::Table(const std::string& target) {
  return Call(Root(), "GET", target, "", "", "application/json;as=Table;v=v1;g=meta.k8s.io").body;
}

}  // namespace rbac_server
