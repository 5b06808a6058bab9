#include "apiserver/auth/audiences.h"

#include <catch2/catch.hpp>
#include <utility>

namespace apiserver::inline v0::auth {
namespace {

using Names = std::vector<std::string>;
using Answer = Result<std::optional<AuthenticateResponse>>;

class Fixed final : public Authenticator, public TokenAuthenticator {
 public:
  explicit Fixed(Answer answer) : answer_(std::move(answer)) {}
  Answer Authenticate(const Context&, const http::Request&) const override { return answer_; }
  Answer AuthenticateToken(const Context&, std::string_view) const override { return answer_; }

 private:
  const Answer answer_;
};

std::shared_ptr<const Fixed> Somebody(Names audiences = {}) {
  return std::make_shared<Fixed>(std::optional(AuthenticateResponse{
      std::make_shared<const UserInfo>(UserInfo{.name = "test_user"}), std::move(audiences)}));
}

// Through both wrappers, which must agree.
Answer Ask(const Names& implicit, const Names* wanted, const std::shared_ptr<const Fixed>& inner) {
  Context ctx = Context::Child(Context::Background());
  if (wanted) ctx.Set(Audiences{*wanted});
  const auto request =
      WithImplicitAudiences(implicit, std::static_pointer_cast<const Authenticator>(inner))
          ->Authenticate(ctx, http::Request());
  auto token =
      WithImplicitAudiences(implicit, std::static_pointer_cast<const TokenAuthenticator>(inner))
          ->AuthenticateToken(ctx, "t");
  CHECK(request.status() == token.status());
  if (request.ok() && token.ok()) CHECK(request->has_value() == token->has_value());
  return token;
}

}  // namespace

// TestAuthenticate: good audience, multiple good audiences
TEST_CASE("auth: what knows no audiences accepts for the implicit ones that are wanted", "[auth]") {
  struct Row {
    Names implicit, wanted, accepted;
  };
  const Row rows[] = {
      {{"api"}, {"api"}, {"api"}},
      {{"api", "other"}, {"api"}, {"api"}},
      {{"api"}, {"api", "other"}, {"api"}},
      {{"api", "other"}, {"api", "other_other"}, {"api"}},
      {{"api", "other_api"}, {"api", "other_api"}, {"api", "other_api"}},
      {{"api", "other_api", "other"}, {"api", "other_api"}, {"api", "other_api"}},
      {{"api", "other_api"}, {"api", "other_api", "other"}, {"api", "other_api"}},
      {{"api", "other_api", "other"}, {"api", "other_api", "other_other"}, {"api", "other_api"}},
  };
  const Status uhoh(Reason::kInternalError, "uhoh");
  for (const Row& row : rows) {
    const Answer known = Ask(row.implicit, &row.wanted, Somebody());
    REQUIRE(known.ok());
    REQUIRE(known->has_value());
    CHECK(known->value().user->name == "test_user");
    CHECK(known->value().audiences == row.accepted);
    CHECK(Ask(row.implicit, &row.wanted, std::make_shared<Fixed>(uhoh)).status() == uhoh);
    const auto nobody = std::make_shared<Fixed>(std::optional<AuthenticateResponse>());
    CHECK_FALSE(Ask(row.implicit, &row.wanted, nobody)->has_value());
  }
}

// TestAuthenticate: bad audience(s)
TEST_CASE("auth: what knows no audiences accepts nobody for audiences it does not stand for",
          "[auth]") {
  const std::pair<Names, Names> rows[] = {{{"api"}, {"other_api"}},
                                          {{}, {"other_api"}},
                                          {{"api"}, {}},
                                          {{"api", "other"}, {}},
                                          {{}, {"api", "other"}}};
  for (const auto& [implicit, wanted] : rows) {
    CHECK_FALSE(Ask(implicit, &wanted, Somebody())->has_value());
    const auto broken = std::make_shared<Fixed>(Status(Reason::kInternalError, "uhoh"));
    CHECK(Ask(implicit, &wanted, broken).ok());
  }
}

TEST_CASE("auth: without wanted audiences the answer is passed on as it is", "[auth]") {
  const Answer answer = Ask({"api"}, nullptr, Somebody({"x"}));

  CHECK(answer->value().audiences == Names{"x"});
}

TEST_CASE("auth: wrapping what knows audiences by itself is an error", "[auth]") {
  const Names wanted{"api"};

  CHECK(Ask({"api"}, &wanted, Somebody({"api"})).status().reason() == Reason::kInternalError);
}

// TestIntersect
TEST_CASE("auth: audiences intersect in the order of the wanted ones", "[auth]") {
  CHECK(Intersect({}, {}).empty());
  CHECK(Intersect({}, {"foo"}).empty());
  CHECK(Intersect({"foo"}, {}).empty());
  CHECK(Intersect({"foo"}, {"foo"}) == Names{"foo"});
  CHECK(Intersect({"bar", "foo"}, {"foo", "bar"}) == Names{"foo", "bar"});
  CHECK(Intersect({"foo", "bar"}, {"foo", "wat"}) == Names{"foo"});
  CHECK(Intersect({"foo", "bar"}, {"pls", "wat"}).empty());
}

}  // namespace apiserver::inline v0::auth
