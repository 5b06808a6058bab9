#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/authn/config_file.h"
#include "apiserver/authn/secret.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/status.h"
#include "apiserver/options/environment.h"
#include "apiserver/options/flag_set.h"
#include "apiserver/server/server.h"
#include "apiserver/server/service_accounts.h"

// k8s.io/kubernetes/pkg/kubeapiserver/options/authentication.go.
namespace apiserver::inline v0::options {

// The objects that ApplyTo makes. They must outlive the configuration and the server.
struct BuiltInAuthentication {
  // First, so that it goes last: files are read and issuers asked there.
  std::unique_ptr<ThreadPool> executor = nullptr;
  std::unique_ptr<authn::AuthenticationConfigFile> file = nullptr;
  // The authenticator and its audiences; groups::authentication::Install asks it too. Null:
  // the server is not standalone.
  std::shared_ptr<const auth::Authenticator> authenticator = nullptr;
  std::vector<std::string> api_audiences = {};
  // Tokens of service accounts; empty: a flag does not ask for them.
  server::ServiceAccountAuthentication service_accounts = {};
};

// The authentication of users by a standalone server, besides its administrator.
struct BuiltInAuthenticationOptions {
  std::string token_auth_file = {};        // --token-auth-file: CSV.
  std::string authentication_config = {};  // --authentication-config: AuthenticationConfiguration.
  // --anonymous-auth: a request without credentials is one of system:anonymous. Upstream's default
  // is true.
  bool anonymous = false;
  std::vector<std::string> api_audiences = {};  // --api-audiences.
  // The fields of --service-account-*. Its `getter` is the program's to set before ApplyTo, if
  // WantsServiceAccounts(): groups::TokenObjects. `api_audiences` is not looked at.
  server::ServiceAccountOptions service_accounts = {};
  // --external-hostname: the name by which clients reach this server. Empty: the address it binds.
  std::string external_hostname = {};
  bool enable_bootstrap_token = false;  // --enable-bootstrap-token-auth.
  // The store of bootstrap tokens; required by ApplyTo with enable_bootstrap_token.
  std::shared_ptr<const authn::SecretGetter> secrets = nullptr;

  Flags of_standalone = {};  // Set by AddFlags: all flags.

  // Adds the flags. The options must outlive the reading of the command line.
  void AddFlags(FlagSet& flags);
  // Returns a line for each mistake, which names a flag and the remedy. `standalone`: as in
  // Environment.
  std::vector<std::string> Validate(bool standalone) const;
  // Return whether flags ask for tokens of service accounts, and for any tokens that are checked
  // against objects.
  bool WantsServiceAccounts() const;
  bool WantsTokenObjects() const { return enable_bootstrap_token || WantsServiceAccounts(); }

  // Sets the authenticator, which is asked after the one that `config` has, and the audiences. Does
  // nothing unless the server is standalone. kInvalid: a file cannot be used; the message names its
  // flag.
  Result<BuiltInAuthentication> ApplyTo(server::Config& config,
                                        const Environment& environment) const;
  // Lets `server` describe the issuer of service accounts' tokens at
  // /.well-known/openid-configuration; does nothing unless WantsServiceAccounts(). `bind_address`
  // is the address that the server binds. An issuer that cannot be described is a warning on `log`.
  // `made` comes from ApplyTo.
  Status InstallIssuerDiscovery(server::GenericAPIServer& server, const BuiltInAuthentication& made,
                                const std::string& bind_address, LogSink& log) const;
};

}  // namespace apiserver::inline v0::options
