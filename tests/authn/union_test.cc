#include "apiserver/authn/union.h"

#include <catch2/catch.hpp>

#include "authn/fakes.h"

namespace apiserver::inline v0::authn {
namespace {

using Groups = std::vector<std::string>;

Groups GroupsWithAdder(auth::UserInfo user) {
  const auto adder = NewGroupAdder(std::make_shared<FixedAuthenticator>(Somebody(std::move(user))));
  return adder->Authenticate(Context::Background(), http::Request())->value().user->groups;
}

}  // namespace

TEST_CASE("authn: the first of a union that knows the request answers", "[authn]") {
  const auto nobody = std::make_shared<FixedAuthenticator>(Nobody());
  const auto first = std::make_shared<FixedAuthenticator>(Somebody({.name = "first"}));
  const auto second = std::make_shared<FixedAuthenticator>(Somebody({.name = "second"}));
  const auto all = NewUnion({nobody, first, second});

  const Answer answer = all->Authenticate(Context::Background(), http::Request());

  CHECK(answer->value().user->name == "first");
  CHECK(nobody->asked == 1);
  CHECK(second->asked == 0);
}

TEST_CASE("authn: an error in a union does not keep the next from being asked", "[authn]") {
  const auto broken =
      std::make_shared<FixedAuthenticator>(Status(Reason::kInternalError, "broken"));
  const auto known = std::make_shared<FixedAuthenticator>(Somebody({.name = "jane"}));

  CHECK(NewUnion({broken, known})
            ->Authenticate(Context::Background(), http::Request())
            ->value()
            .user->name == "jane");
  CHECK(NewTokenUnion({broken, known})
            ->AuthenticateToken(Context::Background(), "t")
            ->value()
            .user->name == "jane");
}

TEST_CASE("authn: a union that nobody answers tells its distinct errors", "[authn]") {
  const auto one = std::make_shared<FixedAuthenticator>(Status(Reason::kUnauthorized, "one"));
  const auto two = std::make_shared<FixedAuthenticator>(Status(Reason::kUnauthorized, "two"));
  const auto nobody = std::make_shared<FixedAuthenticator>(Nobody());
  const auto status_of = [](std::vector<std::shared_ptr<const auth::Authenticator>> all) {
    return NewUnion(std::move(all))->Authenticate(Context::Background(), http::Request()).status();
  };

  CHECK(status_of({one, nobody, two, one}) == Status(Reason::kUnauthorized, "[one, two]"));
  CHECK(status_of({one, nobody}).message() == "one");
  CHECK(status_of({nobody}).ok());
  CHECK(status_of({}).ok());
}

TEST_CASE("authn: a union that must wait says so before it asks the next", "[authn]") {
  const auto waits = std::make_shared<FixedAuthenticator>(Status(Reason::kWouldBlock, ""));
  const auto known = std::make_shared<FixedAuthenticator>(Somebody({.name = "jane"}));

  const Answer answer =
      NewUnion({waits, known})->Authenticate(Context::Background(), http::Request());

  CHECK(answer.status().reason() == Reason::kWouldBlock);
  CHECK(known->asked == 0);
}

// TestAuthenticatedGroupAdder
TEST_CASE("authn: everyone who is somebody is in system:authenticated once", "[authn]") {
  CHECK(GroupsWithAdder({.name = "jane", .uid = "", .groups = {"a"}}) ==
        Groups{"a", "system:authenticated"});
  CHECK(GroupsWithAdder({.name = "jane", .uid = "", .groups = {"system:authenticated", "a"}}) ==
        Groups{"system:authenticated", "a"});
  CHECK(GroupsWithAdder({.name = "jane", .uid = "", .groups = {"system:unauthenticated"}}) ==
        Groups{"system:unauthenticated"});
  CHECK(GroupsWithAdder({.name = "system:anonymous"}).empty());
}

TEST_CASE("authn: the group adder keeps what else is known of a user", "[authn]") {
  const auth::UserInfo user{
      .name = "jane", .uid = "7", .groups = {}, .extra = {{"scopes", {"x", "y"}}}};
  const auto adder = NewGroupAdder(std::make_shared<FixedAuthenticator>(Somebody(user)));

  const Answer answer = adder->Authenticate(Context::Background(), http::Request());

  CHECK(answer->value().user->name == "jane");
  CHECK(answer->value().user->uid == "7");
  CHECK(answer->value().user->extra == user.extra);
}

TEST_CASE("authn: the group adder makes one user of one user", "[authn]") {
  const auto adder =
      NewGroupAdder(std::make_shared<FixedAuthenticator>(Somebody({.name = "jane"})));

  const Answer first = adder->Authenticate(Context::Background(), http::Request());
  const Answer second = adder->Authenticate(Context::Background(), http::Request());

  CHECK(first->value().user == second->value().user);
}

TEST_CASE("authn: the group adder adds nothing to nobody", "[authn]") {
  const auto nobody = NewGroupAdder(std::make_shared<FixedAuthenticator>(Nobody()));
  const Status refused(Reason::kUnauthorized, "no");
  const auto broken = NewGroupAdder(std::make_shared<FixedAuthenticator>(refused));

  CHECK_FALSE(nobody->Authenticate(Context::Background(), http::Request())->has_value());
  CHECK(broken->Authenticate(Context::Background(), http::Request()).status() == refused);
}

}  // namespace apiserver::inline v0::authn
