#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/base/status.h"

// Writes and reads authentication.k8s.io TokenReview in JSON.
namespace apiserver::inline v0::authn {

// `audiences` null or empty: the review asks for none.
std::string TokenReviewBody(std::string_view version, std::string_view token,
                            const std::vector<std::string>* audiences);

// Reads the status of a response, before audiences are compared. nullopt: the token is not known.
// kUnauthorized: nor is it, and the response says why. kInternalError: `body` is no TokenReview, or
// one that contradicts itself (authenticated, but without a user).
Result<std::optional<auth::AuthenticateResponse>> ReadTokenReview(std::string_view body);

}  // namespace apiserver::inline v0::authn
