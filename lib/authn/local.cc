#include "apiserver/authn/local.h"

#include <utility>

#include "apiserver/auth/audiences.h"
#include "apiserver/authn/anonymous.h"
#include "apiserver/authn/bearer_token.h"
#include "apiserver/authn/union.h"
#include "apiserver/authn/websocket.h"

namespace apiserver::v0::authn {

std::unique_ptr<auth::Authenticator> NewLocal(LocalOptions options) {
  std::vector<std::shared_ptr<const auth::Authenticator>> all;
  for (auto& request : options.requests) {
    all.push_back(auth::WithImplicitAudiences(options.api_audiences, std::move(request)));
  }
  std::vector<std::shared_ptr<const auth::TokenAuthenticator>> tokens;
  for (LocalTokens& kind : options.tokens) {
    // Without it, a review for any audience would accept the tokens of this kind.
    if (!kind.know_audiences) {
      kind.tokens = auth::WithImplicitAudiences(options.api_audiences, std::move(kind.tokens));
    }
    tokens.push_back(std::move(kind.tokens));
  }
  if (!tokens.empty()) {
    const std::shared_ptr<const auth::TokenAuthenticator> every = NewTokenUnion(std::move(tokens));
    all.push_back(NewBearerToken(every));
    all.push_back(NewWebSocketProtocol(every));
  }
  std::unique_ptr<auth::Authenticator> known = NewGroupAdder(NewUnion(std::move(all)));
  if (!options.anonymous) return known;
  return NewUnionFailOnError({std::move(known), NewAnonymous(std::move(options.anonymous_paths))});
}

}  // namespace apiserver::v0::authn
