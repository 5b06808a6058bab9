// How rules are compared without being multiplied out.
#include "authz/rbac/coverage.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/authz/escalation.h"
#include "authz/asking.h"

namespace {

namespace rbac = apiserver::authz::rbac;
using apiserver::Context;
using apiserver::Reason;
using Names = std::vector<std::string>;
using Rules = std::vector<rbac::PolicyRule>;

bool Has(const Names& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}
bool HasOrAll(const Names& names, const std::string& name) {
  return Has(names, name) || Has(names, "*");
}

bool ResourceCovered(const Names& held, const std::string& wanted) {
  const std::size_t slash = wanted.find('/');
  return HasOrAll(held, wanted) ||
         (slash != std::string::npos && Has(held, "*" + wanted.substr(slash)));
}

bool UrlCovered(const Names& held, const std::string& wanted) {
  return std::ranges::any_of(held, [&](std::string url) {
    if (url == wanted) return true;
    if (!url.ends_with('*')) return false;
    while (url.ends_with('*')) url.pop_back();
    return wanted.starts_with(url);
  });
}

// component-helpers' ruleCovers, of a part.
bool CoversPart(const rbac::PolicyRule& held, const rbac::PolicyRule& part) {
  const bool named =
      held.resource_names.empty() ||
      (!part.resource_names.empty() && Has(held.resource_names, part.resource_names[0]));
  if (!named || !HasOrAll(held.verbs, part.verbs[0])) return false;
  if (!part.non_resource_urls.empty()) {
    return UrlCovered(held.non_resource_urls, part.non_resource_urls[0]);
  }
  return HasOrAll(held.api_groups, part.api_groups[0]) &&
         ResourceCovered(held.resources, part.resources[0]);
}

// component-helpers' BreakdownRule.
Rules Parts(const rbac::PolicyRule& rule) {
  Rules parts;
  for (const std::string& group : rule.api_groups) {
    for (const std::string& resource : rule.resources) {
      for (const std::string& verb : rule.verbs) {
        const rbac::PolicyRule part{
            .verbs = {verb}, .api_groups = {group}, .resources = {resource}};
        if (rule.resource_names.empty()) parts.push_back(part);
        for (const std::string& name : rule.resource_names) {
          parts.push_back(part);
          parts.back().resource_names = {name};
        }
      }
    }
  }
  for (const std::string& url : rule.non_resource_urls) {
    for (const std::string& verb : rule.verbs) {
      parts.push_back({.verbs = {verb}, .non_resource_urls = {url}});
    }
  }
  return parts;
}

Rules MissingNaively(const Rules& held, const Rules& wanted) {
  Rules missing;
  for (const rbac::PolicyRule& rule : wanted) {
    for (const rbac::PolicyRule& part : Parts(rule)) {
      const auto covers = [&](const rbac::PolicyRule& owned) { return CoversPart(owned, part); };
      if (std::ranges::none_of(held, covers)) missing.push_back(part);
    }
  }
  return missing;
}

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Rules SomeRules(std::size_t count_max) {
    Rules rules(random_() % (count_max + 1));
    for (rbac::PolicyRule& rule : rules) {
      rule.verbs = Some({"get", "list", "watch", "*"}, 3);
      rule.api_groups = Some({"", "apps", "x", "*"}, 3);
      rule.resources = Some({"pods", "pods/log", "scale", "pods/scale", "*/scale", "*"}, 3);
      if (random_() % 3 == 0) rule.resource_names = Some({"a", "b", "", "*"}, 3);
      if (random_() % 3 == 0) {
        rule.non_resource_urls = Some({"/", "/api", "/api/*", "/api/v1", "*", "/a**", ""}, 3);
      }
    }
    return rules;
  }

 private:
  // Texts may come twice.
  Names Some(const Names& of, std::size_t count_max) {
    Names some(random_() % (count_max + 1));
    for (std::string& each : some) each = of[random_() % of.size()];
    return some;
  }

