#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/controlplane/service_account_issuer.h"
#include "apiserver/controlplane/token_request.h"
#include "apiserver/delegation/doctor.h"
#include "apiserver/groups/token_objects.h"
#include "apiserver/options/recommended.h"

namespace kube {

// The issuer of service accounts' tokens, as flags tell of it.
class Accounts {
 public:
  // `tokens`: the objects that tokens are bound to.
  explicit Accounts(std::shared_ptr<const apiserver::groups::TokenObjects> tokens)
      : tokens_(std::move(tokens)) {}

  void AddFlags(apiserver::options::FlagSet& flags) { issuer_.AddFlags(flags); }
  // The folder for a key of the server's own.
  void Open(const std::string& folder) { environment_.folder = folder; }
  // Returns a line for each mistake in the flags.
  std::vector<std::string> Validate(const apiserver::options::RecommendedOptions& options) const;
  // Looks at the key that a flag names.
  void Examine(const apiserver::options::RecommendedOptions& options,
               std::vector<apiserver::delegation::Finding>& findings) const;
  // Checks the flags, fills in what they left open and reads the key.
  apiserver::Status Complete(apiserver::options::RecommendedOptions& options);
  const apiserver::controlplane::TokenRequestOptions& requests() const { return requests_; }

 private:
  const std::shared_ptr<const apiserver::groups::TokenObjects> tokens_;
  apiserver::controlplane::ServiceAccountIssuerOptions issuer_;
  apiserver::controlplane::ServiceAccountIssuerOptions::Environment environment_;
  apiserver::controlplane::TokenRequestOptions requests_;
};

}  // namespace kube
