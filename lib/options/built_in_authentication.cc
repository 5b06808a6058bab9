#include "apiserver/options/built_in_authentication.h"

#include <utility>

#include "apiserver/authn/bootstrap_token.h"
#include "apiserver/authn/local.h"
#include "apiserver/authn/token_file.h"
#include "base/status_macros.h"
#include "options/calls_out.h"
#include "options/given_flags.h"

namespace apiserver::v0::options {

namespace {

Status OfFlag(const std::string& flag, const Status& why) {
  return why.WithMessage(flag + ": " + std::string(why.message()));
}

// Returns the address, with a port, by which others reach a server that bound `bound` and `port`.
std::string ExternalAddress(const std::string& external_hostname, const std::string& bound,
                            int port) {
  std::string address = external_hostname;
  if (address.empty()) address = bound.find(':') == std::string::npos ? bound : "[" + bound + "]";
  const bool has_port = address.find(':') != std::string::npos &&
                        (address[0] != '[' || address.find("]:") != std::string::npos);
  return has_port ? address : address + ":" + std::to_string(port);
}

// The kinds of tokens that the options ask for, in the order in which they are asked.
class Tokens {
 public:
  Tokens(const BuiltInAuthenticationOptions& options, const Environment& environment,
         BuiltInAuthentication& made)
      : options_(options), environment_(environment), made_(made) {}

  // Files come first: they are local, and cost no look-up.
  Status AddFile(std::vector<authn::LocalTokens>& tokens) const {
    if (options_.token_auth_file.empty()) return {};
    auto file = authn::NewTokenFile(
        {.path = options_.token_auth_file},
        {.files = *environment_.files, .executor = *made_.executor, .log = *environment_.log});
    if (!file.ok()) return OfFlag("--token-auth-file", file.status());
    tokens.push_back({.tokens = *std::move(file)});
    return {};
  }

  // Adds tokens that stand for objects of the server's own.
  Status AddObjects(std::vector<authn::LocalTokens>& tokens, server::Config& config) const {
    if (options_.WantsServiceAccounts()) {
      if (!config.metrics) config.metrics = metrics::NewRegistry();
      server::ServiceAccountOptions accounts = options_.service_accounts;
      accounts.metrics = config.metrics;
      accounts.api_audiences = made_.api_audiences;
      ASSIGN_OR_RETURN(made_.service_accounts, server::NewServiceAccountAuthentication(accounts));
      made_.api_audiences = made_.service_accounts.api_audiences;
      tokens.push_back({.tokens = made_.service_accounts.tokens, .know_audiences = true});
    }
    if (options_.enable_bootstrap_token) {
      tokens.push_back({.tokens = authn::NewBootstrapTokens(
                            {.secrets = options_.secrets, .log = environment_.log})});
    }
    return {};
  }

  // Adds tokens of issuers.
  Status AddIssuers(std::vector<authn::LocalTokens>& tokens, server::Config& config) const {
    if (options_.authentication_config.empty()) return {};
    // It makes the metrics that the next line needs.
    client::HttpClientFactory http = CallsOut(config);
    auto file = authn::LoadAuthenticationConfigFile(
        {.path = options_.authentication_config,
         .executor = made_.executor.get(),
         .files = environment_.files,
         .oidc = {.http = std::move(http),
                  .disallowed_issuers = options_.service_accounts.issuers,
                  .log = environment_.log,
                  .metrics = config.metrics.get(),
                  .server_id = config.name}});
    if (!file.ok()) return OfFlag("--authentication-config", file.status());
    made_.file = *std::move(file);
    tokens.push_back({.tokens = made_.file->tokens()});
    return {};
  }