  std::mt19937 random_;
};

std::vector<const rbac::PolicyRule*> PointersTo(const Rules& rules) {
  std::vector<const rbac::PolicyRule*> pointers;
  for (const rbac::PolicyRule& rule : rules) pointers.push_back(&rule);
  return pointers;
}

Names Numbered(const std::string& name, std::size_t count) {
  Names names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(name + std::to_string(i));
  return names;
}

// 25 KB of text, 4 * 10^11 parts.
rbac::PolicyRule Vast() {
  return {.verbs = Numbered("v", 800),
          .api_groups = Numbered("g", 800),
          .resources = Numbered("r", 800),
          .resource_names = Numbered("n", 800)};
}

// Where nothing but the rules of `held` is held by jane.
std::shared_ptr<rbac::RbacAuthorizer> Holding(const Rules& held) {
  std::shared_ptr<rbac::RbacAuthorizer> authorizer = rbac::NewRbacAuthorizer();
  authorizer->Upsert(rbac::Role{"", "role", held});
  authorizer->Upsert(rbac::Binding{"", "b", {"ClusterRole", "role"}, {{"User", "jane"}}});
  return authorizer;
}

apiserver::Status Confirm(const Rules& held, const Rules& wanted,
                          const Context& ctx = Context::Background()) {
  return rbac::ConfirmNoEscalation(ctx, *Holding(held), *asking::User("jane"), "ns", wanted);
}

