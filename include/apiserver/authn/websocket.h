#pragma once

#include <memory>

#include "apiserver/auth/authenticator.h"
#include "apiserver/http/headers.h"

// Tokens of browsers, which cannot set a WebSocket's headers:
// k8s.io/apiserver/pkg/authentication/request/websocket.
namespace apiserver::inline v0::authn {

// Asks `tokens` about the token in a WebSocket request's subprotocol
// "base64url.bearer.authorization.k8s.io.<token>"; the client must offer another one besides, which
// the server can agree to. kUnauthorized: it knows no such token, or the entry is malformed.
std::unique_ptr<auth::Authenticator> NewWebSocketProtocol(
    std::shared_ptr<const auth::TokenAuthenticator> tokens);

// Takes the token's entry out of Sec-WebSocket-Protocol, so that nothing behind authentication sees
// or echoes it. The filter does that once a request is authenticated.
void RemoveWebSocketToken(http::Headers& headers);

}  // namespace apiserver::inline v0::authn
