#include "apiserver/authn/anonymous.h"

#include <catch2/catch.hpp>

#include "apiserver/auth/audiences.h"
#include "apiserver/authn/union.h"
#include "authn/fakes.h"

namespace apiserver::inline v0::authn {
namespace {

http::Request To(const std::string& path) {
  http::Request request;
  request.path = path;
  return request;
}

}  // namespace

// TestAnonymous
TEST_CASE("authn: anyone is system:anonymous in system:unauthenticated", "[authn]") {
  const Answer answer = NewAnonymous()->Authenticate(Context::Background(), To("/api"));

  REQUIRE(answer.ok());
  REQUIRE(answer->has_value());
  CHECK(*answer->value().user == auth::UserInfo{.name = "system:anonymous",
                                                .uid = "",
                                                .groups = {"system:unauthenticated"}});
  CHECK(IsAnonymous(*answer->value().user));
}

// TestAnonymousRestricted
TEST_CASE("authn: anonymous may be limited to paths", "[authn]") {
  const auto anonymous = NewAnonymous({"/healthz", "/readyz", "/livez"});
  const auto known = [&](const std::string& path) {
    return anonymous->Authenticate(Context::Background(), To(path))->has_value();
  };

  CHECK(known("/healthz"));
  CHECK(known("/readyz"));
  CHECK(known("/livez"));
  CHECK_FALSE(known("/api"));
  CHECK_FALSE(known("/healthz/"));
  CHECK_FALSE(known("/healthz/ping"));
  CHECK_FALSE(known(""));
}

TEST_CASE("authn: anonymous is there for whatever audience is wanted", "[authn]") {
  Context ctx = Context::Child(Context::Background());
  ctx.Set(auth::Audiences{{"a", "b"}});

  CHECK(NewAnonymous()->Authenticate(ctx, To("/"))->value().audiences ==
        std::vector<std::string>{"a", "b"});
}

TEST_CASE("authn: who shows a bad credential is not anonymous", "[authn]") {
  const Status bad(Reason::kUnauthorized, "bad");
  const std::shared_ptr<const auth::Authenticator> anonymous = NewAnonymous();
  const auto with = [&](Answer first) {
    return NewUnionFailOnError({std::make_shared<FixedAuthenticator>(std::move(first)), anonymous})
        ->Authenticate(Context::Background(), To("/"));
  };

  CHECK(with(bad).status() == bad);
  CHECK(with(Somebody({.name = "jane"}))->value().user->name == "jane");
  CHECK(with(Nobody())->value().user->name == "system:anonymous");
  CHECK_FALSE(NewUnionFailOnError({})->Authenticate(Context::Background(), To("/"))->has_value());
}

TEST_CASE("authn: whoever is in system:unauthenticated is anonymous", "[authn]") {
  CHECK(IsAnonymous({.name = "jane", .uid = "", .groups = {"system:unauthenticated"}}));
  CHECK_FALSE(IsAnonymous({.name = "jane", .uid = "", .groups = {"system:authenticated"}}));
}

}  // namespace apiserver::inline v0::authn
