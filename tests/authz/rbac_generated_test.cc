// Generated roles, bindings and questions: the index must decide as somebody who reads everything.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/authz/rbac.h"
#include "authz/asking.h"

namespace {

namespace auth = apiserver::auth;
namespace rbac = apiserver::authz::rbac;
using Names = std::vector<std::string>;
using Place = std::pair<std::string, std::string>;  // Namespace and name.

// Written from the words of the API's documentation, one loop over everything.
class Reference {
 public:
  std::map<Place, rbac::Role> roles;
  std::map<Place, rbac::Binding> bindings;

  // The bindings that allow it.
  std::set<Place> Allowing(const auth::Attributes& asked) const {
    std::set<Place> allowing;
    for (const auto& [place, binding] : bindings) {
      const bool here = binding.namespace_.empty() ||
                        (!asked.namespace_.empty() && binding.namespace_ == asked.namespace_);
      if (!here || !ForUser(binding, *asked.user)) continue;
      const rbac::Role* const role = RoleOf(binding);
      if (role == nullptr) continue;
      for (const rbac::PolicyRule& rule : role->rules) {
        if (Fits(rule, asked)) allowing.insert(place);
      }
    }
    return allowing;
  }

  const rbac::Role* RoleOf(const rbac::Binding& binding) const {
    std::string ns;
    if (binding.role.kind == "Role") ns = binding.namespace_;
    if (binding.role.kind == "Role" && ns.empty()) return nullptr;
    if (binding.role.kind != "Role" && binding.role.kind != "ClusterRole") return nullptr;
    const auto found = roles.find({ns, binding.role.name});
    return found == roles.end() ? nullptr : &found->second;
  }

  static bool ForUser(const rbac::Binding& binding, const auth::UserInfo& user) {
    for (const rbac::Subject& subject : binding.subjects) {
      if (subject.kind == "User" && subject.name == user.name) return true;
      for (const std::string& group : user.groups) {
        if (subject.kind == "Group" && subject.name == group) return true;
      }
      if (subject.kind != "ServiceAccount") continue;
      std::string ns = subject.namespace_;
      if (ns.empty()) ns = binding.namespace_;
      if (!ns.empty() && user.name == "system:serviceaccount:" + ns + ":" + subject.name) {
        return true;
      }
    }
    return false;
  }

 private:
  static bool Contains(const Names& names, const std::string& wanted) {
    for (const std::string& name : names) {
      if (name == wanted) return true;
    }
    return false;
  }
  static bool Fits(const rbac::PolicyRule& rule, const auth::Attributes& asked) {
    if (!Contains(rule.verbs, "*") && !Contains(rule.verbs, std::string(asked.verb))) return false;
    if (!asked.resource_request) return FitsPath(rule, std::string(asked.path));
    if (!Contains(rule.api_groups, "*") && !Contains(rule.api_groups, std::string(asked.group))) {
      return false;
    }
    if (!rule.resource_names.empty() && !Contains(rule.resource_names, std::string(asked.name))) {
      return false;
    }
    if (Contains(rule.resources, "*")) return true;
    const std::string resource(asked.resource);
    const std::string subresource(asked.subresource);
    if (subresource.empty()) return Contains(rule.resources, resource);
    return Contains(rule.resources, resource + "/" + subresource) ||
           Contains(rule.resources, "*/" + subresource);
  }
  static bool FitsPath(const rbac::PolicyRule& rule, const std::string& path) {
    for (std::string url : rule.non_resource_urls) {
      if (url == path) return true;
      if (url.empty() || url.back() != '*') continue;
      while (!url.empty() && url.back() == '*') url.pop_back();
      if (path.compare(0, url.size(), url) == 0) return true;
    }
    return false;
  }
};

const Names kUsers{"jane",
                   "joe",
                   "",
                   "system:anonymous",
                   "system:serviceaccount:a:bot",
                   "system:serviceaccount:b:bot"};
const Names kGroups{"devs", "ops", "system:authenticated", "jane"};
const Names kNamespaces{"", "a", "b"};
const Names kVerbs{"get", "list", "create", "*"};
const Names kApiGroups{"", "apps", "*"};
const Names kResources{"pods", "pods/log", "pods/scale", "*/scale", "deployments", "*", "pods/*"};
const Names kNames{"x", "y", ""};
const Names kUrls{"/healthz", "/healthz/*", "/apis", "/apis*", "*", "/apis/v1", "/a/**"};
const Names kRoleNames{"r0", "r1", "r2", "r3", "r4"};
const Names kBindingNames{"b0", "b1", "b2", "b3", "b4", "b5"};

class RoleGenerator {
 public:
  explicit RoleGenerator(unsigned seed) : random_(seed) {}

