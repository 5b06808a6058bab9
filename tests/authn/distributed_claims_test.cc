// Groups that an ID token leaves for another place to tell.
#include <catch2/catch.hpp>

#include "apiserver/auth/look_up.h"
#include "authn/distributed_claims.h"
#include "authn/oidc_fixture.h"

namespace apiserver::inline v0::authn {
namespace {

const std::string kUrl = "https://auth.example.com";
const std::string kGroups = kUrl + "/groups";

// Of the groups, or another claim.
std::string Elsewhere(const std::string& claim = "groups", const std::string& endpoint = kGroups,
                      const std::string& more = R"(,"access_token":"groups_token")") {
  return R"(,"_claim_names":{")" + claim + R"(":"src1"},"_claim_sources":{"src1":{"endpoint":")" +
         endpoint + "\"" + more + "}}";
}

// What the endpoint answers.
std::string Told(const std::string& more, const std::string& audience = "my-client",
                 std::int64_t expires = kValid) {
  return Token(Claims(R"("aud":")" + audience + "\"" + more, expires));
}

// An authenticator that knows its issuer's keys, and an endpoint that answers this.
struct Distributed : OidcFixture {
  explicit Distributed(const JwtAuthenticator& rules = Rules()) { Make(rules); }

  Answer AskTold(const std::string& token, Result<http::ClientResponse> told) {
    http->AnswerNext(std::move(told));
    return Ask(token);
  }
  // Once what was told before has been forgotten.
  std::string ErrorOf(const std::string& token, Result<http::ClientResponse> told) {
    clock.Advance(std::chrono::seconds(11));
    const Answer answer = AskTold(token, std::move(told));
    CHECK(answer.status().reason() == Reason::kUnauthorized);
    return std::string(answer.status().message());
  }
};

UserInfo UserTold(const JwtAuthenticator& rules, const std::string& claims,
                  const std::string& told) {
  Distributed fixture(rules);
  const Answer answer = fixture.AskTold(Token(Claims(kJane + claims)), Ok(Told(told)));
  CHECK(answer.status() == Status());
  if (!answer.ok() || !answer->has_value()) return {};
  return *answer->value().user;
}

const std::string kExpand = "oidc: could not expand distributed claims: ";

}  // namespace

// TestToken: groups-distributed, groups-distributed-unusual-name, group-string-claim-distributed,
// groups-prefix-distributed
TEST_CASE("authn: groups are asked for where the token says they are", "[authn]") {
  const std::string teams = R"(,"groups":["team1","team2"])";
  CHECK(UserTold(Rules(), Elsewhere(), teams) ==
        UserInfo{.name = "jane", .groups = {"team1", "team2"}});
  CHECK(UserTold(Rules(), Elsewhere(), R"(,"groups":"team1")") ==
        UserInfo{.name = "jane", .groups = {"team1"}});
  JwtAuthenticator rabbits = Rules();
  rabbits.claim_mappings.groups.claim = "rabbits";
  CHECK(UserTold(rabbits, Elsewhere("rabbits", kUrl + "/rabbits"),
                 R"(,"rabbits":["team1","team2"])") ==
        UserInfo{.name = "jane", .groups = {"team1", "team2"}});
  JwtAuthenticator prefixed = Rules();
  prefixed.claim_mappings.username.prefix = "oidc:";
  prefixed.claim_mappings.groups.prefix = "groups:";
  CHECK(UserTold(prefixed, Elsewhere(), teams) ==
        UserInfo{.name = "oidc:jane", .groups = {"groups:team1", "groups:team2"}});
}

// TestToken: groups-distributed-normal-claim-wins, and what is not asked for either.
TEST_CASE("authn: nobody is asked for a claim that is there, or that nobody wants", "[authn]") {
  Distributed fixture;
  const std::size_t asked = fixture.http->requests().size();
  const auto groups = [&fixture](const std::string& claims) {
    const Answer answer = fixture.Ask(Token(Claims(kJane + claims)));
    CHECK(answer.status() == Status());
    return answer.ok() ? answer->value().user->groups : std::vector<std::string>{"?"};
  };

  CHECK(groups(R"(,"groups":"team1")" + Elsewhere()) == std::vector<std::string>{"team1"});
  CHECK(groups(Elsewhere("address")).empty());
  CHECK(groups(R"(,"_claim_names":{"groups":"src1"},"_claim_sources":{"src1":{"JWT":"a.b.c"}})")
            .empty());
  CHECK(groups(R"(,"_claim_names":{},"_claim_sources":{})").empty());
  CHECK(fixture.http->requests().size() == asked);

  JwtAuthenticator without = Rules();
  without.claim_mappings.groups = {};
  Distributed ungrouped(without);
  CHECK(ungrouped.Ask(Token(Claims(kJane + Elsewhere())))->value().user->groups.empty());
}

