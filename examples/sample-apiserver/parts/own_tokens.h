#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/authn/local.h"
#include "apiserver/groups/token_objects.h"
#include "apiserver/server/service_accounts.h"
#include "given_flags.h"
#include "part.h"

namespace sample {

// Tokens that stand for objects of this server: of its service accounts, and for joining. What they
// are checked against, Secrets and ServiceAccounts, is served where a flag asks for such tokens.
// Part of Authentication.
class OwnTokens final {
 public:
  void AddFlags(CLI::App& app);
  std::string Problem() const;
  // Adds who knows them; and the audiences that they are for, if there are none.
  apiserver::Status AddTokens(std::vector<apiserver::authn::LocalTokens>& tokens,
                              std::vector<std::string>& api_audiences, apiserver::LogSink& log);
  apiserver::Status Install(const Environment& environment,
                            apiserver::server::GenericAPIServer& server,
                            const apiserver::registry::StorageConfig& storage);
  // Whether a flag asks for any of it.
  bool wanted() const { return bootstrap_ || WantsServiceAccounts(); }
  // All of its flags; while the app lives.
  const Flags& flags() const { return flags_; }
  // Which nobody else may claim to be.
  const std::vector<std::string>& issuers() const { return accounts_.issuers; }

 private:
  bool WantsServiceAccounts() const {
    return !accounts_.key_files.empty() || !accounts_.issuers.empty() ||
           !accounts_.jwks_uri.empty();
  }
  apiserver::Status ServeMetadata(const Environment& environment,
                                  apiserver::server::GenericAPIServer& server) const;

  Flags flags_;
  apiserver::server::ServiceAccountOptions accounts_;
  bool bootstrap_ = false;
  std::string external_hostname_;
  std::shared_ptr<apiserver::groups::TokenObjects> objects_ =
      std::make_shared<apiserver::groups::TokenObjects>();
  apiserver::server::ServiceAccountAuthentication authentication_;
};

}  // namespace sample