  std::size_t Below(std::size_t limit) { return random_() % limit; }
  bool OneIn(std::size_t n) { return Below(n) == 0; }
  const std::string& OneOf(const Names& names) { return names[Below(names.size())]; }
  Names Some(const Names& names, std::size_t least, std::size_t most) {
    Names some;
    for (std::size_t n = least + Below(most - least + 1); n > 0; --n) some.push_back(OneOf(names));
    return some;
  }

  rbac::PolicyRule Rule() {
    rbac::PolicyRule rule{.verbs = Some(kVerbs, 1, 2)};
    if (OneIn(3)) rule.non_resource_urls = Some(kUrls, 1, 2);
    if (!rule.non_resource_urls.empty() && !OneIn(4)) return rule;
    rule.api_groups = Some(kApiGroups, 1, 2);
    rule.resources = Some(kResources, 1, 3);
    if (OneIn(3)) rule.resource_names = Some(kNames, 1, 2);
    return rule;
  }
  rbac::Role Role() {
    rbac::Role role{OneOf(kNamespaces), OneOf(kRoleNames), {}};
    for (std::size_t n = 1 + Below(5); n > 0; --n) role.rules.push_back(Rule());
    return role;
  }
  rbac::Subject Subject() {
    switch (Below(4)) {
      case 0:
        return {"Group", OneOf(kGroups)};
      case 1:
        return {"ServiceAccount", "bot", OneOf(kNamespaces)};
      default:
        return {OneIn(20) ? "Robot" : "User", OneOf(kUsers)};
    }
  }
  rbac::Binding Binding() {
    const std::string kind = OneIn(30) ? "Group" : OneIn(2) ? "Role" : "ClusterRole";
    rbac::Binding binding{OneOf(kNamespaces), OneOf(kBindingNames), {kind, OneOf(kRoleNames)}, {}};
    for (std::size_t n = Below(6); n > 0; --n) binding.subjects.push_back(Subject());
    return binding;
  }

 private:
  std::mt19937 random_;
};

// A question and the texts it borrows.
struct GeneratedRequest {
  explicit GeneratedRequest(RoleGenerator& generator)
      : user(asking::User(generator.OneOf(kUsers), generator.Some(kGroups, 0, 2))) {
    verb = generator.OneOf({"get", "list", "create", "delete", "*"});
    resource_request = !generator.OneIn(4);
    path = generator.OneOf({"/healthz", "/healthz/x", "/apis", "/apis/v1", "/apisx", "", "/a/*"});
    group = generator.OneOf({"", "apps", "batch"});
    resource = generator.OneOf({"pods", "deployments", "jobs", "*"});
    if (generator.OneIn(2)) subresource = generator.OneOf({"log", "scale", "status", "*"});
    if (!generator.OneIn(4)) namespace_ = generator.OneOf({"a", "b", "c"});
    if (generator.OneIn(2)) name = generator.OneOf({"x", "y", "z"});
  }
  auth::Attributes Attributes() const {
    if (!resource_request) return {.user = user, .verb = verb, .path = path};
    return {.user = user,
            .verb = verb,
            .resource_request = true,
            .group = group,
            .resource = resource,
            .subresource = subresource,
            .namespace_ = namespace_,
            .name = name};
  }

  auth::UserInfoPtr user;
  std::string verb, path, group, resource, subresource, namespace_, name;
  bool resource_request = false;
};

class Both {
 public:
  explicit Both(unsigned seed) : generate(seed) {}