 private:
  const BuiltInAuthenticationOptions& options_;
  const Environment& environment_;
  BuiltInAuthentication& made_;
};

Flags AddServiceAccountFlags(server::ServiceAccountOptions& accounts, FlagSet& flags) {
  return {flags.Add({.name = "--service-account-key-file",
                     .value = &accounts.key_files,
                     .help = "PEM file of RSA or EC keys, private or public, that sign tokens of "
                             "service accounts; may be given several times"}),
          flags.Add({.name = "--service-account-issuer",
                     .value = &accounts.issuers,
                     .help = "Whose tokens of service accounts are believed; the first is told of "
                             "at /.well-known/openid-configuration, if it is an https URL; may be "
                             "given several times"}),
          flags.Add({.name = "--service-account-lookup",
                     .value = &accounts.lookup,
                     .help = "Believe such a token only as long as its service account and what "
                             "else it is bound to exist (default: true)"}),
          flags.Add({.name = "--service-account-jwks-uri",
                     .value = &accounts.jwks_uri,
                     .help = "Where others find the keys (default: /openid/v1/jwks of this "
                             "server)"})};
}

}  // namespace

void BuiltInAuthenticationOptions::AddFlags(FlagSet& flags) {
  flags.BeginSection("Authentication");
  of_standalone = {
      flags.Add({.name = "--token-auth-file",
                 .value = &token_auth_file,
                 .help = "CSV file of tokens and their users: token,user,uid,\"group1,group2\""}),
      flags.Add({.name = "--authentication-config",
                 .value = &authentication_config,
                 .help = "AuthenticationConfiguration: issuers of ID tokens, anonymous requests"}),
      flags.Add({.name = "--anonymous-auth",
                 .value = &anonymous,
                 .help = "Take requests without credentials for those of system:anonymous"}),
      flags.Add({.name = "--api-audiences",
                 .value = &api_audiences,
                 .help = "For whom tokens must be made",
                 .comma_separated = true})};
  const Flags accounts = AddServiceAccountFlags(service_accounts, flags);
  of_standalone.insert(of_standalone.end(), accounts.begin(), accounts.end());
  of_standalone.push_back(
      flags.Add({.name = "--external-hostname",
                 .value = &external_hostname,
                 .help = "By which name others reach this server, with or without a port (default: "
                         "--bind-address)"}));
  of_standalone.push_back(
      flags.Add({.name = "--enable-bootstrap-token-auth",
                 .value = &enable_bootstrap_token,
                 .help = "Believe the tokens in Secrets of type bootstrap.kubernetes.io/token in "
                         "the namespace kube-system"}));
}

std::vector<std::string> BuiltInAuthenticationOptions::Validate(bool standalone) const {
  std::vector<std::string> problems;
  std::string problem =
      ProblemOfStandaloneFlags(standalone, of_standalone,
                               "the cluster of --authentication-kubeconfig knows who somebody is");
  if (!problem.empty()) problems.push_back(std::move(problem));
  if (anonymous && !authentication_config.empty()) {
    problems.emplace_back(
        "--anonymous-auth and --authentication-config exclude each other: the file says it");
  }
  if (WantsServiceAccounts()) {
    const auto errors = server::ValidateServiceAccountOptions(service_accounts);
    problems.insert(problems.end(), errors.begin(), errors.end());
  }
  return problems;
}

bool BuiltInAuthenticationOptions::WantsServiceAccounts() const {
  return !service_accounts.key_files.empty() || !service_accounts.issuers.empty() ||
         !service_accounts.jwks_uri.empty();
}

// Standalone, the certificate authenticator that `config` has already comes before all tokens.
Result<BuiltInAuthentication> BuiltInAuthenticationOptions::ApplyTo(
    server::Config& config, const Environment& environment) const {
  // The cluster authenticates.
  if (!environment.standalone) return BuiltInAuthentication();
  BuiltInAuthentication made = {.executor = NewThreadPool({.name = "authentication", .threads = 2}),
                                .api_audiences = api_audiences};
  const Tokens all(*this, environment, made);
  std::vector<authn::LocalTokens> tokens;
  RETURN_IF_ERROR(all.AddFile(tokens));
  RETURN_IF_ERROR(all.AddObjects(tokens, config));
  RETURN_IF_ERROR(all.AddIssuers(tokens, config));
  authn::LocalOptions local = {.api_audiences = made.api_audiences,
                               .requests = {config.authenticator},
                               .tokens = std::move(tokens),
                               .anonymous = anonymous};
  if (made.file && made.file->anonymous()) {
    local.anonymous = made.file->anonymous()->enabled;
    local.anonymous_paths = made.file->anonymous()->paths;
  }
  config.api_audiences = made.api_audiences;
  config.authenticator = authn::NewLocal(std::move(local));
  made.authenticator = config.authenticator;
  return made;
}

Status BuiltInAuthenticationOptions::InstallIssuerDiscovery(server::GenericAPIServer& server,
                                                            const BuiltInAuthentication& made,
                                                            const std::string& bind_address,
                                                            LogSink& log) const {
  if (!WantsServiceAccounts()) return {};
  const auto serve = [accounts = made.service_accounts, name = external_hostname, bind_address,
                      &log](const server::HookContext& hook) -> Status {
    const auto metadata =
        accounts.Metadata(ExternalAddress(name, bind_address, hook.server.port()));
    if (metadata.ok()) return server::ServeOpenIDMetadata(hook.server, *metadata);
    // Upstream believes the tokens all the same.
    Log(log, LogLevel::kWarning,
        "The issuer of service accounts' tokens is not told of at "
        "/.well-known/openid-configuration",
        {{"why", std::string(metadata.status().message())}});
    return {};
  };
  // Only then is the port known.
  return server.AddPostStartHook("service-account-issuer-discovery", serve);
}

}  // namespace apiserver::v0::options
