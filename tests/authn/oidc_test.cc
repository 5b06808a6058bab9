#include "apiserver/authn/oidc.h"

#include <catch2/catch.hpp>

#include "apiserver/auth/look_up.h"
#include "authn/oidc_fixture.h"

namespace apiserver::inline v0::authn {
namespace {

using Fixture = OidcFixture;

// Whom these claims make under these rules.
UserInfo UserFor(const JwtAuthenticator& rules, const std::string& more) {
  Fixture fixture;
  fixture.Make(rules);
  const Answer answer = fixture.Ask(Token(Claims(more)));
  CHECK(answer.status() == Status());
  if (!answer.ok() || !answer->has_value()) return {};
  return *answer->value().user;
}

std::string ErrorFor(const JwtAuthenticator& rules, const std::string& token) {
  Fixture fixture;
  fixture.Make(rules);
  const Answer answer = fixture.Ask(token);
  CHECK(answer.status().reason() == Reason::kUnauthorized);
  return std::string(answer.status().message());
}

}  // namespace

// TestToken: token, groups, group-string-claim, no-groups-claim, username-prefix, groups-prefix,
// group-string-claim-aggregated-not-supported, empty username is allowed via claim
TEST_CASE("authn: the claims of an ID token name the user and its groups", "[authn]") {
  CHECK(UserFor(Rules(), kJane) == UserInfo{.name = "jane"});
  CHECK(UserFor(Rules(), kJane + R"(,"groups":["team1","team2"])") ==
        UserInfo{.name = "jane", .groups = {"team1", "team2"}});
  CHECK(UserFor(Rules(), kJane + R"(,"groups":"team1")") ==
        UserInfo{.name = "jane", .groups = {"team1"}});
  CHECK(UserFor(Rules(), kJane + R"(,"groups":null)") == UserInfo{.name = "jane"});
  CHECK(UserFor(Rules(), R"("aud":"my-client","username":"")") == UserInfo{});
  CHECK(UserFor(Rules(), kJane + R"(,"_claim_names":{"groups":"src1"},)"
                                 R"("_claim_sources":{"src1":{"JWT":"some.jwt.token"}})") ==
        UserInfo{.name = "jane"});
  JwtAuthenticator prefixed = Rules();
  prefixed.claim_mappings.username.prefix = "oidc:";
  prefixed.claim_mappings.groups.prefix = "groups:";
  CHECK(UserFor(prefixed, kJane + R"(,"groups":["team1","team2"])") ==
        UserInfo{.name = "oidc:jane", .groups = {"groups:team1", "groups:team2"}});
}

// TestToken: no-username, invalid-groups-claim
TEST_CASE("authn: a claim that is missing or of another type is an error", "[authn]") {
  CHECK(ErrorFor(Rules(), Token(Claims(R"("aud":"my-client")"))) ==
        R"(oidc: parse username claims "username": claim not present)");
  CHECK(ErrorFor(Rules(), Token(Claims(kJane + R"(,"groups":42)"))) ==
        R"(oidc: parse groups claim "groups": json: cannot unmarshal number into Go value of type )"
        "string");
  CHECK(ErrorFor(Rules(), Token(Claims(kJane + R"(,"groups":["a",42])"))) ==
        R"(oidc: parse groups claim "groups": json: cannot unmarshal array into Go value of type )"
        "string");
}

// TestToken: email, email-not-verified, no-email-verified-claim, invalid-email-verified-claim
TEST_CASE("authn: an email that is not verified is nobody's name", "[authn]") {
  JwtAuthenticator rules = Rules();
  rules.claim_mappings.username.claim = "email";
  const std::string email = R"("aud":"my-client","email":"jane@example.com")";
  CHECK(UserFor(rules, email + R"(,"email_verified":true)").name == "jane@example.com");
  CHECK(UserFor(rules, email).name == "jane@example.com");
  CHECK(ErrorFor(rules, Token(Claims(email + R"(,"email_verified":false)"))) ==
        "oidc: email not verified");
  CHECK(ErrorFor(rules, Token(Claims(email + R"(,"email_verified":null)"))) ==
        "oidc: email not verified");
  CHECK(ErrorFor(rules, Token(Claims(email + R"(,"email_verified":"false")"))) ==
        "oidc: parse 'email_verified' claim: json: cannot unmarshal string into Go value of type "
        "bool");
}

// TestToken: required-claim, no-required-claim, invalid-required-claim
TEST_CASE("authn: a required claim has its value", "[authn]") {
  JwtAuthenticator rules = Rules();
  rules.claim_validation_rules = {{.claim = "hd", .required_value = "example.com"},
                                  {.claim = "sub", .required_value = "test"}};
  CHECK(UserFor(rules, kJane + R"(,"hd":"example.com","sub":"test")").name == "jane");
  CHECK(ErrorFor(rules, Token(Claims(kJane))) == "oidc: required claim hd not present in ID token");
  CHECK(ErrorFor(rules, Token(Claims(kJane + R"(,"hd":"example.org")"))) ==
        "oidc: required claim hd value does not match. Got = example.org, want = example.com");
  CHECK(ErrorFor(rules, Token(Claims(kJane + R"(,"hd":7)"))) ==
        "oidc: parse claim hd: json: cannot unmarshal number into Go value of type string");
}

// TestToken: uid claim mapping with claim, credential id ..., non-string jti ..., missing jti ...
TEST_CASE("authn: uid and credential id come from the claims", "[authn]") {
  JwtAuthenticator rules = Rules();
  rules.claim_mappings.uid.claim = "uid";
  CHECK(UserFor(rules, kJane + R"(,"uid":"1234","jti":"1729c6a6")") ==
        UserInfo{.name = "jane",
                 .uid = "1234",
                 .extra = {{"authentication.kubernetes.io/credential-id", {"JTI=1729c6a6"}}}});
  CHECK(ErrorFor(rules, Token(Claims(kJane))) ==
        R"(oidc: parse uid claim "uid": claim not present)");
  CHECK(UserFor(Rules(), kJane + R"(,"jti":1234)").extra.empty());
}

// TestToken: invalid-aud, good token with bad client id, multiple-audiences, ... in authentication
// config, ... multiple matches, ... no match
TEST_CASE("authn: a token is for one of the audiences", "[authn]") {
  const auto with = [](const std::string& aud) {
    return Token(Claims(R"("username":"jane","azp":"not-my-client","aud":)" + aud));
  };
  JwtAuthenticator many = Rules();
  many.issuer.audiences = {"random-client", "my-client"};
  many.issuer.audience_match_policy = "MatchAny";
  for (const JwtAuthenticator& rules : {Rules(), many}) {
    Fixture fixture;
    fixture.Make(rules);
    for (const char* aud : {R"("my-client")", R"(["not-my-client","my-client"])",
                            R"(["not-my-client","my-client","other-client"])"}) {
      CAPTURE(aud);
      CHECK(fixture.Ask(with(aud))->value().user->name == "jane");
    }
  }
  CHECK(ErrorFor(Rules(), with(R"("not-my-client")")) ==
        R"(oidc: verify token: oidc: expected audience "my-client" got ["not-my-client"])");
  CHECK(ErrorFor(many, with(R"(["not-my-client"])")) ==
        R"(oidc: verify token: oidc: expected audience in ["my-client" "random-client"] got )"
        R"(["not-my-client"])");
  for (const char* aud : {"null", "7", "[]", R"([7,"my-client"])", R"({"my-client":1})", R"("")"}) {
    CAPTURE(aud);
    ErrorFor(Rules(), with(aud));
  }
}

// TestToken: invalid-issuer, accounts.google.com issuer
TEST_CASE("authn: another issuer's token is somebody else's business", "[authn]") {
  Fixture fixture;
  fixture.Make(Rules());
  for (const std::string& token :
       {Token(R"({"iss":"https://example.com","aud":"my-client","username":"jane"})"),
        Token(R"({"iss":"https://auth.example.com/","aud":"my-client"})"), Token("{}"),
        std::string("opaque"), std::string(), std::string("{\"a\":1}")}) {
    const Answer answer = fixture.Ask(token);
    REQUIRE(answer.ok());
    CHECK_FALSE(answer->has_value());
  }
  JwtAuthenticator google = Rules();
  google.issuer.url = "https://accounts.google.com";
  google.claim_mappings.username.claim = "email";
  Fixture other;
  other.Make(google);
  const Answer answer =
      other.Ask(Token(R"({"iss":"accounts.google.com","email":"thomas.jefferson@gmail.com",)"
                      R"("aud":"my-client","exp":1257897600})"));
  CHECK(answer->value().user->name == "thomas.jefferson@gmail.com");
}

// TestToken: expired
TEST_CASE("security 65: exp and nbf are judged to the second", "[authn][security]") {
  CHECK(ErrorFor(Rules(), Token(Claims(kJane, kExpired))) ==
        "oidc: verify token: oidc: token is expired (Token Expiry: 2009-11-10 22:00:00 +0000 UTC)");
  Fixture fixture;
  fixture.Make(Rules());
  const auto good = [&fixture](const std::string& claims) {
    return fixture.Ask(Token(claims)).ok();
  };
  CHECK(good(Claims(kJane, kNow)));
  CHECK_FALSE(good(Claims(kJane, kNow - 1)));
  fixture.clock.Advance(std::chrono::nanoseconds(1'000));
  CHECK_FALSE(good(Claims(kJane, kNow)));
  CHECK(good(Claims(kJane, kNow + 1)));
  // Five minutes are other clocks'.
  CHECK(good(Claims(kJane + R"(,"nbf":1257894300)")));
  CHECK_FALSE(good(Claims(kJane + R"(,"nbf":1257894301)")));
  for (const char* exp : {"null", R"("1257897600")", "1e300", "[1257897600]", "-1", "0"}) {
    CAPTURE(exp);
    CHECK_FALSE(good(R"({"iss":"https://auth.example.com","aud":"my-client","username":"jane",)"
                     R"("exp":)" +
                     std::string(exp) + "}"));
  }
  CHECK_FALSE(good(R"({"iss":"https://auth.example.com","aud":"my-client","username":"jane"})"));
  CHECK_FALSE(good(Claims(kJane + R"(,"nbf":"soon")")));
}

// TestToken: invalid-signature, invalid-signing-alg, ps256, es512
TEST_CASE("authn: only the issuer's keys and algorithms sign", "[authn]") {
  CHECK(ErrorFor(Rules(), Token(Claims(kJane), OtherRsaKey())) ==
        "oidc: verify token: failed to verify signature: failed to verify id token signature");
  CHECK(ErrorFor(Rules(), Token(Claims(kJane), RsaKey(), SigningAlgorithm::kRs256, "other")) ==
        "oidc: verify token: failed to verify signature: no keys matches jwk keyid");
  Fixture fixture({.signing_algorithms = {"RS256"}});
  fixture.Make(Rules());
  CHECK(fixture.Ask(Token(Claims(kJane), RsaKey(), SigningAlgorithm::kPs256)).status().message() ==
        R"(oidc: verify token: oidc: id token signed with unsupported algorithm, expected )"
        R"(["RS256"] got "PS256")");
  Fixture all;
  all.Make(Rules());
  CHECK(all.Ask(Token(Claims(kJane), RsaKey(), SigningAlgorithm::kPs256)).ok());
}

// TestToken: invalid-sig-alg, not-https, no-username-claim, disallowed issuer via configured value
TEST_CASE("authn: a configuration that cannot be used makes no authenticator", "[authn]") {
  const auto error = [](const JwtAuthenticator& rules, OidcOptions options = {}) {
    Fixture fixture(std::move(options));
    const auto made = NewOidc({rules}, fixture.options);
    CHECK(made.status().reason() == Reason::kInvalid);
    return std::string(made.status().message());
  };
  CHECK(error(Rules(), {.signing_algorithms = {"HS256"}}) ==
        R"(oidc: unsupported signing alg: "HS256")");
  CHECK(
      error(Rules(), {.disallowed_issuers = {"https://auth.example.com"}}) ==
      R"(jwt[0].issuer.url: Invalid value: "https://auth.example.com": URL must not overlap with )"
      "disallowed issuers: [https://auth.example.com]");
  JwtAuthenticator rules = Rules();
  rules.issuer.url = "http://auth.example.com";
  CHECK(error(rules) ==
        R"(jwt[0].issuer.url: Invalid value: "http://auth.example.com": URL scheme )"
        "must be https");
  rules = Rules();
  rules.claim_mappings.username.claim = "";
  CHECK(error(rules) ==
        "jwt[0].claimMappings.username: Required value: claim or expression is required");
  CHECK(NewOidc({Rules()}, {}).status().reason() == Reason::kInvalid);
}

// TestToken: discovery-url and the four cases behind it
TEST_CASE("authn: the issuer's document says where its keys are", "[authn]") {
  for (const auto& [issuer, discovery, asked] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"https://auth.example.com", "",
            "https://auth.example.com/.well-known/openid-configuration"},
           {"https://auth.example.com/", "",
            "https://auth.example.com/.well-known/openid-configuration"},
           {"https://auth.example.com", "https://d/.well-known/openid-configuration",
            "https://d/.well-known/openid-configuration"},
           {"https://auth.example.com/a/b/foo", "https://d/.well-known/openid-configuration",
            "https://d/.well-known/openid-configuration"},
           {"https://auth.example.com", "https://d/c/d/bar/.well-known/openid-configuration",
            "https://d/c/d/bar/.well-known/openid-configuration"},
           {"https://auth.example.com/a/b/foo/",
            "https://d/c/d/bar/.well-known/openid-configuration",
            "https://d/c/d/bar/.well-known/openid-configuration"}}) {
    CAPTURE(issuer);
    JwtAuthenticator rules = Rules();
    rules.issuer.url = issuer;
    rules.issuer.discovery_url = discovery;
    Fixture fixture;
    fixture.Make(rules);
    REQUIRE(fixture.http->requests().size() == 2);
    CHECK(fixture.http->requests()[0].url == asked);
    CHECK(fixture.http->requests()[0].method == "GET");
    CHECK(fixture.http->requests()[1].url == "https://keys.example.com/keys");
    CHECK(fixture.oidc->Healthy() == Status());
    CHECK(fixture
              .Ask(Token(R"({"iss":")" + issuer +
                         R"(","aud":"my-client","username":"jane","exp":1257897600})"))
              ->value()
              .user->name == "jane");
  }
}

// TestToken: health check failure
TEST_CASE("authn: an issuer that says nothing good keeps its authenticator unhealthy", "[authn]") {
  const auto trouble = [](Result<http::ClientResponse> discovery,
                          std::optional<Result<http::ClientResponse>> keys = std::nullopt) {
    Fixture fixture;
    fixture.http->AnswerNext(std::move(discovery));
    if (keys) fixture.http->AnswerNext(*std::move(keys));
    fixture.Make(Rules(), false);
    CHECK(fixture.Ask(Token(Claims(kJane))).status().reason() == Reason::kUnauthorized);
    CHECK(fixture.http->waiting() == 0);
    const std::string message(fixture.oidc->Healthy().message());
    const std::string prefix =
        R"(oidc: authenticator for issuer "https://auth.example.com" is not healthy: )";
    REQUIRE(message.starts_with(prefix));
    return message.substr(prefix.size());
  };
  CHECK(trouble(Status(Reason::kServiceUnavailable, "no connection")) ==
        "oidc: get provider configuration failed: no connection");
  CHECK(trouble(http::ClientResponse{.code = 302}) ==
        "oidc: get provider configuration failed: status 302");
  CHECK(trouble(Ok("{")) ==
        "oidc: failed to decode provider discovery object: unexpected end of JSON input");
  CHECK(trouble(Discovery("https://other")) ==
        "oidc: issuer did not match the issuer returned by provider, expected "
        R"("https://auth.example.com" got "https://other")");
  CHECK(trouble(Ok(R"({"issuer":"https://auth.example.com"})")) ==
        "provider did not return JWKS URL");
  CHECK(trouble(Ok(R"({"issuer":"https://auth.example.com","jwks_uri":"http://a"})")) ==
        R"(oidc: jwks_uri "http://a" must be https)");
  // Row 70 of docs/security.md.
  const auto keys_at = [&](const std::string& url) {
    return trouble(Ok(R"({"issuer":"https://auth.example.com","jwks_uri":")" + url + R"("})"));
  };
  CHECK(keys_at("https://auth.example.com@169.254.169.254/") ==
        R"(oidc: jwks_uri "https://169.254.169.254/" must not name a user)");
  CHECK(keys_at("https:///keys") == R"(oidc: jwks_uri "https:///keys" names no host)");
  CHECK(keys_at("https:169.254.169.254") ==
        R"(oidc: jwks_uri "https:169.254.169.254" names no host)");
  for (const std::string url :
       {"https://[169.254.169.254]/", "https://a:1:2/", "https://[::1]a/", "https://%61/",
        "https://a b/", "https://a\\\\@b/", "https://[::1"}) {
    CAPTURE(url);
    CHECK(keys_at(url) == "oidc: jwks_uri is no URL");
  }
  CHECK(trouble(Discovery(), http::ClientResponse{.code = 500}) ==
        "oidc: get keys failed: status 500");
  CHECK(trouble(Discovery(), Ok("{}")) == "key set: no list \"keys\"");
}

TEST_CASE("authn: no thread waits for an issuer, and all ask it once", "[authn]") {
  Fixture fixture;
  fixture.Make(Rules(), false);
  REQUIRE(fixture.http->waiting() == 1);
  CHECK(fixture.oidc->Healthy().reason() == Reason::kServiceUnavailable);
  const std::string token = Token(Claims(kJane));
  std::vector<Context> requests;
  int resumed = 0;
  for (int i = 0; i < 3; ++i) {
    requests.push_back(Context::Child(Context::Background()).WithMayBlock(false));
    requests.back().Set(std::make_shared<auth::Waiting>());
    const Answer answer = fixture.oidc->AuthenticateToken(requests.back(), token);
    CHECK(answer.status().reason() == Reason::kWouldBlock);
    const auth::WaitingPtr waiting = *requests.back().Get<auth::WaitingPtr>();
    REQUIRE(waiting->size() == 1);
    waiting->OnAll([&resumed] { ++resumed; });
  }
  fixture.http->Answer(Discovery());
  CHECK(resumed == 0);
  fixture.http->Answer(Keys());
  CHECK(resumed == 3);
  for (const Context& request : requests) {
    CHECK(fixture.oidc->AuthenticateToken(request, token)->value().user->name == "jane");
  }
  CHECK(fixture.http->requests().size() == 2);
}

TEST_CASE("authn: new keys of an issuer are fetched, but not for every forged token", "[authn]") {
  Fixture fixture;
  fixture.Make(Rules());
  const auto rotated = Token(Claims(kJane), P256Key(), SigningAlgorithm::kEs256, "b");
  // A moment after the first fetch nothing is asked.
  CHECK_FALSE(fixture.Ask(rotated, false).ok());
  CHECK(fixture.http->requests().size() == 2);

  fixture.clock.Advance(10s);
  fixture.http->AnswerNext(Keys(P256Key().public_key(), "b"));
  CHECK(fixture.Ask(rotated)->value().user->name == "jane");
  CHECK(fixture.http->requests().size() == 3);
  CHECK(fixture.http->requests()[2].url == "https://keys.example.com/keys");
  // The old key is gone.
  CHECK_FALSE(fixture.Ask(Token(Claims(kJane))).ok());

  for (int i = 0; i < 100; ++i) {
    CHECK_FALSE(fixture
                    .Ask(Token(Claims(kJane), P256Key(), SigningAlgorithm::kEs256,
                               "forged" + std::to_string(i)))
                    .ok());
  }
  CHECK(fixture.http->requests().size() == 3);
}

TEST_CASE("authn: a request that has waited for keys does not ask again", "[authn]") {
  Fixture fixture;
  fixture.Make(Rules());
  fixture.clock.Advance(10s);
  Context request = Context::Child(Context::Background()).WithMayBlock(false);
  request.Set(std::make_shared<auth::Waiting>());
  const std::string forged = Token(Claims(kJane), OtherRsaKey());
  CHECK(fixture.oidc->AuthenticateToken(request, forged).status().reason() == Reason::kWouldBlock);
  fixture.http->Answer(Keys());
  fixture.clock.Advance(60s);
  CHECK(fixture.oidc->AuthenticateToken(request, forged).status().reason() ==
        Reason::kUnauthorized);
  CHECK(fixture.http->requests().size() == 3);
}

TEST_CASE("authn: keys stay in use while an issuer is away, and old ones are renewed", "[authn]") {
  Fixture fixture;
  fixture.Make(Rules());
  const auto ask = [&fixture] {
    const std::int64_t now =
        std::chrono::duration_cast<std::chrono::seconds>(fixture.clock.Now().time_since_epoch())
            .count();
    return fixture.Ask(Token(Claims(kJane, now + 60)), false).ok();
  };
  fixture.clock.Advance(std::chrono::hours(1));
  CHECK(ask());
  CHECK(fixture.http->requests().size() == 2);
  fixture.clock.Advance(1s);
  CHECK(ask());  // With the old keys, while new ones are fetched.
  CHECK(fixture.http->requests().size() == 3);
  fixture.http->Answer(Status(Reason::kTimeout, "too slow"));
  CHECK(ask());
  CHECK(fixture.oidc->Healthy() == Status());
  // Where they are is asked again too.
  fixture.clock.Advance(10s);
  CHECK(ask());
  CHECK(fixture.http->requests().back().url ==
        "https://auth.example.com/.well-known/openid-configuration");
}

TEST_CASE("authn: every issuer is asked with its own certificate authority", "[authn]") {
  Fixture fixture;
  JwtAuthenticator rules = Rules();
  const auto authority = http::NewCertificateAuthority("a", RealClock());
  rules.issuer.certificate_authority = authority->certificate_pem;
  fixture.Make(rules);
  REQUIRE(fixture.clients.size() == 1);
  CHECK(fixture.clients[0].tls.ca_pem == authority->certificate_pem);
}

TEST_CASE("authn: what was known of an issuer outlives a new configuration", "[authn]") {
  Fixture fixture;
  fixture.Make(Rules());
  JwtAuthenticator rules = Rules();
  rules.claim_mappings.username.prefix = "new:";
  const auto next = NewOidc({rules}, fixture.options, fixture.oidc.get());
  REQUIRE(next.ok());
  CHECK(
      (*next)->AuthenticateToken(Context::Background(), Token(Claims(kJane)))->value().user->name ==
      "new:jane");
  CHECK(fixture.http->requests().size() == 2);
  rules.issuer.audiences = {"other"};
  REQUIRE(NewOidc({rules}, fixture.options, next->get()).ok());
  CHECK(fixture.http->requests().size() == 3);
}

// TestJWKSMetrics, TestRecordAuthenticationLatency
TEST_CASE("authn: what an issuer's keys and tokens cost is counted", "[authn]") {
  const auto registry = metrics::NewRegistry();
  Fixture fixture({.metrics = registry.get(), .server_id = "server"});
  fixture.Make(Rules());
  CHECK(fixture.Ask(Token(Claims(kJane))).ok());
  CHECK_FALSE(fixture.Ask(Token(Claims(kJane), OtherRsaKey())).ok());
  CHECK(fixture.Ask("opaque").ok());
  const std::string issuer =
      "sha256:1ce18487e0b9bfefc8259d779bfe98742d3cb9bcb19af96d0cd63e1274b168a2";
  const std::string text = registry->Serialize();
  const std::string name = "apiserver_authentication_jwt_authenticator_";
  CAPTURE(text);
  CHECK(text.find(name + "latency_seconds_count{result=\"success\",jwt_issuer_hash=\"" + issuer +
                  "\"} 1") != std::string::npos);
  CHECK(text.find(name + "latency_seconds_count{result=\"failure\",jwt_issuer_hash=\"" + issuer +
                  "\"} 1") != std::string::npos);
  CHECK(text.find(name + "jwks_fetch_last_timestamp_seconds{result=\"success\",jwt_issuer_hash=\"" +
                  issuer + "\",apiserver_id_hash=\"sha256:") != std::string::npos);
  CHECK(text.find(name + "jwks_fetch_last_key_set_info{jwt_issuer_hash=\"" + issuer + "\"") !=
        std::string::npos);
  fixture.oidc = nullptr;
  CHECK(registry->Serialize().find("jwks_fetch_last_key_set_info{") == std::string::npos);
}

}  // namespace apiserver::inline v0::authn
