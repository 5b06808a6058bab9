#include "parts/own_tokens.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "apiserver/authn/bootstrap_token.h"
#include "apiserver/groups/core.h"
#include "options.h"

namespace sample {

using apiserver::Status;
namespace authn = apiserver::authn;
namespace server = apiserver::server;

void OwnTokens::AddFlags(CLI::App& app) {
  flags_ = {
      app.add_option("--service-account-key-file", accounts_.key_files,
                     "PEM file of RSA or EC keys, private or public, that sign tokens of service "
                     "accounts; may be given several times"),
      app.add_option("--service-account-issuer", accounts_.issuers,
                     "Whose tokens of service accounts are believed; the first is told of at "
                     "/.well-known/openid-configuration, if it is an https URL; may be given "
                     "several times"),
      app.add_flag("--service-account-lookup", accounts_.lookup,
                   "Believe such a token only as long as its service account and what else it is "
                   "bound to exist (default: true)"),
      app.add_option("--service-account-jwks-uri", accounts_.jwks_uri,
                     "Where others find the keys (default: /openid/v1/jwks of this server)"),
      app.add_option("--external-hostname", external_hostname_,
                     "By which name others reach this server, with or without a port (default: "
                     "--bind-address)"),
      app.add_flag("--enable-bootstrap-token-auth", bootstrap_,
                   "Believe the tokens in Secrets of type bootstrap.kubernetes.io/token in the "
                   "namespace kube-system")};
}

std::string OwnTokens::Problem() const {
  if (!WantsServiceAccounts()) return "";
  const std::vector<std::string> errors = server::ValidateServiceAccountOptions(accounts_);
  return errors.empty() ? "" : errors.front();
}

Status OwnTokens::AddTokens(std::vector<authn::LocalTokens>& tokens,
                            std::vector<std::string>& api_audiences, apiserver::LogSink& log) {
  if (WantsServiceAccounts()) {
    accounts_.api_audiences = api_audiences;
    accounts_.getter = objects_;
    auto authentication = server::NewServiceAccountAuthentication(accounts_);
    if (!authentication.ok()) return authentication.status();
    authentication_ = *std::move(authentication);
    api_audiences = authentication_.api_audiences;
    tokens.push_back({.tokens = authentication_.tokens, .know_audiences = true});
  }
  if (bootstrap_) {
    tokens.push_back({.tokens = authn::NewBootstrapTokens(
                          {.secrets = objects_->BootstrapSecrets(), .log = &log})});
  }
  return {};
}

Status OwnTokens::Install(const Environment& environment, server::GenericAPIServer& server,
                          const apiserver::registry::StorageConfig& storage) {
  if (!wanted()) return {};
  Status installed =
      apiserver::groups::core::Install(server, {.storage = storage, .tokens = objects_});
  if (!installed.ok() || !WantsServiceAccounts()) return installed;
  // Only then is the port known.
  return server.AddPostStartHook("service-account-issuer-discovery",
                                 [this, environment](const server::HookContext& hook) {
                                   return ServeMetadata(environment, hook.server);
                                 });
}

Status OwnTokens::ServeMetadata(const Environment& environment,
                                server::GenericAPIServer& server) const {
  std::string address = external_hostname_;
  if (address.empty()) {
    const std::string& bound = environment.options.bind_address;
    address = bound.find(':') == std::string::npos ? bound : "[" + bound + "]";
  }
  const bool has_port = address.find(':') != std::string::npos &&
                        (address[0] != '[' || address.find("]:") != std::string::npos);
  if (!has_port) address += ":" + std::to_string(server.port());
  const auto metadata = authentication_.Metadata(address);
  if (metadata.ok()) return server::ServeOpenIDMetadata(server, *metadata);
  // As upstream: tokens are believed all the same.
  Log(environment.log, apiserver::LogLevel::kWarning,
      "The issuer of service accounts' tokens is not told of at /.well-known/openid-configuration",
      {{"why", std::string(metadata.status().message())}});
  return {};
}

}  // namespace sample