// TestToken: groups-distributed-malformed-claim-names,
// groups-distributed-malformed-names-and-sources
TEST_CASE("authn: sources of claims that are malformed are refused", "[authn]") {
  Distributed fixture;
  const auto error = [&fixture](const std::string& claims) {
    const Answer answer = fixture.Ask(Token(Claims(kJane + claims)));
    CHECK(answer.status().reason() == Reason::kUnauthorized);
    return std::string(answer.status().message());
  };
  const std::string names = R"(,"_claim_names":)";
  const std::string sources = R"(,"_claim_sources":)";
  const std::string unmarshal = "oidc: verify token: oidc: failed to unmarshal claims: ";

  CHECK(error(names + R"({"groups":"nonexistent-claim-source"})" + sources +
              R"({"src1":{"endpoint":"https://a"}})") ==
        "oidc: verify token: oidc: source does not exist");
  CHECK(error(names + R"({"groups":"src1"})") == "oidc: verify token: oidc: source does not exist");
  CHECK(error(names + R"({"other":"src1"})") == "oidc: verify token: oidc: source does not exist");
  CHECK(error(names + R"({"groups":""})" + sources + "{}") ==
        "oidc: verify token: oidc: failed to obtain source from claim name");
  CHECK(error(names + "{}") == kExpand + "oidc: no claim sources");
  CHECK(error(names + "7") == unmarshal + "_claim_names is no object");
  CHECK(error(names + R"({"groups":7})") == unmarshal + "_claim_names holds no texts");
  CHECK(error(sources + "[]") == unmarshal + "_claim_sources is no object");
  CHECK(error(sources + R"({"src1":7})") == unmarshal + "_claim_sources holds no objects");
  CHECK(error(sources + R"({"src1":{"endpoint":7}})") == unmarshal + "endpoint is no text");
  CHECK(error(sources + R"({"src1":{"access_token":[]}})") ==
        unmarshal + "access_token is no text");
}

// TestToken: groups-distributed invalid client, groups-distributed-malformed-distributed-claim,
// groups-distributed-wrong-audience, groups-distributed-expired-token
TEST_CASE("authn: what an endpoint tells must be a good token with the claim", "[authn]") {
  Distributed fixture;
  const std::string token = Token(Claims(kJane + Elsewhere()));
  const std::string getting = kExpand + "while getting distributed claim \"groups\": ";
  const std::string verify = kExpand + "verify distributed claim token: ";

  CHECK(fixture.ErrorOf(token, Status(Reason::kServiceUnavailable, "some unexpected oidc error")) ==
        getting + "Get \"https://auth.example.com/groups\": some unexpected oidc error");
  CHECK(fixture.ErrorOf(token, http::ClientResponse{.code = 404}) ==
        getting + "error while getting distributed claim JWT: 404");
  // A redirect is followed by nobody.
  CHECK(fixture.ErrorOf(token, http::ClientResponse{.code = 302}) ==
        getting + "error while getting distributed claim JWT: 302");
  CHECK(fixture.ErrorOf(token, Ok(Told(""))) ==
        kExpand +
            "jwt returned by distributed claim endpoint \"https://auth.example.com/groups\" "
            "did not contain claim: groups");
  CHECK(fixture.ErrorOf(token, Ok(Told(R"(,"groups":["a"])", "your-client"))) ==
        verify + "oidc: expected audience \"my-client\" got [\"your-client\"]");
  CHECK(fixture.ErrorOf(token, Ok(Told(R"(,"groups":["a"])", "my-client", kExpired))) ==
        verify + "oidc: token is expired (Token Expiry: 2009-11-10 22:00:00 +0000 UTC)");
  CHECK(fixture.ErrorOf(token, Ok("<html>"))
            .starts_with(
                kExpand +
                "getting untrusted issuer from endpoint https://auth.example.com/groups failed"));
  CHECK(fixture.ErrorOf(token, Ok("")).starts_with(kExpand + "getting untrusted issuer"));
  CHECK(fixture.ErrorOf(token, Ok(std::string(100'000, 'a')))
            .starts_with(kExpand + "getting untrusted issuer"));
  // The issuer's keys are asked for again: they could be newer.
  fixture.http->AnswerNext(Ok(Token(Claims(R"("aud":"my-client","groups":"a")"), P256Key(),
                                    SigningAlgorithm::kEs256, "other")));
  CHECK(fixture.ErrorOf(token, Keys()) ==
        verify + "failed to verify signature: no keys matches jwk keyid");
}

TEST_CASE("security 65: an endpoint of claims cannot sign them with anything but its keys",
          "[authn][security]") {
  const std::string token = Token(Claims(kJane + Elsewhere()));
  const std::string claims = Claims(R"("aud":"my-client","groups":"system:masters")");

  for (const std::string& told :
       {Base64Url(R"({"alg":"none"})") + "." + Base64Url(claims) + ".",
        Token(claims, OtherRsaKey()), Told(R"(,"groups":"system:masters")") + "x"}) {
    Distributed fixture;
    // The keys are asked for again where they could be newer.
    fixture.clock.Advance(std::chrono::minutes(1));
    fixture.http->AnswerNext(Ok(told));
    fixture.http->AnswerNext(Keys());
    CHECK(fixture.Ask(token).status().reason() == Reason::kUnauthorized);
  }
}

TEST_CASE("authn: an endpoint is asked with the token's credential, once in ten seconds",
          "[authn]") {
  Distributed fixture;
  const std::string token = Token(Claims(kJane + Elsewhere()));
  const std::size_t before = fixture.http->requests().size();

  CHECK(fixture.AskTold(token, Ok(Told(R"(,"groups":"a")")))->value().user->groups.front() == "a");
  CHECK(fixture.Ask(token)->value().user->groups.front() == "a");

  const auto requests = fixture.http->requests();
  REQUIRE(requests.size() == before + 1);
  CHECK(requests.back().method == "GET");
  CHECK(requests.back().url == kGroups);
  CHECK(requests.back().headers.Get("Authorization") == "Bearer groups_token");
  CHECK(requests.back().timeout == std::chrono::seconds(10));
  fixture.clock.Advance(std::chrono::seconds(11));
  CHECK(fixture.AskTold(token, Ok(Told(R"(,"groups":"b")")))->value().user->groups.front() == "b");
  // Another credential may be told other things.
  const std::string other =
      Token(Claims(kJane + Elsewhere("groups", kGroups, R"(,"access_token":"other")")));
  CHECK(fixture.AskTold(other, Ok(Told(R"(,"groups":"c")")))->value().user->groups.front() == "c");
  const std::string none = Token(Claims(kJane + Elsewhere("groups", kGroups, "")));
  CHECK(fixture.AskTold(none, Ok(Told(R"(,"groups":"d")")))->value().user->groups.front() == "d");
  CHECK_FALSE(fixture.http->requests().back().headers.Has("Authorization"));
}

TEST_CASE("authn: an endpoint's credentials go nowhere in the clear, and into no message",
          "[authn]") {
  Distributed fixture;
  const std::size_t before = fixture.http->requests().size();
  const auto error = [&fixture](const std::string& endpoint,
                                const std::string& more = R"(,"access_token":"s3cret")") {
    const Answer answer = fixture.Ask(Token(Claims(kJane + Elsewhere("groups", endpoint, more))));
    CHECK(answer.status().reason() == Reason::kUnauthorized);
    std::string message(answer.status().message());
    CHECK(message.find("s3cret") == std::string::npos);
    return message;
  };
  const std::string getting = kExpand + "while getting distributed claim \"groups\": ";

  CHECK(error("http://a/groups") == getting + "the endpoint \"http://a/groups\" must be https");
  CHECK(error("https://me:s3cret@a/groups") ==
        getting + "the endpoint \"https://a/groups\" must not name a user");
  CHECK(error("https:///groups") == getting + "the endpoint \"https:///groups\" names no host");
  CHECK(error("https://a b/s3cret") == getting + "the endpoint is no URL");
  CHECK(error(kGroups, R"(,"access_token":"s3cret\r\nX-Remote-User: root")") ==
        getting +
            "the access token for the endpoint \"https://auth.example.com/groups\" is no "
            "bearer token");
  CHECK(fixture.http->requests().size() == before);
  fixture.http->AnswerNext(
      Status(Reason::kInvalid, "cannot call \"https://a/groups?key=s3cret\": bad"));
  CHECK(error("https://a/groups?key=s3cret") ==
        getting + "Get \"https://a/groups\": cannot call \"https://a/groups\": bad");
  fixture.http->AnswerNext(Ok(Told("")));
  CHECK(error("https://a/groups?key=s3cret")
            .ends_with("endpoint \"https://a/groups\" did not contain claim: groups"));
}

TEST_CASE("authn: no thread waits for an endpoint of claims", "[authn]") {
  Distributed fixture;
  const std::string token = Token(Claims(kJane + Elsewhere()));
  Context ctx = Context::Child(Context::Background()).WithMayBlock(false);
  const auto waiting = std::make_shared<auth::Waiting>();
  ctx.Set(auth::WaitingPtr(waiting));
  const auto ask = [&] { return fixture.oidc->AuthenticateToken(ctx, token); };

  CHECK(ask().status().reason() == Reason::kWouldBlock);
  CHECK(waiting->size() == 1);
  CHECK(waiting->pending());
  fixture.http->Answer(Ok(Told(R"(,"groups":"team1")")));
  CHECK_FALSE(waiting->pending());

  const Answer answer = ask();
  REQUIRE(answer.status() == Status());
  CHECK(answer->value().user->groups == std::vector<std::string>{"team1"});
}

TEST_CASE("authn: claims may come from another issuer, whose keys are asked for", "[authn]") {
  Distributed fixture;
  const std::string token = Token(Claims(kJane + Elsewhere()));
  const auto told = [](const std::string& issuer) {
    return *SignJwt(P256Key(), SigningAlgorithm::kEs256, "p",
                    R"({"iss":")" + issuer + R"(","aud":"my-client","groups":["far"],"exp":)" +
                        std::to_string(kValid) + "}");
  };
  const std::string other = "https://claims.example.com";
  fixture.http->AnswerNext(Ok(told(other)));
  fixture.http->AnswerNext(Discovery(other));
  fixture.http->AnswerNext(Keys(P256Key().public_key(), "p"));

  const Answer answer = fixture.Ask(token);

  REQUIRE(answer.status() == Status());
  CHECK(answer->value().user->groups == std::vector<std::string>{"far"});
  const auto requests = fixture.http->requests();
  CHECK(requests[requests.size() - 2].url ==
        "https://claims.example.com/.well-known/openid-configuration");
  // Its keys are kept; one that does not say it is who it is said to be is not believed.
  fixture.clock.Advance(std::chrono::seconds(11));
  CHECK(fixture.AskTold(token, Ok(told(other))).status() == Status());
  fixture.clock.Advance(std::chrono::seconds(11));
  fixture.http->AnswerNext(Ok(told("https://mallory.example.com")));
  CHECK(fixture.ErrorOf(token, Discovery(other)).starts_with(kExpand + "oidc: issuer did not"));
}

TEST_CASE("authn: other issuers of claims are https URLs, and not any number of them", "[authn]") {
  Distributed fixture;
  const std::string token = Token(Claims(kJane + Elsewhere()));
  const auto error = [&](const std::string& issuer,
                         const std::optional<http::ClientResponse>& discovery = std::nullopt) {
    fixture.clock.Advance(std::chrono::seconds(11));
    fixture.http->AnswerNext(
        Ok(*SignJwt(P256Key(), SigningAlgorithm::kEs256, "p",
                    R"({"iss":")" + issuer + R"(","aud":"my-client","groups":["x"],"exp":)" +
                        std::to_string(kValid) + "}")));
    if (discovery) fixture.http->AnswerNext(*discovery);
    const Answer answer = fixture.Ask(token);
    CHECK(answer.status().reason() == Reason::kUnauthorized);
    return std::string(answer.status().message());
  };
  const std::string verifying = kExpand + "verifying untrusted issuer ";

  CHECK(error("http://claims") == verifying + "\"http://claims\" failed: no https URL");
  CHECK(error("https://me:s3cret@claims") == verifying + "\"https://claims\" failed: no https URL");
  CHECK(error("") == verifying + "\"\" failed: no https URL");
  CHECK(error("https://claims?q") == verifying + "\"https://claims\" failed: no https URL");
  const http::ClientResponse gone{.code = 404};
  for (std::size_t i = 0; i < kClaimIssuersMax; ++i) {
    CHECK(error("https://claims" + std::to_string(i), gone)
              .starts_with(kExpand + "oidc: get provider"));
  }
  CHECK(error("https://claims-more") ==
        verifying + "\"https://claims-more\" failed: claims come from too many issuers");
}

}  // namespace apiserver::inline v0::authn
