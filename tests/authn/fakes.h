#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/auth/authenticator.h"

namespace apiserver::inline v0::authn {

using Answer = Result<std::optional<auth::AuthenticateResponse>>;

inline Answer Nobody() { return std::optional<auth::AuthenticateResponse>(); }
inline Answer Somebody(auth::UserInfo user) {
  return std::optional(
      auth::AuthenticateResponse{std::make_shared<const auth::UserInfo>(std::move(user))});
}

// Gives one answer to everyone and counts how often it was asked.
class FixedAuthenticator final : public auth::Authenticator, public auth::TokenAuthenticator {
 public:
  explicit FixedAuthenticator(Answer answer) : answer_(std::move(answer)) {}

  Answer Authenticate(const Context&, const http::Request&) const override {
    ++asked;
    return answer_;
  }
  Answer AuthenticateToken(const Context&, std::string_view token) const override {
    ++asked;
    last_token = token;
    return answer_;
  }

  mutable int asked = 0;
  mutable std::string last_token;

 private:
  Answer answer_;
};

}  // namespace apiserver::inline v0::authn
