#include "apiserver/authz/rbac.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/sync.h"
#include "authz/asking.h"
#include "authz/rbac/decision_cache.h"

namespace {

namespace auth = apiserver::auth;
namespace rbac = apiserver::authz::rbac;
using asking::Answer;
using asking::User;
using Names = std::vector<std::string>;

rbac::PolicyRule GrantedRule(Names verbs, Names groups, Names resources, Names urls = {}) {
  return {.verbs = std::move(verbs),
          .api_groups = std::move(groups),
          .resources = std::move(resources),
          .non_resource_urls = std::move(urls)};
}

struct Asked {
  std::string user;
  Names groups;
  std::string verb;
  std::string resource;
  std::string subresource;
  std::string namespace_;
};

std::string AskRbac(const rbac::RbacAuthorizer& authorizer, const Asked& asked) {
  return Answer(authorizer, {.user = User(asked.user, asked.groups),
                             .verb = asked.verb,
                             .resource_request = true,
                             .resource = asked.resource,
                             .subresource = asked.subresource,
                             .namespace_ = asked.namespace_});
}

std::string AskPath(const rbac::RbacAuthorizer& authorizer, const auth::UserInfoPtr& user,
                    std::string_view verb, std::string_view path) {
  return Answer(authorizer, {.user = user, .verb = verb, .path = path});
}

bool Allowed(const std::string& answer) { return answer.starts_with("allow: RBAC: allowed by "); }

// rbac_test.go TestAuthorizer, the bindings in a namespace.
TEST_CASE("authz: a role binding allows in its namespace alone", "[authz]") {
  struct Row {
    rbac::PolicyRule rule;
    std::vector<Asked> pass;
    std::vector<Asked> fail;
  };
  const std::vector<Row> rows{
      {GrantedRule({"*"}, {"*"}, {"*"}, {"*"}),
       {{"admin", {}, "get", "Pods", "", "ns1"},
        {"admin", {}, "watch", "Pods", "", "ns1"},
        {"admin", {"group1"}, "watch", "Foobar", "", "ns1"},
        {"joe", {"admins"}, "watch", "Foobar", "", "ns1"},
        {"joe", {"group1", "admins"}, "watch", "Foobar", "", "ns1"}},
       {{"admin", {}, "GET", "Pods", "", "ns2"},
        {"admin", {}, "GET", "Nodes", "", ""},
        {"admin", {"admins"}, "GET", "Pods", "", "ns2"},
        {"admin", {"admins"}, "GET", "Nodes", "", ""}}},
      {GrantedRule({"*"}, {"*"}, {"pods"}, {"*"}),
       {{"admin", {}, "get", "pods", "", "ns1"}},
       {{"admin", {}, "get", "pods", "status", "ns1"}}},
      {GrantedRule({"*"}, {"*"}, {"pods/status"}, {"*"}),
       {{"admin", {}, "get", "pods", "status", "ns1"}},
       {{"admin", {}, "get", "pods", "", "ns1"}}},
      {GrantedRule({"*"}, {"*"}, {"*/scale"}, {"*"}),
       {{"admin", {}, "get", "pods", "scale", "ns1"}, {"admin", {}, "get", "x", "scale", "ns1"}},
       {{"admin", {}, "get", "pods", "", "ns1"},
        {"admin", {}, "get", "pods", "status", "ns1"},
        {"admin", {}, "get", "scale", "", "ns1"},
        {"admin", {}, "get", "pods", "autoscale", "ns1"}}},
  };
  for (const Row& row : rows) {
    const auto authorizer = rbac::NewRbacAuthorizer();
    authorizer->Upsert(rbac::Role{"", "admin", {row.rule}});
    authorizer->Upsert(rbac::Binding{
        "ns1", "b", {"ClusterRole", "admin"}, {{"User", "admin"}, {"Group", "admins"}}});
    for (const Asked& asked : row.pass) {
      INFO(asked.verb << " " << asked.resource << "/" << asked.subresource);
      CHECK(Allowed(AskRbac(*authorizer, asked)));
    }
    for (const Asked& asked : row.fail) {
      INFO(asked.verb << " " << asked.resource << "/" << asked.subresource);
      CHECK(AskRbac(*authorizer, asked) == "no opinion");
    }
  }
}

// rbac_test.go TestAuthorizer, the non-resource URLs.
TEST_CASE("authz: a cluster role binding allows non-resource URLs", "[authz]") {
  const auto authorizer = rbac::NewRbacAuthorizer();
  authorizer->Upsert(rbac::Role{"", "getter", {GrantedRule({"get"}, {""}, {""}, {"/apis"})}});
  authorizer->Upsert(rbac::Role{"", "all", {GrantedRule({"*"}, {""}, {""}, {"/apis"})}});
  authorizer->Upsert(rbac::Role{"", "prefix", {GrantedRule({"get"}, {""}, {""}, {"/apis/*"})}});
  const auto bind = [&](const std::string& role, const std::string& user,
                        const std::string& group) {
    authorizer->Upsert(
        rbac::Binding{"", role, {"ClusterRole", role}, {{"User", user}, {"Group", group}}});
  };
  bind("getter", "foo", "bar");
  bind("all", "admin", "admin");
  bind("prefix", "prefixed", "prefixed");
  struct Row {
    std::string name;
    std::string verb;
    std::string path;
    bool allowed;
  };
  // Each of the user, and of somebody in the group.
  const std::vector<Row> rows{
      {"foo", "get", "/apis", true},           {"admin", "get", "/apis", true},
      {"admin", "watch", "/apis", true},       {"prefixed", "get", "/apis/v1", true},
      {"prefixed", "get", "/apis/v1/x", true}, {"foo", "watch", "/apis", false},
      {"foo", "get", "/api/v1", false},        {"admin", "get", "/api/v1", false},
      {"prefixed", "get", "/api/v1", false},   {"prefixed", "get", "/apis", false},
  };
  for (const Row& row : rows) {
    INFO(row.name << " " << row.verb << " " << row.path);
    const std::string group = row.name == "foo" ? "bar" : row.name;
    CHECK(Allowed(AskPath(*authorizer, User(row.name), row.verb, row.path)) == row.allowed);
    CHECK(Allowed(AskPath(*authorizer, User("", {group}), row.verb, row.path)) == row.allowed);
  }
}

// rbac_test.go TestRuleMatches, its rules about resources: verbs, groups and resources 1 and 2.
TEST_CASE("authz: a rule allows every combination of what it lists", "[authz]") {
  struct Row {
    rbac::PolicyRule rule;
    // For verb, group and resource, in this order, 1 before 2.
    std::string expected;
    std::string subresource = "";
  };
  const std::vector<Row> rows{
      {GrantedRule({"*"}, {"group1"}, {"resource1"}), "10001000"},
      {GrantedRule({"verb1"}, {"*"}, {"resource1"}), "10100000"},
      {GrantedRule({"verb1"}, {"group1"}, {"*"}), "11000000"},
      {GrantedRule({"verb1", "verb2"}, {"group1", "group2"}, {"resource1", "resource2"}),
       "11111111"},
      {GrantedRule({"*"}, {"*"}, {"resource1/subresource1"}), "10101010", "subresource1"},
      {GrantedRule({"*"}, {"*"}, {"resource1/subresource1"}), "00000000", "subresource2"},
      {GrantedRule({"*"}, {"*"}, {"resource1/subresource1"}), "00000000"},
      {GrantedRule({"*"}, {"*"}, {"resource1"}), "00000000", "subresource1"},
      {GrantedRule({"*"}, {"*"}, {"*"}), "11111111", "subresource1"},
  };
  for (const Row& row : rows) {
    INFO(rbac::CompactString(row.rule));
    std::string found;
    for (const char* verb : {"verb1", "verb2"}) {
      for (const char* group : {"group1", "group2"}) {
        for (const char* resource : {"resource1", "resource2"}) {
          const bool allows = rbac::RuleAllows({.user = User("x"),
                                                .verb = verb,
                                                .resource_request = true,
                                                .group = group,
                                                .resource = resource,
                                                .subresource = row.subresource},
                                               row.rule);
          found += allows ? '1' : '0';
        }
      }
    }
    CHECK(found == row.expected);
  }
}

// rbac_test.go TestRuleMatches, its rules about URLs.
TEST_CASE("authz: a rule allows the URLs it lists", "[authz]") {
  const Names paths{"/foo",         "/foo/bar", "/foo/baz",   "/foo/bar/one",
                    "/foo/baz/one", "/notfoo",  "/notfoo/bar"};
  struct Row {
    rbac::PolicyRule rule;
    std::string verb1;
    std::string verb2;
  };
  const std::vector<Row> rows{
      {GrantedRule({"verb1"}, {}, {}, {"*"}), "1111111", "0000000"},
      {GrantedRule({"verb1"}, {}, {}, {"/foo/*"}), "0111100", "0000000"},
      {GrantedRule({"*"}, {}, {}, {"/foo", "/foo/bar/one"}), "1001000", "1001000"},
      {GrantedRule({"verb2"}, {"*"}, {"*"}, {"/foo**"}), "0000000", "1111100"},
  };
  for (const Row& row : rows) {
    INFO(rbac::CompactString(row.rule));
    const auto found = [&](std::string_view verb) {
      std::string text;
      for (const std::string& path : paths) {
        const bool allows =
            rbac::RuleAllows({.user = User("x"), .verb = verb, .path = path}, row.rule);
        text += allows ? '1' : '0';
      }
      return text;
    };
    CHECK(found("verb1") == row.verb1);
    CHECK(found("verb2") == row.verb2);
  }
}

// rule_test.go TestAppliesTo.
TEST_CASE("authz: a binding is for those whom its subjects name", "[authz]") {
  struct Row {
    std::vector<rbac::Subject> subjects;
    auth::UserInfoPtr user;
    std::string namespace_;
    bool applies;
  };
  const rbac::Subject authenticated{"Group", "system:authenticated"};
  const rbac::Subject unauthenticated{"Group", "system:unauthenticated"};
  const rbac::Subject account{"ServiceAccount", "default", "kube-system"};
  const auto default_account = User("system:serviceaccount:kube-system:default");
  const std::vector<Row> rows{
      {{{"User", "foobar"}}, User("foobar"), "", true},
      {{{"User", "barfoo"}, {"User", "foobar"}}, User("foobar"), "", true},
      {{{"User", "barfoo"}, {"User", "foobar"}}, User("zimzam"), "", false},
      {{{"User", "barfoo"}, {"Group", "foobar"}}, User("zimzam", {"foobar"}), "", true},
      {{{"User", "barfoo"}, {"Group", "foobar"}}, User("zimzam", {"foobar"}), "namespace1", true},
      {{{"User", "barfoo"}, {"Group", "foobar"}, account}, default_account, "default", true},
      {{{"User", "*"}}, User("foobar"), "default", false},
      {{authenticated, unauthenticated}, User("foobar", {"system:authenticated"}), "default", true},
      {{authenticated, unauthenticated},
       User("system:anonymous", {"system:unauthenticated"}),
       "default",
       true},
      // The namespace of a service account is the binding's, if it says none; and there is none
      // for a binding without one.
      {{{"ServiceAccount", "default"}}, default_account, "kube-system", true},
      {{{"ServiceAccount", "default"}}, default_account, "other", false},
      {{{"ServiceAccount", "default"}}, default_account, "", false},
      {{{"ServiceAccount", "default"}}, User("system:serviceaccount::default"), "", false},
      {{{"Robot", "foobar"}}, User("foobar", {"foobar"}), "", false},
      {{{"User", "system:serviceaccount:kube-system:default"}}, default_account, "x", true},
  };
  for (const Row& row : rows) {
    const auto authorizer = rbac::NewRbacAuthorizer();
    authorizer->Upsert(rbac::Role{"", "all", {GrantedRule({"*"}, {"*"}, {"*"})}});
    authorizer->Upsert(rbac::Binding{row.namespace_, "b", {"ClusterRole", "all"}, row.subjects});
    const std::string answer = Answer(*authorizer, {.user = row.user,
                                                    .verb = "get",
                                                    .resource_request = true,
                                                    .resource = "x",
                                                    .namespace_ = row.namespace_});
    INFO(row.user->name << " in " << row.namespace_ << ": " << answer);
    CHECK(Allowed(answer) == row.applies);
  }
}

// rule_test.go TestDefaultRuleResolver.
TEST_CASE("authz: who asks for her rules gets those of the namespace and of the cluster",
          "[authz]") {
  const auto pods = GrantedRule({"GET", "WATCH"}, {"v1"}, {"pods"});
  const auto services = GrantedRule({"GET", "WATCH"}, {"v1"}, {"services"});
  const auto nodes = GrantedRule({"PUT", "CREATE", "UPDATE"}, {"v1"}, {"nodes"});
  const auto admin = GrantedRule({"*"}, {"*"}, {"*"});
  const auto authorizer = rbac::NewRbacAuthorizer();
  authorizer->Upsert(rbac::Role{"namespace1", "readthings", {pods, services}});
  authorizer->Upsert(rbac::Role{"", "cluster-admin", {admin}});
  authorizer->Upsert(rbac::Role{"", "write-nodes", {nodes}});
  authorizer->Upsert(rbac::Binding{
      "namespace1", "b", {"Role", "readthings"}, {{"User", "foobar"}, {"Group", "group1"}}});
  authorizer->Upsert(rbac::Binding{
      "", "b", {"ClusterRole", "cluster-admin"}, {{"User", "admin"}, {"Group", "admin"}}});
  using Rules = std::vector<rbac::PolicyRule>;
  CHECK(authorizer->HeldBy(*User("foobar"), "namespace1").rules == Rules{pods, services});
  CHECK(authorizer->HeldBy(*User("foobar"), "namespace2").rules.empty());
  CHECK(authorizer->HeldBy(*User("foobar", {"admin"}), "").rules == Rules{admin});
  CHECK(authorizer->HeldBy(*User(""), "").rules.empty());
  // Twice a subject of a binding is once a holder of its rules.
  CHECK(authorizer->HeldBy(*User("foobar", {"group1", "admin"}), "namespace1").rules ==
        Rules{admin, pods, services});

  const auth::Rules rules = authorizer->RulesFor(apiserver::Context::Background(),
                                                 User("foobar", {"admin"}), "namespace1");
  REQUIRE(rules.resource_rules.size() == 3);
  CHECK(rules.resource_rules[0].verbs == Names{"*"});
  CHECK(rules.resource_rules[2].resources == Names{"services"});
  CHECK(rules.non_resource_rules.empty());
  CHECK_FALSE(rules.incomplete);
}

TEST_CASE("authz: the reason says which binding allowed it", "[authz]") {
  const auto authorizer = rbac::NewRbacAuthorizer();
  authorizer->Upsert(rbac::Role{"", "y", {GrantedRule({"get"}, {""}, {"pods"})}});
  authorizer->Upsert(rbac::Role{"ns", "y", {GrantedRule({"list"}, {""}, {"pods"})}});
  authorizer->Upsert(rbac::Binding{"", "x", {"ClusterRole", "y"}, {{"User", "z"}}});
  authorizer->Upsert(
      rbac::Binding{"ns", "x", {"Role", "y"}, {{"ServiceAccount", "bot"}, {"Group", "devs"}}});
  CHECK(AskRbac(*authorizer, {"z", {}, "get", "pods", "", "ns"}) ==
        R"(allow: RBAC: allowed by ClusterRoleBinding "x" of ClusterRole "y" to User "z")");
  CHECK(AskRbac(*authorizer, {"z", {"devs"}, "list", "pods", "", "ns"}) ==
        R"(allow: RBAC: allowed by RoleBinding "x/ns" of Role "y" to Group "devs")");
  CHECK(
      AskRbac(*authorizer, {"system:serviceaccount:ns:bot", {"devs"}, "list", "pods", "", "ns"}) ==
      R"(allow: RBAC: allowed by RoleBinding "x/ns" of Role "y" to ServiceAccount "bot/ns")");
  // The first subject that applies is named, although the user is looked up before her groups.
  authorizer->Upsert(rbac::Binding{
      "", "x", {"ClusterRole", "y"}, {{"Group", "devs"}, {"User", "z"}, {"User", "z"}}});
  CHECK(AskRbac(*authorizer, {"z", {"devs"}, "get", "pods", "", "ns"}) ==
        R"(allow: RBAC: allowed by ClusterRoleBinding "x" of ClusterRole "y" to Group "devs")");
}

TEST_CASE("authz: a role that is not there is named where nothing else allows", "[authz]") {
  const auto authorizer = rbac::NewRbacAuthorizer();
  authorizer->Upsert(rbac::Binding{"", "a", {"ClusterRole", "gone"}, {{"User", "z"}}});
  CHECK(AskRbac(*authorizer, {"z", {}, "get", "pods", "", "ns"}) ==
        R"(no opinion: RBAC: clusterrole.rbac.authorization.k8s.io "gone" not found)");
  authorizer->Upsert(rbac::Binding{"", "b", {"ClusterRole", "gone"}, {{"User", "z"}}});
  authorizer->Upsert(rbac::Binding{"ns", "c", {"Role", "lost"}, {{"User", "z"}}});
  authorizer->Upsert(rbac::Binding{"ns", "d", {"Group", "what"}, {{"User", "z"}}});
  CHECK(AskRbac(*authorizer, {"z", {}, "get", "pods", "", "ns"}) ==
        R"(no opinion: RBAC: [clusterrole.rbac.authorization.k8s.io "gone" not found, )"
        R"(role.rbac.authorization.k8s.io "lost" not found, )"
        R"(unsupported role reference kind: "Group"])");
  CHECK(AskRbac(*authorizer, {"y", {}, "get", "pods", "", "ns"}) == "no opinion");
  authorizer->Upsert(rbac::Role{"ns", "lost", {GrantedRule({"get"}, {""}, {"pods"})}});
  CHECK(Allowed(AskRbac(*authorizer, {"z", {}, "get", "pods", "", "ns"})));
  const rbac::HeldRules held = authorizer->HeldBy(*User("z"), "ns");
  CHECK(held.rules.size() == 1);
  CHECK(held.errors.size() == 3);
}

TEST_CASE("authz: a cluster role binding cannot name a role as if it were a cluster role",
          "[authz]") {
  const auto authorizer = rbac::NewRbacAuthorizer();
  authorizer->Upsert(rbac::Role{"", "admin", {GrantedRule({"*"}, {"*"}, {"*"})}});
  authorizer->Upsert(rbac::Role{"ns", "mine", {GrantedRule({"*"}, {"*"}, {"*"})}});
  authorizer->Upsert(rbac::Binding{"", "a", {"Role", "admin"}, {{"User", "z"}}});
  CHECK(AskRbac(*authorizer, {"z", {}, "get", "pods", "", "ns"}) ==
        R"(no opinion: RBAC: role.rbac.authorization.k8s.io "admin" not found)");
  authorizer->Upsert(rbac::Binding{"ns", "b", {"ClusterRole", "mine"}, {{"User", "y"}}});
  CHECK(AskRbac(*authorizer, {"y", {}, "get", "pods", "", "ns"}) ==
        R"(no opinion: RBAC: clusterrole.rbac.authorization.k8s.io "mine" not found)");
}

TEST_CASE("authz: what is taken away is allowed no more", "[authz]") {
  const auto authorizer = rbac::NewRbacAuthorizer();
  const Asked asked{"z", {"g"}, "get", "pods", "", "ns"};
  const rbac::Role role{"", "r", {GrantedRule({"get"}, {""}, {"pods"})}};
  const rbac::Binding binding{"ns", "b", {"ClusterRole", "r"}, {{"User", "z"}, {"Group", "g"}}};
  authorizer->Upsert(binding);
  authorizer->Upsert(role);
  CHECK(Allowed(AskRbac(*authorizer, asked)));
  authorizer->DeleteRole("", "r");
  CHECK_FALSE(Allowed(AskRbac(*authorizer, asked)));
  authorizer->Upsert(role);
  CHECK(Allowed(AskRbac(*authorizer, asked)));
  authorizer->Upsert(rbac::Role{"", "r", {GrantedRule({"list"}, {""}, {"pods"})}});
  CHECK(AskRbac(*authorizer, asked) == "no opinion");
  authorizer->Upsert(role);
  authorizer->Upsert(rbac::Binding{"ns", "b", {"ClusterRole", "r"}, {{"User", "y"}}});
  CHECK(AskRbac(*authorizer, asked) == "no opinion");
  authorizer->Upsert(binding);
  CHECK(Allowed(AskRbac(*authorizer, asked)));
  authorizer->DeleteBinding("ns", "c");
  authorizer->DeleteBinding("", "b");
  CHECK(Allowed(AskRbac(*authorizer, asked)));
  authorizer->DeleteBinding("ns", "b");
  CHECK(AskRbac(*authorizer, asked) == "no opinion");
}

// Asks three times as one user, so that the last answer is one that was remembered.
std::string AskAgain(const rbac::RbacAuthorizer& authorizer, const auth::UserInfoPtr& user,
                     std::string_view name = "") {
  const auth::Attributes asked{.user = user,
                               .verb = "get",
                               .resource_request = true,
                               .resource = "pods",
                               .namespace_ = "ns",
                               .name = name};
  const std::string answer = Answer(authorizer, asked);
  CHECK(Answer(authorizer, asked) == answer);
  CHECK(Answer(authorizer, asked) == answer);
  return answer;
}

TEST_CASE("authz: a remembered decision ends with each change of the policy", "[authz]") {
  const auto authorizer = rbac::NewRbacAuthorizer();
  const auto user = User("z", {"g"});
  const rbac::Role role{"", "r", {GrantedRule({"get"}, {""}, {"pods"})}};
  const rbac::Binding binding{"ns", "b", {"ClusterRole", "r"}, {{"Group", "g"}}};
  CHECK(AskAgain(*authorizer, user) == "no opinion");
  authorizer->Upsert(role);
  CHECK(AskAgain(*authorizer, user) == "no opinion");
  authorizer->Upsert(binding);
  CHECK(Allowed(AskAgain(*authorizer, user)));
  authorizer->Upsert(rbac::Role{"", "r", {GrantedRule({"list"}, {""}, {"pods"})}});
  CHECK(AskAgain(*authorizer, user) == "no opinion");
  authorizer->Upsert(role);
  CHECK(Allowed(AskAgain(*authorizer, user)));
  authorizer->DeleteBinding("ns", "b");
  CHECK(AskAgain(*authorizer, user) == "no opinion");
  authorizer->Upsert(binding);
  authorizer->DeleteRole("", "r");
  CHECK(AskAgain(*authorizer, user) ==
        R"(no opinion: RBAC: clusterrole.rbac.authorization.k8s.io "r" not found)");
}

TEST_CASE("authz: a remembered decision is not for other users, verbs and names", "[authz]") {
  const auto authorizer = rbac::NewRbacAuthorizer();
  authorizer->Upsert(rbac::Role{"", "r", {GrantedRule({"get"}, {""}, {"pods"})}});
  auto one = GrantedRule({"get"}, {""}, {"pods"});
  one.resource_names = {"a"};
  authorizer->Upsert(rbac::Role{"", "one", {one}});
  authorizer->Upsert(rbac::Binding{"ns", "b", {"ClusterRole", "r"}, {{"User", "z"}}});
  authorizer->Upsert(rbac::Binding{"ns", "c", {"ClusterRole", "one"}, {{"User", "y"}}});
  const auto y = User("y");
  CHECK(Allowed(AskAgain(*authorizer, y, "a")));
  CHECK(AskAgain(*authorizer, y, "b") == "no opinion");
  CHECK(Allowed(AskAgain(*authorizer, y, "a")));
  // The memory of a user who is gone may become another's.
  for (int i = 0; i < 100; ++i) {
    CHECK(Allowed(AskAgain(*authorizer, User("z"))));
    CHECK(AskAgain(*authorizer, User("x")) == "no opinion");
  }
  const auto z = User("z");
  CHECK(Allowed(AskAgain(*authorizer, z)));
  auth::Attributes asked{
      .user = z, .verb = "list", .resource_request = true, .resource = "pods", .namespace_ = "ns"};
  CHECK(Answer(*authorizer, asked) == "no opinion");
  asked.verb = "get";
  asked.namespace_ = "other";
  CHECK(Answer(*authorizer, asked) == "no opinion");
  asked.namespace_ = "ns";
  asked.subresource = "log";
  CHECK(Answer(*authorizer, asked) == "no opinion");
}

TEST_CASE("authz: so many decisions are remembered and no more", "[authz]") {
  const rbac::DecisionCache cache;
  const auto user = User("z");
  const auto find = [&](const std::string& namespace_) {
    return cache.Find(rbac::DecisionKey(
        {.user = user, .verb = "get", .resource_request = true, .namespace_ = namespace_}));
  };
  const auto add = [&](const std::string& namespace_) {
    cache.Add(
        rbac::DecisionKey(
            {.user = user, .verb = "get", .resource_request = true, .namespace_ = namespace_}),
        nullptr);
  };
  add("once");
  CHECK_FALSE(find("once"));
  add("once");
  CHECK(find("once"));
  int found = 0;
  for (int i = 0; i < 5'000; ++i) {
    add(std::to_string(i));
    add(std::to_string(i));
  }
  for (int i = 0; i < 5'000; ++i) found += find(std::to_string(i)).has_value() ? 1 : 0;
  CHECK(found > 256);
  CHECK(found <= 512);
  const std::string too_long(300, 'n');
  add(too_long);
  add(too_long);
  CHECK_FALSE(find(too_long));
  CHECK_FALSE(rbac::DecisionCache(cache).Find(
      rbac::DecisionKey({.user = user, .verb = "get", .resource_request = true})));
}

TEST_CASE("authz: decisions go on while roles and bindings change", "[authz]") {
  const auto authorizer = rbac::NewRbacAuthorizer();
  authorizer->Upsert(rbac::Role{"", "r", {GrantedRule({"get"}, {""}, {"pods"})}});
  authorizer->Upsert(rbac::Binding{"", "stays", {"ClusterRole", "r"}, {{"User", "z"}}});
  bool always = true;
  {
    apiserver::Notification begun;
    const apiserver::Thread asking("asking", [&] {
      for (int i = 0; i < 2000; ++i) {
        always = always && Allowed(AskRbac(*authorizer, {"z", {"g"}, "get", "pods", "", "ns"}));
        if (i == 10) begun.Notify();
      }
    });
    begun.Wait();
    for (int i = 0; i < 300; ++i) {
      const std::string name = std::to_string(i % 7);
      authorizer->Upsert(rbac::Role{"ns", name, {GrantedRule({"get"}, {""}, {name})}});
      authorizer->Upsert(
          rbac::Binding{"ns", name, {"Role", name}, {{"User", "z"}, {"Group", "g"}}});
      if (i % 3 == 0) authorizer->DeleteBinding("ns", name);
      if (i % 5 == 0) authorizer->DeleteRole("ns", name);
    }
  }
  CHECK(always);
}

}  // namespace