  void Change() {
    const Place role{generate.OneOf(kNamespaces), generate.OneOf(kRoleNames)};
    const Place binding{generate.OneOf(kNamespaces), generate.OneOf(kBindingNames)};
    switch (generate.Below(12)) {
      case 0:
        reference.roles.erase(role);
        return authorizer->DeleteRole(role.first, role.second);
      case 1:
        reference.bindings.erase(binding);
        return authorizer->DeleteBinding(binding.first, binding.second);
      case 2:
      case 3:
      case 4:
      case 5: {
        const rbac::Role made = generate.Role();
        reference.roles.insert_or_assign(Place(made.namespace_, made.name), made);
        return authorizer->Upsert(made);
      }
      default: {
        const rbac::Binding made = generate.Binding();
        reference.bindings.insert_or_assign(Place(made.namespace_, made.name), made);
        return authorizer->Upsert(made);
      }
    }
  }

  RoleGenerator generate;
  Reference reference;
  std::unique_ptr<rbac::RbacAuthorizer> authorizer = rbac::NewRbacAuthorizer();
};

// The binding that a reason names; nullopt: it names none.
std::optional<Place> BindingIn(const std::string& reason) {
  const std::string start = "RBAC: allowed by ";
  if (!reason.starts_with(start)) return std::nullopt;
  const std::size_t from = reason.find('"') + 1;
  const std::string name = reason.substr(from, reason.find('"', from) - from);
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return Place("", name);
  return Place(name.substr(slash + 1), name.substr(0, slash));
}

TEST_CASE("authz: 20,000 generated decisions are those of a naive evaluator", "[authz]") {
  std::size_t allowed = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    Both both(seed);
    for (int step = 0; step < 500; ++step) {
      if (step % 3 == 0) both.Change();
      while (step == 0 && both.reference.bindings.size() < 12) both.Change();
      const GeneratedRequest asked(both.generate);
      const std::set<Place> expected = both.reference.Allowing(asked.Attributes());

      const auto verdict =
          both.authorizer->Authorize(apiserver::Context::Background(), asked.Attributes());

      INFO("seed " << seed << " step " << step << ": " << asked.user->name << " " << asked.verb
                   << " " << asked.group << " " << asked.resource << "/" << asked.subresource
                   << " in " << asked.namespace_ << " path " << asked.path);
      REQUIRE(verdict.ok());
      REQUIRE((verdict->decision == auth::Decision::kAllow) == !expected.empty());
      REQUIRE(verdict->decision != auth::Decision::kDeny);
      if (expected.empty()) continue;
      ++allowed;
      const auto named = BindingIn(verdict->reason);
      INFO(verdict->reason);
      REQUIRE(named.has_value());
      REQUIRE(expected.contains(*named));
    }
  }
  // Enough of both kinds to mean something.
  CHECK(allowed > 2000);
  CHECK(allowed < 18000);
}

TEST_CASE("authz: generated users hold the rules that their bindings give", "[authz]") {
  std::size_t held_rules = 0;
  for (unsigned seed = 100; seed < 120; ++seed) {
    Both both(seed);
    for (int step = 0; step < 60; ++step) {
      both.Change();
      const auto user =
          asking::User(both.generate.OneOf(kUsers), both.generate.Some(kGroups, 0, 2));
      const std::string ns = both.generate.OneOf(kNamespaces);
      std::multiset<std::string> expected;
      std::size_t lost = 0;
      for (const auto& [place, binding] : both.reference.bindings) {
        if (!binding.namespace_.empty() && binding.namespace_ != ns) continue;
        if (!Reference::ForUser(binding, *user)) continue;
        const rbac::Role* const role = both.reference.RoleOf(binding);
        if (role == nullptr) {
          ++lost;
          continue;
        }
        for (const rbac::PolicyRule& rule : role->rules) expected.insert(CompactString(rule));
      }

      const rbac::HeldRules held = both.authorizer->HeldBy(*user, ns);

      std::multiset<std::string> found;
      for (const rbac::PolicyRule& rule : held.rules) found.insert(CompactString(rule));
      INFO("seed " << seed << " step " << step);
      REQUIRE(found == expected);
      REQUIRE(held.errors.size() == lost);
      held_rules += found.size();
    }
  }
  CHECK(held_rules > 500);
}

}  // namespace
