#include "apiserver/authn/delegating.h"

#include <utility>

#include "apiserver/authn/anonymous.h"
#include "apiserver/authn/bearer_token.h"
#include "apiserver/authn/union.h"
#include "apiserver/authn/websocket.h"
#include "apiserver/authn/x509.h"
#include "base/status_macros.h"

namespace apiserver::v0::authn {

// Follows DelegatingAuthenticatorConfig.New: the order decides which authenticator names the user.
Result<std::shared_ptr<const auth::Authenticator>> NewDelegating(DelegatingOptions options) {
  using Shared = std::shared_ptr<const auth::Authenticator>;
  std::vector<Shared> all;
  if (options.request_header) {
    options.request_header->clock = options.clock;
    all.push_back(NewRequestHeader(*std::move(options.request_header)));
  }
  if (options.client_ca) {
    ASSIGN_OR_RETURN(auto x509, NewX509({.ca = std::move(options.client_ca),
                                         .clock = options.clock,
                                         .metrics = options.metrics}));
    all.push_back(std::move(x509));
  }
  if (options.tokens) {
    all.push_back(NewBearerToken(options.tokens));
    all.push_back(NewWebSocketProtocol(options.tokens));
  }
  if (all.empty() && !options.anonymous) {
    return Status(Reason::kInvalid,
                  "no authentication method configured: nobody could ever be known");
  }
  if (all.empty()) return Shared(NewAnonymous(std::move(options.anonymous_paths)));
  Shared known = NewGroupAdder(NewUnion(std::move(all)));
  if (!options.anonymous) return known;
  // An invalid credential must fail: without FailOnError its user would go on as anonymous.
  return Shared(
      NewUnionFailOnError({std::move(known), NewAnonymous(std::move(options.anonymous_paths))}));
}

}  // namespace apiserver::v0::authn
