#include "accounts.h"

#include <vector>

#include "apiserver/base/status_macros.h"

namespace kube {

using apiserver::Reason;
using apiserver::Status;

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
