#pragma once

#include <memory>

#include "apiserver/auth/authenticator.h"
#include "apiserver/http/headers.h"

// Tokens of browsers, which cannot set the headers of a WebSocket:
// k8s.io/apiserver/pkg/authentication/request/websocket.
namespace apiserver::inline v0::authn {

// Authenticates the token in the subprotocol "base64url.bearer.authorization.k8s.io.<token>" of a
// WebSocket request by `tokens`; the client must offer another subprotocol besides, to which the
// server can agree. kUnauthorized: `tokens` do not know it, or the entry is malformed.
std::unique_ptr<auth::Authenticator> NewWebSocketProtocol(
    std::shared_ptr<const auth::TokenAuthenticator> tokens);

// Removes the token's entry from Sec-WebSocket-Protocol, so that nothing behind authentication sees
// or echoes it. The authentication filter calls it once a request is authenticated.
void RemoveWebSocketToken(http::Headers& headers);

}  // namespace apiserver::inline v0::authn
