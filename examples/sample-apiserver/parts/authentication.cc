#include <memory>
#include <string>
#include <utility>

#include "apiserver/groups/authentication.h"
#include "apiserver/groups/core.h"
#include "apiserver/groups/token_objects.h"
#include "apiserver/options/built_in_authentication.h"
#include "options.h"
#include "parts/parts.h"

namespace sample {

namespace {

using apiserver::Status;
namespace groups = apiserver::groups;

class Authentication final : public Part {
 public:
  void AddFlags(examples::CliFlags& flags) override { options_.AddFlags(flags); }

  std::string Problem(const Options& options) const override {
    const std::vector<std::string> problems = options_.Validate(options.standalone);
    return problems.empty() ? "" : problems.front();
  }

  Status Configure(const Environment& environment, apiserver::server::Config& config) override {
    options_.service_accounts.getter = objects_;
    options_.secrets = objects_->BootstrapSecrets();
    auto made = options_.ApplyTo(config, environment.around);
    if (!made.ok()) return made.status();
    made_ = *std::move(made);
    return {};
  }

  Status Install(const Environment& environment, apiserver::server::GenericAPIServer& server,
                 const apiserver::registry::StorageConfig& storage) override {
    if (!environment.options.standalone) return {};
    if (options_.WantsTokenObjects()) {
      const Status installed =
          groups::core::Install(server, {.storage = storage, .tokens = objects_});
      if (!installed.ok()) return installed;
    }
    const Status discovery = options_.InstallIssuerDiscovery(
        server, made_, environment.options.bind_address, environment.log);
    if (!discovery.ok()) return discovery;
    // Answers `kubectl auth whoami`, and servers that leave authentication to this one.
    return groups::authentication::Install(
        server, {.authenticator = made_.authenticator, .api_audiences = made_.api_audiences});
  }

 private:
  // Secrets and ServiceAccounts of this server, which tokens are checked against; they are served
  // where a flag asks for such tokens.
  std::shared_ptr<groups::TokenObjects> objects_ = std::make_shared<groups::TokenObjects>();
  apiserver::options::BuiltInAuthenticationOptions options_;
  apiserver::options::BuiltInAuthentication made_;
};

}  // namespace

std::unique_ptr<Part> NewAuthentication() { return std::make_unique<Authentication>(); }

}  // namespace sample
