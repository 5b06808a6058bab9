#include "apiserver/authz/union.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "authz/asking.h"

namespace {

namespace auth = apiserver::auth;
namespace authz = apiserver::authz;
using apiserver::Context;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using asking::Answer;
using asking::User;
using auth::Decision;
using Names = std::vector<std::string>;

class Fixed final : public auth::Authorizer {
 public:
  explicit Fixed(Result<auth::Verdict> answer) : answer_(std::move(answer)) {}
  Result<auth::Verdict> Authorize(const Context& /*ctx*/,
                                  const auth::Attributes& /*asked*/) const override {
    ++asked;
    return answer_;
  }
  mutable int asked = 0;

 private:
  const Result<auth::Verdict> answer_;
};

std::shared_ptr<Fixed> Says(Decision decision, std::string reason = "") {
  return std::make_shared<Fixed>(auth::Verdict{.decision = decision, .reason = std::move(reason)});
}
std::shared_ptr<Fixed> Fails(const std::string& message, Reason reason = Reason::kInternalError) {
  return std::make_shared<Fixed>(Status(reason, message));
}

std::string AskUnion(std::vector<std::shared_ptr<const auth::Authorizer>> authorizers) {
  return Answer(*authz::NewUnion(std::move(authorizers)), {.user = User("x")});
}

// union_test.go TestAuthorizationSecondPasses, FirstPasses, NonePasses, UnequivocalDeny.
TEST_CASE("authz: the first of a union that decides is the answer", "[authz]") {
  const auto none = Says(Decision::kNoOpinion);
  const auto allow = Says(Decision::kAllow);
  const auto deny = Says(Decision::kDeny);
  CHECK(AskUnion({none, allow}) == "allow");
  CHECK(AskUnion({allow, none}) == "allow");
  CHECK(AskUnion({none, none}) == "no opinion");
  CHECK(AskUnion({}) == "no opinion");
  CHECK(AskUnion({none, allow, deny}) == "allow");
  CHECK(AskUnion({none, deny, allow}) == "deny");
  CHECK(AskUnion({none, Says(Decision::kDeny, "webhook failed closed"), allow}) ==
        "deny: webhook failed closed");
}

TEST_CASE("authz: nobody is asked behind who has decided", "[authz]") {
  const auto allow = Says(Decision::kAllow);
  const auto behind = Says(Decision::kDeny);
  CHECK(AskUnion({allow, behind}) == "allow");
  CHECK(allow->asked == 1);
  CHECK(behind->asked == 0);
}

// union_test.go TestAuthorizationError.
TEST_CASE("authz: errors of a union are one, unless somebody decides", "[authz]") {
  const auto none = Says(Decision::kNoOpinion, "not mine");
  CHECK(AskUnion({Fails("foo"), Fails("foo")}) == "error: foo");
  CHECK(AskUnion({Fails("foo"), none, Fails("bar")}) == "error: [foo, bar]");
  CHECK(AskUnion({Fails("foo"), Says(Decision::kAllow)}) == "allow");
  CHECK(AskUnion({Fails("foo"), Says(Decision::kDeny, "no")}) == "deny: no");
}

TEST_CASE("authz: reasons of a union stand a line each", "[authz]") {
  const auto silent = Says(Decision::kNoOpinion);
  CHECK(AskUnion({Says(Decision::kNoOpinion, "a"), silent, Says(Decision::kNoOpinion, "b")}) ==
        "no opinion: a\nb");
  CHECK(AskUnion({Says(Decision::kNoOpinion, "a"), Says(Decision::kAllow, "b")}) == "allow: b");
}

TEST_CASE("authz: a union waits for one before it asks the next", "[authz]") {
  const auto later = Fails("", Reason::kWouldBlock);
  const auto behind = Says(Decision::kAllow);
  const auto verdict = authz::NewUnion({Fails("foo"), later, behind})
                           ->Authorize(Context::Background(), {.user = User("x")});
  CHECK(verdict.status().reason() == Reason::kWouldBlock);
  CHECK(behind->asked == 0);
}

class FixedRules final : public auth::RuleResolver {
 public:
  explicit FixedRules(auth::Rules rules) : rules_(std::move(rules)) {}
  auth::Rules RulesFor(const Context& /*ctx*/, const auth::UserInfoPtr& /*user*/,
                       std::string_view /*namespace_*/) const override {
    return rules_;
  }

 private:
  const auth::Rules rules_;
};

auth::Rules RulesOfAll(const std::vector<auth::Rules>& parts) {
  std::vector<std::shared_ptr<const auth::RuleResolver>> resolvers;
  for (const auth::Rules& part : parts) resolvers.push_back(std::make_shared<FixedRules>(part));
  return authz::NewRuleResolverUnion(std::move(resolvers))
      ->RulesFor(Context::Background(), User("x"), "");
}

// union_test.go TestAuthorizationResourceRules and TestAuthorizationNonResourceRules.
TEST_CASE("authz: a union of resolvers lists the rules of all", "[authz]") {
  const auth::Rules rules = RulesOfAll(
      {{.resource_rules = {{.verbs = {"*"}, .groups = {"*"}, .resources = {"bindings"}},
                           {.verbs = {"get", "list"}, .groups = {"*"}, .resources = {"*"}}},
        .non_resource_rules = {{.verbs = {"get"}, .paths = {"/api"}}}},
       {.resource_rules =
            {{.verbs = {"*"}, .groups = {"*"}, .resources = {"events"}},
             {.verbs = {"get"}, .groups = {"*"}, .resources = {"*"}, .names = {"foo"}}},
        .non_resource_rules = {{.verbs = {"get"}, .paths = {"/api/*"}}}}});
  REQUIRE(rules.resource_rules.size() == 4);
  CHECK(rules.resource_rules[0].resources == Names{"bindings"});
  CHECK(rules.resource_rules[1].verbs == Names{"get", "list"});
  CHECK(rules.resource_rules[2].resources == Names{"events"});
  CHECK(rules.resource_rules[3].names == Names{"foo"});
  REQUIRE(rules.non_resource_rules.size() == 2);
  CHECK(rules.non_resource_rules[0].paths == Names{"/api"});
  CHECK(rules.non_resource_rules[1].paths == Names{"/api/*"});
  CHECK_FALSE(rules.incomplete);
  CHECK(rules.error.empty());
}

TEST_CASE("authz: a union of resolvers is incomplete if one is, and tells every error", "[authz]") {
  const auth::Rules rules = RulesOfAll({{.error = "a"}, {.incomplete = true, .error = "b"}, {}});
  CHECK(rules.incomplete);
  CHECK(rules.error == "[a, b]");
}

}  // namespace
