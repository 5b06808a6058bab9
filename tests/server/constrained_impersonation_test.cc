// Who may act as whom, in which way: impersonation below its filter.
#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/base/metrics.h"
#include "server/described_user.h"
#include "server/requests/impersonation.h"
#include "widget_server.h"

namespace apiserver::inline v0::server {
namespace {

using auth::Attributes;
using auth::Decision;
using auth::UserInfo;
using auth::Verdict;

// Says what upstream's constrainedImpersonationTest.Authorize says, and keeps what it was asked.
class Constrained final : public auth::Authorizer {
 public:
  Result<Verdict> Authorize(const Context&, const Attributes& a) const override {
    const bool allowed = Allows(a);
    std::string line = allowed ? "+ " : "- ";
    line.append(a.verb).append(" ");
    if (!a.resource_request) {
      line.append(a.path);
    } else {
      line.append(a.group).append("/").append(a.resource);
      if (!a.subresource.empty()) line.append("/").append(a.subresource);
      line.append(" ").append(a.namespace_).append("/").append(a.name);
      line.append(a.field_selector).append(a.label_selector);
    }
    asked.push_back(line);
    users.push_back(*a.user);
    if (allowed) return Verdict{Decision::kAllow};
    return Verdict{Decision::kNoOpinion, "deny by default"};
  }

  mutable std::vector<std::string> asked;
  mutable std::vector<UserInfo> users;

