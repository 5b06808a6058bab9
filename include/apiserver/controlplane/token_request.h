#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/authn/service_account_token.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/groups/token_objects.h"
#include "apiserver/registry/store.h"
#include "apiserver/rest/storage.h"

// The subresource serviceaccounts/token, by which tokens of service accounts are issued:
// k8s.io/kubernetes/pkg/registry/core/serviceaccount/storage, TokenREST.
namespace apiserver::inline v0::controlplane {

// The expiration that admission asks for when it gives a pod its token. Only tokens of exactly
// this expiration are extended. serviceaccount.WarnOnlyBoundTokenExpirationSeconds.
inline constexpr std::chrono::seconds kWarnOnlyExpiration(60 * 60 + 7);
// The expiration of extended tokens. serviceaccount.ExpirationExtensionSeconds.
inline constexpr std::chrono::seconds kExtendedExpiration = std::chrono::hours(24 * 365);

// Options of NewTokenRequests().
struct TokenRequestOptions {
  // Required. Signs the tokens.
  std::shared_ptr<const authn::ServiceAccountTokenGenerator> issuer = nullptr;
  // The audiences of a request that names none.
  std::vector<std::string> api_audiences = {};
  // --service-account-max-token-expiration: the longest expiration; a longer one is shortened with
  // a warning. Zero: every expiration is granted.
  std::chrono::seconds max_expiration = std::chrono::seconds(0);
  // --service-account-extend-token-expiration: a token that is bound to a pod, for this server's
  // audiences and of kWarnOnlyExpiration is valid for max_extended_expiration. Its holder is told
  // the expiration it asked for, and uses after that are audited.
  bool extend_expiration = true;
  std::chrono::seconds max_extended_expiration = kExtendedExpiration;
  // The stores of the objects that tokens are bound to. Null: tokens are bound to no objects.
  std::shared_ptr<const groups::TokenObjects> objects = nullptr;
  const Clock* clock = &RealClock();  // Must outlive the storage.
  Random* random = &SecureRandom();   // Makes the ids of tokens. Must outlive the storage.
};

// Makes the storage of the subresource "token" of `accounts`, the store of service accounts.
// The right to create it is the right to act as the account. Bodies are of
// groups::authentication::TokenRequestKind(). kInvalid: there is no issuer, or no store.
//
//   groups::core::Options core{…};
//   core.account_subresources["token"] = [tokens](std::shared_ptr<registry::Store> accounts) {
//     return controlplane::NewTokenRequests(std::move(accounts), tokens);
//   };
Result<std::shared_ptr<rest::Storage>> NewTokenRequests(std::shared_ptr<registry::Store> accounts,
                                                        TokenRequestOptions options);

}  // namespace apiserver::inline v0::controlplane
