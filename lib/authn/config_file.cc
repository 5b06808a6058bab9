#include "apiserver/authn/config_file.h"

#include <utility>
#include <vector>

#include "apiserver/base/reload.h"
#include "apiserver/base/sync.h"
#include "auth/config_reloads.h"
#include "base/status_macros.h"

namespace apiserver::v0::authn {
namespace {

using auth::AuthenticateResponse;

// Forwards to the authenticator of the current file.
class CurrentIssuers final : public auth::TokenAuthenticator {
 public:
  Result<std::optional<AuthenticateResponse>> AuthenticateToken(
      const Context& ctx, std::string_view token) const override {
    const std::shared_ptr<OidcAuthenticator> now = Get();
    return now->AuthenticateToken(ctx, token);
  }

  std::shared_ptr<OidcAuthenticator> Get() const { return *now_.Lock(); }
  void Set(std::shared_ptr<OidcAuthenticator> next) {
    // The old one is destroyed outside the lock.
    now_.Lock()->swap(next);
  }

 private:
  Guarded<std::shared_ptr<OidcAuthenticator>> now_;
};

class ConfigFile final : public AuthenticationConfigFile {
 public:
  explicit ConfigFile(const AuthenticationConfigFileOptions& options)
      : options_(options),
        counts_(options.oidc.metrics, *options.oidc.clock, "authentication",
                options.oidc.server_id) {}

  Status Load() {
    ASSIGN_OR_RETURN(watched_, WatchFiles({options_.path}, options_.period,
                                          {.files = *options_.files,
                                           .executor = *options_.executor,
                                           .clock = *options_.oidc.clock,
                                           .log = *options_.oidc.log,
                                           .unreadable =
                                               [this](const Status& /*why*/) {
                                                 if (loaded_) counts_.Reloaded(false);
                                               }},
                                          [this](const std::vector<std::string>& texts) {
                                            return Use(texts.front());
                                          }));
    return {};
  }

  std::shared_ptr<const auth::TokenAuthenticator> tokens() const override { return current_; }
  const std::optional<AnonymousAuthConfig>& anonymous() const override { return anonymous_; }
  Status Healthy() const override { return current_->Get()->Healthy(); }
  Status Check() override { return watched_->Check(); }

 private:
  // One call at a time.
  Status Use(const std::string& text) {
    const Status used = Change(text);
    if (loaded_) counts_.Reloaded(used.ok());
    if (!used.ok()) {
      return {used.reason(),
              "authentication configuration " + options_.path + ": " + std::string(used.message())};
    }
    counts_.InUse(text);
    loaded_ = true;
    return {};
  }

  Status Change(const std::string& text) {
    ASSIGN_OR_RETURN(AuthenticationConfiguration config,
                     ParseAuthenticationConfiguration(text, options_.oidc.disallowed_issuers));
    const std::shared_ptr<OidcAuthenticator> before = current_->Get();
    ASSIGN_OR_RETURN(std::shared_ptr<OidcAuthenticator> next,
                     NewOidc(config.jwt, options_.oidc, before.get()));
    current_->Set(std::move(next));
    if (!loaded_) {
      anonymous_ = std::move(config.anonymous);
    } else if (config.anonymous != anonymous_) {
      Log(*options_.oidc.log, LogLevel::kWarning,
          "What the authentication configuration says of anonymous requests has changed and "
          "counts after the next start",
          {{"path", options_.path}});
    }
    return {};
  }

  const AuthenticationConfigFileOptions options_;
  const std::shared_ptr<CurrentIssuers> current_ = std::make_shared<CurrentIssuers>();
  std::optional<AnonymousAuthConfig> anonymous_;  // Does not change once loaded.
  bool loaded_ = false;
  auth::ConfigReloads counts_;
  std::unique_ptr<WatchedFiles> watched_;  // Last: ends first.
};

}  // namespace

Result<std::unique_ptr<AuthenticationConfigFile>> LoadAuthenticationConfigFile(
    const AuthenticationConfigFileOptions& options) {
  auto file = std::make_unique<ConfigFile>(options);
  RETURN_IF_ERROR(file->Load());
  return std::unique_ptr<AuthenticationConfigFile>(std::move(file));
}

}  // namespace apiserver::v0::authn
