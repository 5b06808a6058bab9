#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "apiserver/auth/audiences.h"
#include "apiserver/authn/anonymous.h"
#include "apiserver/authn/bearer_token.h"
#include "apiserver/authn/websocket.h"
#include "apiserver/meta/errors.h"
#include "apiserver/request/latency.h"
#include "apiserver/rest/warnings.h"
#include "server/filters/authentication_metrics.h"
#include "server/filters/filter_times.h"
#include "server/filters/filters.h"
#include "server/filters/look_ups.h"

namespace apiserver::v0::server {

namespace {

using Answer = Result<std::optional<auth::AuthenticateResponse>>;

// Compares in a time that does not depend on how much of the token is right.
bool SameToken(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

// Tells Head() to close the connection after this response.
struct CloseUnauthenticated {};

class Authentication final : public http::Filter {
 public:
  explicit Authentication(AuthenticationOptions options)
      : options_(std::move(options)),
        loopback_authorization_("Bearer " + options_.loopback_token),
        loopback_(std::make_shared<auth::UserInfo>(
            auth::UserInfo{.name = std::string(auth::kAPIServerUser),
                           .groups = {std::string(auth::kAllAuthenticated),
                                      std::string(auth::kSystemPrivilegedGroup)}})) {
    if (options_.metrics) metrics_.emplace(*options_.metrics);
  }

  std::string_view name() const override { return "authentication"; }

  http::Step Begin(http::Exchange& exchange) const override {
    const Clock::Monotonic start = BeganAt(exchange, *options_.clock);
    // The loopback's token is compared first: it works without an authenticator, and costs no
    // look-up.
    const std::string_view authorization = exchange.request().headers.Get("Authorization");
    if (SameToken(authorization, loopback_authorization_)) {
      Count(exchange, AuthenticationResult::kSuccess, loopback_->name, start);
      return Accept(exchange, loopback_);
    }
    if (!options_.authenticator) return Refuse(exchange);
    if (!options_.api_audiences.empty()) exchange.Set(auth::Audiences{options_.api_audiences});
    return BeginWithLookUps(exchange, [this, &exchange, start] { return Ask(exchange, start); });
  }

  void Head(http::Exchange& exchange, http::ResponseHead& head) const override {
    // An unauthenticated client must connect again for each attempt.
    if (exchange.request().http_major >= 2 && exchange.Find<CloseUnauthenticated>()) {
      head.close_connection = true;
    }
  }

 private:
  Result<http::Step> Ask(http::Exchange& exchange, Clock::Monotonic start) const {
    Answer answer = options_.authenticator->Authenticate(exchange.ctx(), exchange.request());
    if (answer.status().reason() == Reason::kWouldBlock) return answer.status();
    if (answer.ok() && answer->has_value()) answer = CheckAudiences(*std::move(answer));
    WarnOfSpace(exchange);
    if (!answer.ok()) {
      Count(exchange, AuthenticationResult::kError, "", start);
      Log(*options_.log, LogLevel::kWarning, "Unable to authenticate the request",
          {{"err", std::string(answer.status().message())}});
      // This is the one failure that is not the client's, and that it can react to.
      if (answer.status().reason() == Reason::kTooManyRequests) return answer.status();
      return Refuse(exchange);
    }
    if (!answer->has_value()) {
      Count(exchange, AuthenticationResult::kFailure, "", start);
      return Refuse(exchange);
    }
    auth::UserInfoPtr& user = answer->value().user;
    Count(exchange, AuthenticationResult::kSuccess, user->name, start);
    return Accept(exchange, std::move(user));
  }

  Answer CheckAudiences(std::optional<auth::AuthenticateResponse> response) const {
    if (options_.api_audiences.empty() || response->audiences.empty() ||
        !auth::Intersect(options_.api_audiences, response->audiences).empty()) {
      return response;
    }
    return Status(Reason::kUnauthorized,
                  "the credential is for other audiences than this server's");
  }

  http::Step Accept(http::Exchange& exchange, auth::UserInfoPtr user) const {
    http::Headers& headers = exchange.request().headers;
    // The credential is removed: no later filter or handler may see it.
    (void)headers.Remove("Authorization");
    authn::RemoveRequestHeaders(authn::StandardRequestHeaders(), headers);
    if (options_.request_headers) {
      authn::RemoveRequestHeaders(*options_.request_headers->Get(), headers);
    }
    authn::RemoveWebSocketToken(headers);
    if (options_.close_unauthenticated_http2 && authn::IsAnonymous(*user)) {
      // An anonymous user is allowed some paths, but costs a connection like any unauthenticated
      // client.
      exchange.Set(CloseUnauthenticated());
    }
    exchange.Set(std::move(user));
    return http::Step::Next();
  }

  http::Step Refuse(http::Exchange& exchange) const {
    if (options_.close_unauthenticated_http2) exchange.Set(CloseUnauthenticated());
    return meta::NewUnauthorized();
  }

  static void WarnOfSpace(http::Exchange& exchange) {
    if (!authn::HasSpaceBeforeToken(exchange.request())) return;
    if (!exchange.Find<rest::WarningRecorderPtr>()) {
      exchange.Set(std::make_shared<rest::WarningRecorder>());
    }
    rest::AddWarning(exchange.ctx(), std::string(authn::kTokenWithSpaceWarning));
  }

  void Count(const http::Exchange& exchange, AuthenticationResult result, std::string_view username,
             Clock::Monotonic start) const {
    const auto took = EndedAt(exchange, *options_.clock) - start;
    request::TrackLatency(exchange.ctx(), request::Layer::kAuthentication, took);
    if (metrics_) metrics_->Count(result, username, took);
  }

  const AuthenticationOptions options_;
  const std::string loopback_authorization_;
  const auth::UserInfoPtr loopback_;
  std::optional<AuthenticationMetrics> metrics_;
};

}  // namespace

FilterPtr NewAuthentication(AuthenticationOptions options) {
  return std::make_unique<Authentication>(std::move(options));
}

}  // namespace apiserver::v0::server
