#include "apiserver/authn/bearer_token.h"

#include <catch2/catch.hpp>

#include "authn/fakes.h"

namespace apiserver::inline v0::authn {
namespace {

http::Request WithAuthorization(const std::string& value) {
  http::Request request;
  request.headers.Add("Authorization", value);
  return request;
}

}  // namespace

// TestAuthenticateRequest, TestAuthenticateRequestIncludingValueAfterToken
TEST_CASE("authn: the word after Bearer is the token", "[authn]") {
  const auto known = std::make_shared<FixedAuthenticator>(Somebody({.name = "jane"}));
  const auto bearer = NewBearerToken(known);
  for (const char* header : {"Bearer token", "bearer token", "BEARER token", "  Bearer token  ",
                             "Bearer token a", "Bearer token a b c", "Bearer token   a"}) {
    CAPTURE(header);
    const Answer answer = bearer->Authenticate(Context::Background(), WithAuthorization(header));
    REQUIRE(answer.ok());
    REQUIRE(answer->has_value());
    CHECK(answer->value().user->name == "jane");
    CHECK(known->last_token == "token");
  }
}

// TestAuthenticateRequestBadValue
TEST_CASE("authn: a request without a bearer token has no credentials", "[authn]") {
  const auto known = std::make_shared<FixedAuthenticator>(Somebody({.name = "jane"}));
  const auto bearer = NewBearerToken(known);
  for (const char* header :
       {"", "Bearer", "Bearer ", "bear token", "Bearer: token", "Basic 123", "Bearer  token"}) {
    CAPTURE(header);
    const Answer answer = bearer->Authenticate(Context::Background(), WithAuthorization(header));
    REQUIRE(answer.ok());
    CHECK_FALSE(answer->has_value());
  }
  CHECK_FALSE(bearer->Authenticate(Context::Background(), http::Request())->has_value());
  CHECK(known->asked == 0);
}

// TestAuthenticateRequestTokenInvalid
TEST_CASE("authn: a token that nobody knows is unauthorized", "[authn]") {
  const auto bearer = NewBearerToken(std::make_shared<FixedAuthenticator>(Nobody()));

  const Answer answer =
      bearer->Authenticate(Context::Background(), WithAuthorization("Bearer token"));

  CHECK(answer.status() == Status(Reason::kUnauthorized, "invalid bearer token"));
}

// TestAuthenticateRequestTokenInvalidCustomError
TEST_CASE("authn: the error of whoever checks tokens is passed on", "[authn]") {
  const Status custom(Reason::kInternalError, "custom");
  const auto bearer = NewBearerToken(std::make_shared<FixedAuthenticator>(custom));

  const Answer answer =
      bearer->Authenticate(Context::Background(), WithAuthorization("Bearer token"));

  CHECK(answer.status() == custom);
}

TEST_CASE("authn: a second space before the token deserves a warning", "[authn]") {
  CHECK(HasSpaceBeforeToken(WithAuthorization("Bearer  token")));
  CHECK_FALSE(HasSpaceBeforeToken(WithAuthorization("Bearer token")));
  CHECK_FALSE(HasSpaceBeforeToken(WithAuthorization("Bearer ")));
  CHECK_FALSE(HasSpaceBeforeToken(WithAuthorization("Basic  token")));
  CHECK_FALSE(HasSpaceBeforeToken(http::Request()));
}

TEST_CASE("authn: a static token stands for its user", "[authn]") {
  const auto tokens = NewStaticTokens({{"secret", {.name = "jane", .uid = "1", .groups = {"a"}}},
                                       {"other", {.name = "joe"}},
                                       {"secret", {.name = "late"}}});

  const Answer answer = tokens->AuthenticateToken(Context::Background(), "secret");

  REQUIRE(answer.ok());
  REQUIRE(answer->has_value());
  CHECK(*answer->value().user == auth::UserInfo{.name = "jane", .uid = "1", .groups = {"a"}});
}

TEST_CASE("authn: what is no whole static token stands for nobody", "[authn]") {
  const auto tokens = NewStaticTokens({{"secret", {.name = "jane"}}, {"", {.name = "empty"}}});
  for (const char* token : {"", "secre", "secrets", "Secret", "x"}) {
    CAPTURE(token);
    CHECK_FALSE(tokens->AuthenticateToken(Context::Background(), token)->has_value());
  }
}

}  // namespace apiserver::inline v0::authn
