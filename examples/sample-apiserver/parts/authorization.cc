#include <memory>
#include <string>
#include <utility>

#include "apiserver/groups/authorization.h"
#include "apiserver/groups/rbac.h"
#include "apiserver/options/authorization.h"
#include "options.h"
#include "parts/parts.h"

namespace sample {

namespace {

using apiserver::Status;
namespace groups = apiserver::groups;

class Authorization final : public Part {
 public:
  void AddFlags(examples::CliFlags& flags) override { options_.AddFlags(flags); }

  std::string Problem(const Options& options) const override {
    const std::vector<std::string> problems = options_.Validate(options.standalone);
    return problems.empty() ? "" : problems.front();
  }

  Status Configure(const Environment& environment, apiserver::server::Config& config) override {
    auto made = options_.ApplyTo(config, environment.around);
    if (!made.ok()) return made.status();
    made_ = *std::move(made);
    return {};
  }

  Status Install(const Environment& environment, apiserver::server::GenericAPIServer& server,
                 const apiserver::registry::StorageConfig& storage) override {
    if (!environment.options.standalone) return {};
    if (made_.rbac) {
      const Status installed = groups::rbac::Install(server, {.storage = storage,
                                                              .rbac = made_.rbac,
                                                              .authorizer = made_.authorizer,
                                                              .log = &environment.log});
      if (!installed.ok()) return installed;
    }
    // Answers `kubectl auth can-i`.
    return groups::authorization::Install(server, made_.authorizer, made_.rules);
  }

 private:
  apiserver::options::AuthorizationOptions options_;
  apiserver::options::Authorization made_;
};

}  // namespace

std::unique_ptr<Part> NewAuthorization() { return std::make_unique<Authorization>(); }

}  // namespace sample
