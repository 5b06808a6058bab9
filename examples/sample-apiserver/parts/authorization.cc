#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "apiserver/auth/authorizer.h"
#include "apiserver/authz/builtin.h"
#include "apiserver/authz/rbac.h"
#include "apiserver/authz/union.h"
#include "apiserver/groups/authorization.h"
#include "apiserver/groups/rbac.h"
#include "options.h"
#include "parts/parts.h"

namespace sample {

namespace {

using apiserver::Status;
namespace authz = apiserver::authz;
namespace groups = apiserver::groups;

class Authorization final : public Part {
 public:
  void AddFlags(CLI::App& app) override {
    app.add_option("--authorization-mode", mode_,
                   "Who may do what: RBAC (by roles and bindings; system:masters may everything) "
                   "or AlwaysAllow (everybody who is known, everything)")
        ->check(CLI::IsMember({"RBAC", "AlwaysAllow"}))
        ->capture_default_str();
  }

  Status Configure(const Environment& environment, apiserver::server::Config& config) override {
    // Then a cluster decides.
    if (!environment.options.standalone) return {};
    if (mode_ == "RBAC") {
      rbac_ = authz::rbac::NewRbacAuthorizer();
      authorizer_ = authz::NewUnion(
          {authz::NewPrivilegedGroups({std::string(apiserver::auth::kSystemPrivilegedGroup)}),
           rbac_});
    }
    config.authorizer = authorizer_;
    return {};
  }

  Status Install(const Environment& environment, apiserver::server::GenericAPIServer& server,
                 const apiserver::registry::StorageConfig& storage) override {
    if (!environment.options.standalone) return {};
    if (rbac_) {
      Status installed = groups::rbac::Install(
          server,
          {.storage = storage, .rbac = rbac_, .authorizer = authorizer_, .log = &environment.log});
      if (!installed.ok()) return installed;
    }
    // Answers `kubectl auth can-i`.
    return groups::authorization::Install(server, authorizer_, rbac_);
  }

 private:
  std::string mode_ = "RBAC";
  std::shared_ptr<authz::rbac::RbacAuthorizer> rbac_;  // Null: everything is allowed.
  std::shared_ptr<const apiserver::auth::Authorizer> authorizer_;
};

}  // namespace

std::unique_ptr<Part> NewAuthorization() { return std::make_unique<Authorization>(); }

}  // namespace sample
