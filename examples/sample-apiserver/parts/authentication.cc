#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/authn/config_file.h"
#include "apiserver/authn/local.h"
#include "apiserver/authn/token_file.h"
#include "apiserver/base/executor.h"
#include "apiserver/groups/authentication.h"
#include "calls_out.h"
#include "given_flags.h"
#include "options.h"
#include "parts/own_tokens.h"
#include "parts/parts.h"

namespace sample {

namespace {

using apiserver::Status;
namespace auth = apiserver::auth;
namespace authn = apiserver::authn;

// Who else a standalone server knows, beside its administrator and its authority's certificates.
class Authentication final : public Part {
 public:
  void AddFlags(examples::CliFlags& flags) override {
    CLI::App& app = flags.app();
    flags_ = {
        app.add_option("--token-auth-file", token_file_,
                       "CSV file of tokens and their users: token,user,uid,\"group1,group2\""),
        app.add_option("--authentication-config", config_file_,
                       "AuthenticationConfiguration: issuers of ID tokens, anonymous requests"),
        app.add_flag("--anonymous-auth", anonymous_,
                     "Take requests without credentials for those of system:anonymous"),
        app.add_option("--api-audiences", api_audiences_, "For whom tokens must be made")
            ->delimiter(',')};
    own_tokens_.AddFlags(app);
    flags_.insert(flags_.end(), own_tokens_.flags().begin(), own_tokens_.flags().end());
  }

  std::string Problem(const Options& options) const override {
    std::string problem = ProblemOfStandaloneFlags(
        options, flags_, "the cluster of --authentication-kubeconfig knows who somebody is");
    if (!problem.empty()) return problem;
    if (anonymous_ && !config_file_.empty()) {
      return "--anonymous-auth and --authentication-config exclude each other: the file says it";
    }
    return own_tokens_.Problem();
  }

  Status Configure(const Environment& environment, apiserver::server::Config& config) override {
    // Then a cluster knows.
    if (!environment.options.standalone) return {};
    executor_ = apiserver::NewThreadPool({.name = "authentication", .threads = 2});
    std::vector<authn::LocalTokens> tokens;
    if (Status added = AddTokens(environment, config, tokens); !added.ok()) return added;
    config.api_audiences = api_audiences_;
    config.authenticator = authn::NewLocal({.api_audiences = api_audiences_,
                                            .requests = {config.authenticator},
                                            .tokens = std::move(tokens),
                                            .anonymous = anonymous_,
                                            .anonymous_paths = anonymous_paths_});
    authenticator_ = config.authenticator;
    return {};
  }

  Status Install(const Environment& environment, apiserver::server::GenericAPIServer& server,
                 const apiserver::registry::StorageConfig& storage) override {
    if (!environment.options.standalone) return {};
    if (Status installed = own_tokens_.Install(environment, server, storage); !installed.ok()) {
      return installed;
    }
    // Answers `kubectl auth whoami`, and servers that leave authentication to this one.
    return apiserver::groups::authentication::Install(
        server, {.authenticator = authenticator_, .api_audiences = api_audiences_});
  }

 private:
  Status AddTokens(const Environment& environment, apiserver::server::Config& config,
                   std::vector<authn::LocalTokens>& tokens) {
    if (!token_file_.empty()) {
      auto file = authn::NewTokenFile(
          {.path = token_file_},
          {.files = apiserver::RealFileSystem(), .executor = *executor_, .log = environment.log});
      if (!file.ok()) return OfFlag("--token-auth-file", file.status());
      tokens.push_back({.tokens = *std::move(file)});
    }
    if (Status added = own_tokens_.AddTokens(tokens, api_audiences_, environment.log);
        !added.ok()) {
      return added;
    }
    if (!config_file_.empty()) {
      auto file =
          authn::LoadAuthenticationConfigFile({.path = config_file_,
                                               .executor = executor_.get(),
                                               .oidc = {.http = CallsOut(config),
                                                        .disallowed_issuers = own_tokens_.issuers(),
                                                        .log = &environment.log,
                                                        .metrics = config.metrics.get(),
                                                        .server_id = config.name}});
      if (!file.ok()) return OfFlag("--authentication-config", file.status());
      config_ = *std::move(file);
      tokens.push_back({.tokens = config_->tokens()});
      if (const auto& anonymous = config_->anonymous()) {
        anonymous_ = anonymous->enabled;
        anonymous_paths_ = anonymous->paths;
      }
    }
    return {};
  }

  static Status OfFlag(const std::string& flag, const Status& why) {
    return why.WithMessage(flag + ": " + std::string(why.message()));
  }

  Flags flags_;  // All: they are a standalone server's.
  std::string token_file_;
  std::string config_file_;
  bool anonymous_ = false;
  std::vector<std::string> anonymous_paths_;
  std::vector<std::string> api_audiences_;
  OwnTokens own_tokens_;
  // Outlives what reads files and asks issuers there.
  std::unique_ptr<apiserver::ThreadPool> executor_;
  std::unique_ptr<authn::AuthenticationConfigFile> config_;
  std::shared_ptr<const auth::Authenticator> authenticator_;
};

}  // namespace

std::unique_ptr<Part> NewAuthentication() { return std::make_unique<Authentication>(); }

}  // namespace sample
