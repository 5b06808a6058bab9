#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/authn/oidc.h"
#include "authn/fake_http_client.h"
#include "authn/fakes.h"
#include "authn/signed_tokens.h"
#include "base/manual.h"

// An issuer of ID tokens that the test plays.
namespace apiserver::inline v0::authn {

using auth::UserInfo;
using std::chrono_literals::operator""s;

inline constexpr std::int64_t kNow = 1257894000;      // 2009-11-10T23:00:00Z
inline constexpr std::int64_t kExpired = 1257890400;  // An hour earlier.
inline constexpr std::int64_t kValid = 1257897600;    // An hour later.

inline JwtAuthenticator Rules() {
  return {.issuer = {.url = "https://auth.example.com", .audiences = {"my-client"}},
          .claim_mappings = {.username = {.claim = "username", .prefix = ""},
                             .groups = {.claim = "groups", .prefix = ""}}};
}

inline http::ClientResponse Ok(std::string body) { return {.code = 200, .body = std::move(body)}; }
inline http::ClientResponse Discovery(const std::string& issuer = "https://auth.example.com") {
  return Ok(R"({"issuer":")" + issuer + R"(","jwks_uri":"https://keys.example.com/keys"})");
}
inline http::ClientResponse Keys(const VerificationKey& key = RsaKey().public_key(),
                                 const std::string& id = "a") {
  return Ok(R"({"keys":[)" + JwkText(key, id) + "]}");
}

// An authenticator whose issuers the test plays.
struct OidcFixture {
  explicit OidcFixture(OidcOptions given = {}) : options(std::move(given)) {
    clock.Advance(std::chrono::seconds(kNow));
    options.clock = &clock;
    options.http = [this](const client::HttpClientOptions& wanted) {
      clients.push_back(wanted);
      return http;
    };
  }
  // With keys, unless `discovered` is false.
  void Make(const JwtAuthenticator& rules, bool discovered = true) {
    if (discovered) {
      http->AnswerNext(Discovery(rules.issuer.url));
      http->AnswerNext(Keys());
    }
    auto made = NewOidc({rules}, options);
    REQUIRE(made.status() == Status());
    oidc = *made;
  }
  Answer Ask(const std::string& token, bool may_block = true) const {
    return oidc->AuthenticateToken(Context::Background().WithMayBlock(may_block), token);
  }

  testing::ManualClock clock;
  OidcOptions options;
  std::vector<client::HttpClientOptions> clients;
  std::shared_ptr<FakeHttpClient> http = std::make_shared<FakeHttpClient>();
  std::shared_ptr<OidcAuthenticator> oidc;
};

// The claims that every good token has, and more.
inline std::string Claims(const std::string& more, std::int64_t expires = kValid) {
  return R"({"iss":"https://auth.example.com","exp":)" + std::to_string(expires) +
         (more.empty() ? "" : ",") + more + "}";
}
inline const std::string kJane = R"("aud":"my-client","username":"jane")";

inline std::string Token(const std::string& claims, const SigningKey& key = RsaKey(),
                         SigningAlgorithm algorithm = SigningAlgorithm::kRs256,
                         const std::string& id = "a") {
  return *SignJwt(key, algorithm, id, claims);
}

}  // namespace apiserver::inline v0::authn