std::size_t Lines(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST_CASE("authz: what is missing of generated rules is what multiplying out finds", "[authz]") {
  std::size_t missing = 0;
  std::size_t covered = 0;
  for (unsigned seed = 0; seed < 20'000; ++seed) {
    Generator generate(seed);
    const Rules held = generate.SomeRules(5);
    const Rules wanted = generate.SomeRules(3);
    INFO("seed " << seed);

    const Rules expected = MissingNaively(held, wanted);
    const auto found =
        rbac::FindMissing(Context::Background(), rbac::HeldIndex(PointersTo(held)), wanted);

    REQUIRE(found.ok());
    REQUIRE(found->whole);
    REQUIRE(found->parts == expected);
    REQUIRE(rbac::Covers(held, wanted) == expected.empty());
    (expected.empty() ? covered : missing) += 1;
  }
  CHECK(missing > 5'000);
  CHECK(covered > 5'000);
}

// Row 83.
TEST_CASE("authz: a role of more parts than there is memory for is refused at once", "[authz]") {
  const apiserver::Status refused = Confirm({}, {Vast()});

  CHECK(refused.reason() == Reason::kForbidden);
  CHECK(refused.message().size() < 100'000);
  CHECK(refused.message().ends_with("\nand more"));
  // A line for each name of the first resource, until it is too much.
  CHECK(Lines(refused.message()) > 10);

  // All but one of its parts is held.
  rbac::PolicyRule nearly = Vast();
  nearly.resource_names.pop_back();
  CHECK(Confirm({nearly}, {Vast()}).reason() == Reason::kForbidden);
}

TEST_CASE("authz: a role of any size is granted by who holds it", "[authz]") {
  CHECK(Confirm({{.verbs = {"*"}, .api_groups = {"*"}, .resources = {"*"}}}, {Vast()}).ok());
  CHECK(Confirm({Vast()}, {Vast()}).ok());
  // In pieces: 16 held rules, each with a quarter of the groups and of the verbs.
  Rules pieces;
  const rbac::PolicyRule vast = Vast();
  const auto quarter = [](const Names& names, int which) {
    return Names(names.begin() + which * 200, names.begin() + (which + 1) * 200);
  };
  for (int i = 0; i < 16; ++i) {
    pieces.push_back(vast);
    pieces.back().api_groups = quarter(vast.api_groups, i / 4);
    pieces.back().verbs = quarter(vast.verbs, i % 4);
  }
  CHECK(Confirm(pieces, {vast}).ok());
  pieces.pop_back();
  CHECK(Confirm(pieces, {vast}).reason() == Reason::kForbidden);
}

// A held rule for each pair of group and resource, so that no two texts are alike.
// Placing each of them after all others would take a quarter of an hour.
TEST_CASE("authz: a role may name one resource a million times", "[authz]") {
  const auto authorizer = rbac::NewRbacAuthorizer();
  Names same(1'000'000, "pods");
  same.push_back("secrets");

  authorizer->Upsert(
      rbac::Role{"", "r", {{.verbs = {"get"}, .api_groups = {""}, .resources = std::move(same)}}});
  authorizer->Upsert(rbac::Binding{"", "b", {"ClusterRole", "r"}, {{"User", "jane"}}});

  for (const auto& [resource, allowed] :
       {std::pair("pods", true), std::pair("secrets", true), std::pair("nodes", false)}) {
    const auto verdict = authorizer->Authorize(Context::Background(), {.user = asking::User("jane"),
                                                                       .verb = "get",
                                                                       .resource_request = true,
                                                                       .resource = resource});
    CHECK((verdict->decision == apiserver::auth::Decision::kAllow) == allowed);
  }
}

TEST_CASE("authz: rules made to be compared without end are given up, and refused", "[authz]") {
  Rules held;
  for (const std::string& group : Numbered("g", 150)) {
    for (const std::string& resource : Numbered("r", 150)) {
      held.push_back({.verbs = {"*"}, .api_groups = {group, "x"}, .resources = {resource, "y"}});
    }
  }
  const rbac::PolicyRule wanted{
      .verbs = {"get"}, .api_groups = Numbered("g", 150), .resources = Numbered("r", 150)};
  const rbac::HeldIndex index(PointersTo(held));

  const auto whole = rbac::FindMissing(Context::Background(), index, {wanted});
  const auto given_up =
      rbac::FindMissing(Context::Background(), index, {wanted}, {.steps_max = 100'000});

  REQUIRE(whole.ok());
  CHECK(whole->parts.empty());
  CHECK(given_up.status().reason() == Reason::kForbidden);
  CHECK(given_up.status().message() == "there are too many rules to compare");
}

TEST_CASE("authz: nobody waits for a comparison longer than for the request", "[authz]") {
  const Context ctx = Context::Child(Context::Background());
  ctx.Cancel({Reason::kTimeout, "too late"});
  Rules many(100'000, rbac::PolicyRule{.verbs = {"get"}, .api_groups = {""}, .resources = {"a"}});

  const apiserver::Status late = Confirm(many, many, ctx);

  CHECK(late.reason() == Reason::kTimeout);
  CHECK(late.message() == "too late");
}

TEST_CASE("authz: of many missing rules the first are told, and how many there are", "[authz]") {
  Rules wanted;
  for (int i = 0; i < 3'000; ++i) {
    wanted.push_back(
        {.verbs = {"get"}, .api_groups = {""}, .resources = {"r" + std::to_string(i)}});
  }

  const std::string message(Confirm({}, wanted).message());

  CHECK(message.starts_with(
      "user \"jane\" (groups=[]) is attempting to grant RBAC permissions not currently held:\n"
      "{APIGroups:[\"\"], Resources:[\"r0\"], Verbs:[\"get\"]}\n"
      "{APIGroups:[\"\"], Resources:[\"r1\"], Verbs:[\"get\"]}\n"));
  CHECK(message.size() < 70'000);
  const std::size_t told = Lines(message) - 1;
  CHECK(message.ends_with("\nand " + std::to_string(3'000 - told) + " more"));

  const apiserver::Status long_name = Confirm(
      {}, {{.verbs = {"get"}, .api_groups = {""}, .resources = {std::string(3 << 20, 'r')}}});
  CHECK(long_name.reason() == Reason::kForbidden);
  CHECK(long_name.message().size() < 10'000);
}

}  // namespace
