#include "accounts.h"

#include <vector>

#include "apiserver/base/status_macros.h"
#include "examination.h"

namespace kube {

using apiserver::Reason;
using apiserver::Status;

std::vector<std::string> Accounts::Validate(
    const apiserver::options::RecommendedOptions& options) const {
  const auto& accounts = options.built_in_authentication;
  // Without any of these flags the server has an issuer and a key of its own.
  const bool own = issuer_.signing_key_file.empty() && !accounts.WantsServiceAccounts();
  return own ? std::vector<std::string>() : issuer_.Validate(accounts);
}

void Accounts::Examine(const apiserver::options::RecommendedOptions& options,
                       std::vector<apiserver::delegation::Finding>& findings) const {
  if (issuer_.signing_key_file.empty()) return;
  const auto loaded =
      issuer_.NewTokenRequestOptions(environment_, options.built_in_authentication, tokens_);
  findings.push_back(apiserver::delegation::FindingOfFile(
      "service-account-signing-key-file", issuer_.signing_key_file, loaded.status()));
}

Status Accounts::Complete(apiserver::options::RecommendedOptions& options) {
  auto& accounts = options.built_in_authentication;
  APISERVER_RETURN_IF_ERROR(issuer_.Complete(environment_, accounts));
  const std::vector<std::string> problems = issuer_.Validate(accounts);
  if (!problems.empty()) return {Reason::kInvalid, problems.front()};
  APISERVER_ASSIGN_OR_RETURN(requests_,
                             issuer_.NewTokenRequestOptions(environment_, accounts, tokens_));
  return {};
}

}  // namespace kube
