#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "apiserver/authz/config.h"
#include "apiserver/authz/config_file.h"
#include "apiserver/base/reload.h"
#include "apiserver/base/source.h"
#include "auth/config_reloads.h"
#include "authz/config/chain.h"
#include "base/status_macros.h"
#include "codec/config_reader.h"

namespace apiserver::v0::authz {
namespace {

// Forwards to the chain of the current file, which is looked up once a request.
class CurrentChain final : public auth::Authorizer, public auth::RuleResolver {
 public:
  Result<auth::Verdict> Authorize(const Context& ctx,
                                  const auth::Attributes& asked) const override {
    return chain_.Get()->authorizer->Authorize(ctx, asked);
  }
  auth::Rules RulesFor(const Context& ctx, const auth::UserInfoPtr& user,
                       std::string_view namespace_) const override {
    return chain_.Get()->rules->RulesFor(ctx, user, namespace_);
  }

  std::shared_ptr<const Chain> Get() const { return chain_.Get(); }
  void Set(Chain chain) { chain_.Set(std::move(chain)); }

 private:
  Variable<Chain> chain_{Chain{}};
};

class ConfigFile final : public AuthorizationConfigFile {
 public:
  explicit ConfigFile(const AuthorizationConfigFileOptions& options)
      : options_(options),
        counts_(options.metrics, *options.clock, "authorization", options.server_id) {}

  Status Load() {
    const WatchedFilesDeps deps{.files = *options_.files,
                                .executor = *options_.executor,
                                .clock = *options_.clock,
                                .log = *options_.log,
                                .unreadable = [this](const Status& /*why*/) {
                                  if (loaded_) counts_.Reloaded(false);
                                }};
    ASSIGN_OR_RETURN(watched_, WatchFiles({options_.path}, options_.period, deps,
                                          [this](const std::vector<std::string>& texts) {
                                            return Use(texts.front());
                                          }));
    return {};
  }

  std::shared_ptr<const auth::Authorizer> authorizer() const override { return current_; }
  std::shared_ptr<const auth::RuleResolver> rules() const override { return current_; }
  bool Has(std::string_view type) const override { return types_.contains(type); }
  Status Check() override { return watched_->Check(); }

 private:
  using Types = std::set<std::string, std::less<>>;

  // One call at a time.
  Status Use(const std::string& text) {
    Status used = Change(text);
    if (used.ok()) return used;
    if (loaded_) counts_.Reloaded(false);
    return {used.reason(),
            "authorization configuration " + options_.path + ": " + std::string(used.message())};
  }

  Status Change(const std::string& text) {
    ASSIGN_OR_RETURN(AuthorizationConfiguration config,
                     ParseAuthorizationConfiguration(text, *options_.files));
    // Only a comment has changed, or a fault was undone.
    if (loaded_ && config == config_) return {};
    RETURN_IF_ERROR(CheckAllowed(text, config));
    ASSIGN_OR_RETURN(Chain chain, NewChain(config, options_));
    // The old chain is destroyed with the next change, here and not on the loop of its last
    // request: its clients wait for their files' readers when they end.
    before_ = current_->Get();
    current_->Set(std::move(chain));
    config_ = std::move(config);
    if (loaded_) counts_.Reloaded(true);
    counts_.InUse(text);
    if (loaded_) return {};
    for (const auto& authorizer : config_.authorizers) types_.insert(authorizer.type);
    loaded_ = true;
    return {};
  }

  // The contents of a file depend on the server's abilities and on its first file.
  Status CheckAllowed(const std::string& text, const AuthorizationConfiguration& config) const {
    Types missing = types_;
    missing.erase("Webhook");
    for (std::size_t i = 0; i < config.authorizers.size(); ++i) {
      const AuthorizerConfiguration& one = config.authorizers[i];
      const field::Path path = field::Path("authorizers").Index(i);
      missing.erase(one.type);
      if (one.type == "RBAC" && !options_.rbac) {
        return At(text, path.Child("type"),
                  "is RBAC, but this server has no roles of its own; leave it out");
      }
      if (one.type == "RBAC" && loaded_ && !Has("RBAC")) {
        return At(text, path.Child("type"),
                  "is wrong: authorizer type RBAC is not allowed if it was not enabled at initial "
                  "server startup; restart the server");
      }
      if (one.webhook && one.webhook->connection_info.type == "InClusterConfig" &&
          !options_.cluster) {
        return At(text, path.Child("webhook").Child("connectionInfo").Child("type"),
                  "is InClusterConfig, but this server runs in no pod; use KubeConfigFile");
      }
    }
    if (missing.empty()) return {};
    std::string names;
    for (const std::string& type : missing) names += (names.empty() ? "" : " ") + type;
    return {Reason::kInvalid,
            "missing required types: [" + names + "]; put them back, or restart the server"};
  }

  // Names the line of `path`, so that an administrator finds the fault in a long file.
  static Status At(const std::string& text, const field::Path& path, const std::string& what) {
    const std::size_t line = codec::YamlLineOf(text, path.text());
    const std::string place = line == 0 ? "" : "line " + std::to_string(line) + ": ";
    return {Reason::kInvalid, place + path.text() + " " + what};
  }

  const AuthorizationConfigFileOptions options_;
  const std::shared_ptr<CurrentChain> current_ = std::make_shared<CurrentChain>();
  // Used by the one thread that reads the file:
  AuthorizationConfiguration config_;
  std::shared_ptr<const Chain> before_;
  Types types_;  // Does not change once loaded.
  bool loaded_ = false;
  auth::ConfigReloads counts_;
  std::unique_ptr<WatchedFiles> watched_;  // Last: ends first.
};

}  // namespace

Result<std::unique_ptr<AuthorizationConfigFile>> LoadAuthorizationConfigFile(
    const AuthorizationConfigFileOptions& options) {
  auto file = std::make_unique<ConfigFile>(options);
  RETURN_IF_ERROR(file->Load());
  return std::unique_ptr<AuthorizationConfigFile>(std::move(file));
}

}  // namespace apiserver::v0::authz