 private:
  static bool Allows(const Attributes& a) {
    const std::string& name = a.user->name;
    const bool info = a.verb == "impersonate:user-info";
    if (name == "sa-impersonater" && a.verb == "impersonate:serviceaccount") {
      return a.resource == "serviceaccounts";
    }
    if (name == "node-impersonater" && a.verb == "impersonate:arbitrary-node") {
      return a.resource == "nodes";
    }
    if (HasGroup(*a.user, 0, "associate-node-impersonater") &&
        a.verb == "impersonate:associated-node") {
      return a.resource == "nodes";
    }
    if (name == "user-impersonater" && info && (a.resource == "users" || a.resource == "uids")) {
      return true;
    }
    if (HasGroup(*a.user, 0, "group-impersonater") && info && a.resource == "groups") return true;
    if (HasGroup(*a.user, 0, "extra-setter-scopes") && info && a.resource == "userextras" &&
        a.subresource == "pandas.io/scopes") {
      return true;
    }
    if (name == "legacy-impersonater" && a.verb == "impersonate") return true;
    if (a.verb.starts_with("impersonate-on:")) {
      return a.verb.ends_with("list") || a.verb.ends_with("get");
    }
    if (name == "many-groups-impersonater" && info) {
      return a.resource == "users" || (a.resource == "groups" && a.name == "*");
    }
    if (name == "many-extras-impersonater" && info) {
      return a.resource == "users" ||
             (a.resource == "userextras" && a.subresource == "*" && a.name == "*");
    }
    if (name == "mixed-impersonater" && info) {
      return a.resource == "users" || (a.resource == "groups" && a.name != "*") ||
             (a.resource == "userextras" && a.subresource == "tags.io/env" && a.name != "*");
    }
    return false;
  }
};

Attributes GetPod(UserInfo requestor, std::string_view verb = "get") {
  return {.user = std::make_shared<const UserInfo>(std::move(requestor)),
          .verb = verb,
          .resource_request = true,
          .version = "v1",
          .resource = "pods",
          .namespace_ = "bar",
          .name = "foo"};
}

struct Outcome {
  std::string user;  // Or the refusal.
  std::vector<std::string> asked;
  std::vector<UserInfo> users;
};

Outcome Impersonate(const UserInfo& wanted, const Attributes& attributes) {
  const Constrained authorizer;
  const Impersonation impersonation({.authorizer = &authorizer});
  const auto found = impersonation.Check(Context::Background(), wanted, attributes);
  if (!found.ok()) {
    CHECK(found.status().reason() == Reason::kForbidden);
    return {std::string(found.status().message()), authorizer.asked, authorizer.users};
  }
  return {Describe(*found->user) + " by " + found->constraint, authorizer.asked, authorizer.users};
}

using Lines = std::vector<std::string>;

}  // namespace

// TestConstrainedImpersonationFilter: impersonating-error, impersonating-user-get-allowed-create-
// disallowed, allowed-legacy-impersonator, legacy-fallback
TEST_CASE("server: constrained impersonation needs the user and the action", "[server]") {
  const Outcome error = Impersonate({.name = "anyone"}, GetPod({.name = "tester"}));
  CHECK(error.user ==
        R"(users.authentication.k8s.io "anyone" is forbidden: User "tester" cannot )"
        R"(impersonate:user-info resource "users" in API group "authentication.k8s.io" at the )"
        "cluster scope: deny by default");
  CHECK(error.asked == Lines{"+ impersonate-on:user-info:get /pods bar/foo",
                             "- impersonate:user-info authentication.k8s.io/users /anyone",
                             "- impersonate /users /anyone"});

  const Outcome allowed = Impersonate({.name = "anyone"}, GetPod({.name = "user-impersonater"}));
  CHECK(allowed.user == "anyone||system:authenticated, by impersonate:user-info");
  CHECK(allowed.asked == Lines{"+ impersonate-on:user-info:get /pods bar/foo",
                               "+ impersonate:user-info authentication.k8s.io/users /anyone"});

  const Outcome create =
      Impersonate({.name = "anyone"}, GetPod({.name = "user-impersonater"}, "create"));
  CHECK(
      create.user ==
      R"(pods "foo" is forbidden: User "user-impersonater" cannot )"
      R"(impersonate-on:user-info:create resource "pods" in API group "" in the namespace "bar": )"
      "deny by default");
  CHECK(create.asked ==
        Lines{"- impersonate-on:user-info:create /pods bar/foo", "- impersonate /users /anyone"});

  const Outcome legacy =
      Impersonate({.name = "system:admin"}, GetPod({.name = "legacy-impersonater"}));
  CHECK(legacy.user == "system:admin||system:authenticated, by ");
  CHECK(legacy.asked == Lines{"+ impersonate-on:user-info:get /pods bar/foo",
                              "- impersonate:user-info authentication.k8s.io/users /system:admin",
                              "+ impersonate /users /system:admin"});
}

// impersonating-sa-allowed, impersonating-node-not-allowed, impersonating-node-not-allowed-action,
// impersonating-node-allowed
TEST_CASE("server: service accounts and nodes are impersonated in ways of their own", "[server]") {
  const Outcome account = Impersonate({.name = "system:serviceaccount:default:default"},
                                      GetPod({.name = "sa-impersonater"}));
  CHECK(account.user ==
        "system:serviceaccount:default:default||system:serviceaccounts,"
        "system:serviceaccounts:default,system:authenticated, by impersonate:serviceaccount");
  CHECK(
      account.asked ==
      Lines{"+ impersonate-on:serviceaccount:get /pods bar/foo",
            "+ impersonate:serviceaccount authentication.k8s.io/serviceaccounts default/default"});

  const Outcome refused =
      Impersonate({.name = "system:node:node1"}, GetPod({.name = "sa-impersonater"}));
  CHECK(
      refused.user ==
      R"(nodes.authentication.k8s.io "node1" is forbidden: User "sa-impersonater" cannot )"
      R"(impersonate:arbitrary-node resource "nodes" in API group "authentication.k8s.io" at the )"
      "cluster scope: deny by default");
  CHECK(refused.asked == Lines{"+ impersonate-on:arbitrary-node:get /pods bar/foo",
                               "- impersonate:arbitrary-node authentication.k8s.io/nodes /node1",
                               "- impersonate /users /system:node:node1"});

  const Outcome action =
      Impersonate({.name = "system:node:node1"}, GetPod({.name = "node-impersonater"}, "create"));
  CHECK(action.asked == Lines{"- impersonate-on:arbitrary-node:create /pods bar/foo",
                              "- impersonate /users /system:node:node1"});

  const Outcome node =
      Impersonate({.name = "system:node:node1"}, GetPod({.name = "node-impersonater"}));
  CHECK(node.user ==
        "system:node:node1||system:nodes,system:authenticated, by impersonate:arbitrary-node");
}

// allowed-associate-node, disallowed-associate-node-without-sa
TEST_CASE("server: a pod's account becomes the node it runs on, whichever that is", "[server]") {
  const UserInfo on_node1 = {.name = "system:serviceaccount:default:default",
                             .groups = {"associate-node-impersonater"},
                             .extra = {{"authentication.kubernetes.io/node-name", {"node1"}}}};
  const Outcome allowed = Impersonate({.name = "system:node:node1"}, GetPod(on_node1));
  CHECK(allowed.user ==
        "system:node:node1||system:nodes,system:authenticated, by impersonate:associated-node");
  CHECK(allowed.asked == Lines{"+ impersonate-on:associated-node:get /pods bar/foo",
                               "+ impersonate:associated-node authentication.k8s.io/nodes /*"});
  for (const UserInfo& asked : allowed.users) {
    CHECK(asked.extra == std::map<std::string, std::vector<std::string>>{
                             {"authentication.kubernetes.io/associated-node-keys",
                              {"authentication.kubernetes.io/node-name"}}});
  }
  // Another node than its own.
  const Outcome other = Impersonate({.name = "system:node:node2"}, GetPod(on_node1));
  CHECK(other.asked == Lines{"+ impersonate-on:arbitrary-node:get /pods bar/foo",
                             "- impersonate:arbitrary-node authentication.k8s.io/nodes /node2",
                             "- impersonate /users /system:node:node2"});
  UserInfo no_account = on_node1;
  no_account.name = "user-impersonater";
  CHECK(Impersonate({.name = "system:node:node1"}, GetPod(no_account)).asked ==
        Lines{"+ impersonate-on:arbitrary-node:get /pods bar/foo",
              "- impersonate:arbitrary-node authentication.k8s.io/nodes /node1",
              "- impersonate /users /system:node:node1"});
}

// disallowed-userextra-3, allowed-userextras, many-groups-wildcard-allowed,
// many-extras-wildcard-allowed, mixed-groups-extras-wildcard-denied-individuals-allowed
TEST_CASE("server: many groups or extras are asked for at once, then one by one", "[server]") {
  const Outcome extra =
      Impersonate({.name = "system:admin",
                   .groups = {"extra-setter-scopes"},
                   .extra = {{"pandas.io/scopes", {"scope-a", "scope-b"}}}},
                  GetPod({.name = "user-impersonater", .groups = {"group-impersonater"}}));
  CHECK(extra.user ==
        R"(userextras.authentication.k8s.io "scope-a" is forbidden: User "user-impersonater" )"
        R"(cannot impersonate:user-info resource "userextras/pandas.io/scopes" in API group )"
        R"("authentication.k8s.io" at the cluster scope: deny by default)");

  const Outcome many =
      Impersonate({.name = "system:admin", .extra = {{"pandas.io/scopes", {"a", "b", "c", "d"}}}},
                  GetPod({.name = "user-impersonater", .groups = {"extra-setter-scopes"}}));
  const std::string ask = "impersonate:user-info authentication.k8s.io/";
  CHECK(many.asked == Lines{"+ impersonate-on:user-info:get /pods bar/foo",
                            "+ " + ask + "users /system:admin", "- " + ask + "userextras/* /*",
                            "+ " + ask + "userextras/pandas.io/scopes /a",
                            "+ " + ask + "userextras/pandas.io/scopes /b",
                            "+ " + ask + "userextras/pandas.io/scopes /c",
                            "+ " + ask + "userextras/pandas.io/scopes /d"});

  const Outcome groups =
      Impersonate({.name = "bob", .groups = {"group1", "group2", "group3", "group4"}},
                  GetPod({.name = "many-groups-impersonater"}));
  CHECK(groups.user ==
        "bob||group1,group2,group3,group4,system:authenticated, by impersonate:user-info");
  CHECK(groups.asked == Lines{"+ impersonate-on:user-info:get /pods bar/foo",
                              "+ " + ask + "users /bob", "+ " + ask + "groups /*"});

  const Outcome extras = Impersonate({.name = "alice",
                                      .extra = {{"scopes.example.com/key1", {"val1"}},
                                                {"scopes.example.com/key2", {"val2"}},
                                                {"scopes.example.com/key3", {"val3"}},
                                                {"scopes.example.com/key4", {"val4"}}}},
                                     GetPod({.name = "many-extras-impersonater"}));
  CHECK(extras.asked == Lines{"+ impersonate-on:user-info:get /pods bar/foo",
                              "+ " + ask + "users /alice", "+ " + ask + "userextras/* /*"});

  const Outcome mixed = Impersonate({.name = "frank",
                                     .groups = {"dev", "ops", "security", "audit"},
                                     .extra = {{"tags.io/env", {"prod", "staging", "dev"}}}},
                                    GetPod({.name = "mixed-impersonater"}));
  CHECK(mixed.user ==
        "frank||dev,ops,security,audit,system:authenticated,|tags.io/env=prod,staging,dev, by "
        "impersonate:user-info");
  CHECK(mixed.asked == Lines{"+ impersonate-on:user-info:get /pods bar/foo",
                             "+ " + ask + "users /frank", "- " + ask + "groups /*",
                             "+ " + ask + "groups /dev", "+ " + ask + "groups /ops",
                             "+ " + ask + "groups /security", "+ " + ask + "groups /audit",
                             "+ " + ask + "userextras/tags.io/env /prod",
                             "+ " + ask + "userextras/tags.io/env /staging",
                             "+ " + ask + "userextras/tags.io/env /dev"});
}

// system:masters-group-not-allowed, impersonating-user-with-uid, ...-subresource-request,
// ...-non-resource-request, ...-with-field-and-label-selectors
TEST_CASE("server: what is impersonated is asked for with everything the request is", "[server]") {
  const Outcome masters = Impersonate({.name = "admin-user", .groups = {"system:masters"}},
                                      GetPod({.name = "user-impersonater"}));
  CHECK(masters.user ==
        R"(groups.authentication.k8s.io "system:masters" is forbidden: User "user-impersonater" )"
        R"(cannot impersonate:user-info resource "groups" in API group "authentication.k8s.io" at )"
        "the cluster scope: impersonating the system:masters group is not allowed");
  CHECK(Impersonate({.name = "anyone", .uid = "wanted-uid-456"},
                    GetPod({.name = "user-impersonater", .uid = "requestor-uid-123"}))
            .asked == Lines{"+ impersonate-on:user-info:get /pods bar/foo",
                            "+ impersonate:user-info authentication.k8s.io/users /anyone",
                            "+ impersonate:user-info authentication.k8s.io/uids /wanted-uid-456"});
  Attributes status = GetPod({.name = "user-impersonater"});
  status.subresource = "status";
  CHECK(Impersonate({.name = "anyone"}, status).asked.front() ==
        "+ impersonate-on:user-info:get /pods/status bar/foo");
  Attributes path = {.user = status.user, .verb = "get", .path = "/healthz"};
  CHECK(Impersonate({.name = "anyone"}, path).asked.front() ==
        "+ impersonate-on:user-info:get /healthz");
  Attributes list = GetPod({.name = "user-impersonater"}, "list");
  list.field_selector = "spec.nodeName=node1";
  list.label_selector = ",app=web";
  CHECK(Impersonate({.name = "anyone"}, list).asked.front() ==
        "+ impersonate-on:user-info:list /pods bar/foospec.nodeName=node1,app=web");
}

TEST_CASE("server: empty groups and odd extras are not impersonated by the constrained way",
          "[server]") {
  const auto refusal = [](const UserInfo& wanted) {
    const std::string text =
        Impersonate(wanted, GetPod({.name = "user-impersonater", .groups = {"group-impersonater"}}))
            .user;
    return text.substr(text.rfind("scope: ") + 7);
  };
  CHECK(refusal({.name = "a", .groups = {""}}) ==
        "impersonating the empty string group is not allowed");
  CHECK(refusal({.name = "a", .extra = {{"", {"v"}}}}) ==
        "impersonating the empty string key in extra is not allowed");
  CHECK(refusal({.name = "a", .extra = {{"scopes", {"v"}}}}) ==
        R"(impersonating an invalid key in extra is not allowed: extra.key: Invalid value: )"
        R"("scopes": must be a domain-prefixed path (such as "acme.io/foo"))");
  CHECK(refusal({.name = "a", .extra = {{"a.io/B", {"v"}}}}) ==
        R"(impersonating a non-lowercase key in extra is not allowed: "a.io/B")");
  CHECK(refusal({.name = "a", .extra = {{"a.io/b", {""}}}}) ==
        "impersonating the empty string value in extra is not allowed");
}

// TestConstrainedImpersonationFilter's expectedAuthorizationMetrics
TEST_CASE("server: impersonation counts its attempts and its questions", "[server]") {
  const auto registry = metrics::NewRegistry();
  const Constrained authorizer;
  const Impersonation impersonation({.authorizer = &authorizer, .metrics = registry.get()});
  const UserInfo wanted = {.name = "anyone"};
  CHECK(impersonation.Check(Context::Background(), wanted, GetPod({.name = "legacy-impersonater"}))
            .ok());
  CHECK_FALSE(impersonation.Check(Context::Background(), wanted, GetPod({.name = "tester"})).ok());
  const std::string text = registry->Serialize();
  CAPTURE(text);
  for (const char* line :
       {"apiserver_impersonation_attempts_total{mode=\"legacy\",decision=\"allowed\"} 1",
        "apiserver_impersonation_attempts_total{mode=\"\",decision=\"denied\"} 1",
        "authorization_attempts_total{mode=\"user-info\",decision=\"allowed\"} 2",
        "authorization_attempts_total{mode=\"user-info\",decision=\"denied\"} 2",
        "authorization_attempts_total{mode=\"legacy\",decision=\"allowed\"} 1",
        "authorization_attempts_total{mode=\"legacy\",decision=\"denied\"} 1"}) {
    CHECK(testing::Contains(text, line));
  }
}

namespace {

// Must ask somebody else first.
class Remote final : public auth::Authorizer {
 public:
  Result<Verdict> Authorize(const Context& ctx, const Attributes&) const override {
    ++asked;
    if (!ctx.may_block()) return Status(Reason::kWouldBlock, "must ask");
    return Verdict{Decision::kAllow};
  }
  mutable std::atomic<int> asked = 0;
};

}  // namespace

TEST_CASE("server: an authorizer that must ask elsewhere decides on impersonation too",
          "[server]") {
  const Remote remote;
  const auto registry = metrics::NewRegistry();
  const Impersonation impersonation({.authorizer = &remote, .metrics = registry.get()});
  const UserInfo wanted = {.name = "jane", .groups = {"a", "b", "c", "d"}};
  const Attributes request = GetPod({.name = "joe"});

  const auto must_wait =
      impersonation.Check(Context::Background().WithMayBlock(false), wanted, request);
  CHECK(must_wait.status().reason() == Reason::kWouldBlock);
  CHECK(remote.asked == 1);
  CHECK_FALSE(testing::Contains(registry->Serialize(), "attempts_total{"));

  CHECK(impersonation.Check(Context::Background(), wanted, request)->user->name == "jane");
}

}  // namespace apiserver::inline v0::server
