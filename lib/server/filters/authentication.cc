#include <memory>
#include <string>

#include "apiserver/authn/bearer_token.h"
#include "apiserver/meta/errors.h"
#include "apiserver/rest/warnings.h"
#include "base/status_macros.h"
#include "server/filters/filters.h"
#include "server/filters/look_ups.h"

namespace apiserver::inline v0::server {

namespace {

// Compares in a time that does not tell how much of the token was right.
bool SameToken(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

class Authentication final : public http::Filter {
 public:
  Authentication(const auth::Authenticator* authenticator, std::string loopback_token)
      : authenticator_(authenticator),
        loopback_authorization_("Bearer " + std::move(loopback_token)),
        loopback_(std::make_shared<auth::UserInfo>(
            auth::UserInfo{.name = std::string(auth::kAPIServerUser),
                           .groups = {std::string(auth::kAllAuthenticated),
                                      std::string(auth::kSystemPrivilegedGroup)}})) {}

  std::string_view name() const override { return "authentication"; }

  http::Step Begin(http::Exchange& exchange) const override {
    const std::string_view authorization = exchange.request().headers.Get("Authorization");
    if (SameToken(authorization, loopback_authorization_)) return Accept(exchange, loopback_);
    if (!authenticator_) return Refuse(exchange);
    return BeginWithLookUps(exchange, [this, &exchange] { return Ask(exchange); });
  }

  void Head(http::Exchange& exchange, http::ResponseHead& head) const override {
    // Whoever is not known must connect again for each try.
    if (head.code == 401 && exchange.request().http_major >= 2) head.close_connection = true;
  }

 private:
  Result<http::Step> Ask(http::Exchange& exchange) const {
    auto answer = authenticator_->Authenticate(exchange.ctx(), exchange.request());
    if (answer.status().reason() == Reason::kWouldBlock) return answer.status();
    // A bad credential and none at all look the same from outside.
    if (!answer.ok() || !*answer) return Refuse(exchange);
    return Accept(exchange, (*answer)->user);
  }

  static http::Step Accept(http::Exchange& exchange, auth::UserInfoPtr user) {
    http::Headers& headers = exchange.request().headers;
    // What proved the identity is nobody's business further down.
    headers.Remove("Authorization");
    headers.RemovePrefix("X-Remote-");
    exchange.Set(std::move(user));
    return http::Step::Next();
  }

  static http::Step Refuse(http::Exchange& exchange) {
    if (authn::HasSpaceBeforeToken(exchange.request())) {
      auto recorder = std::make_shared<rest::WarningRecorder>();
      recorder->Add(std::string(authn::kTokenWithSpaceWarning));
      exchange.Set(std::move(recorder));
    }
    return meta::NewUnauthorized();
  }

  const auth::Authenticator* authenticator_;
  std::string loopback_authorization_;
  auth::UserInfoPtr loopback_;
};

}  // namespace

FilterPtr NewAuthentication(const auth::Authenticator* authenticator, std::string loopback_token) {
  return std::make_unique<Authentication>(authenticator, std::move(loopback_token));
}

}  // namespace apiserver::inline v0::server
