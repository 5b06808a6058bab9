// Which webhooks are for a request: predicates/rules, predicates/namespace, predicates/object and
// generic/webhook_test.go.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "admission/webhook/matcher.h"
#include "apiserver/meta/errors.h"
#include "webhook_fixture.h"

using namespace apiserver;  // NOLINT: tests only.
using admission::Operation;
using apiserver::testing::EverythingRule;
using apiserver::testing::Selector;

namespace {

constexpr auto kCreates = Operation::kCreate;

admission::Attributes About(const std::string& group, const std::string& version,
                            const std::string& resource, const std::string& subresource = "",
                            Operation operation = kCreates, const std::string& ns = "ns") {
  return {.operation = operation,
          .kind = {group, version, "k" + resource},
          .resource = {group, version, resource},
          .subresource = subresource,
          .namespace_ = ns,
          .name = "name"};
}

bool Matches(const admission::WebhookRule& rule, const admission::Attributes& attributes) {
  return rule.Matches(attributes, attributes.resource);
}

}  // namespace

// rules_test.go TestGroup, TestVersion
TEST_CASE("webhook: rules name groups and versions, or all", "[admission]") {
  admission::WebhookRule rule = EverythingRule();
  CHECK(Matches(rule, About("g", "v", "r")));
  rule.api_groups = {"g1", "g2"};
  CHECK(Matches(rule, About("g1", "v", "r")));
  CHECK(Matches(rule, About("g2", "v2", "r3")));
  CHECK_FALSE(Matches(rule, About("g3", "v", "r")));
  CHECK_FALSE(Matches(rule, About("g4", "v", "r")));
  rule = EverythingRule();
  rule.api_versions = {"v1", "v2"};
  CHECK(Matches(rule, About("g1", "v1", "r")));
  CHECK(Matches(rule, About("g2", "v2", "r")));
  CHECK_FALSE(Matches(rule, About("g1", "v3", "r")));
  CHECK_FALSE(Matches(rule, About("g2", "v4", "r")));
}

// rules_test.go TestOperation
TEST_CASE("webhook: rules name operations, or all", "[admission]") {
  struct Case {
    std::vector<std::string> operations;
    bool create, update, remove, connect;
  };
  const Case cases[] = {
      {{"*"}, true, true, true, true},          {{"CREATE"}, true, false, false, false},
      {{"UPDATE"}, false, true, false, false},  {{"DELETE"}, false, false, true, false},
      {{"CONNECT"}, false, false, false, true}, {{"UPDATE", "DELETE"}, false, true, true, false}};
  for (const Case& test : cases) {
    INFO(test.operations.front());
    admission::WebhookRule rule = EverythingRule();
    rule.operations = test.operations;
    CHECK(Matches(rule, About("g", "v", "r", "", kCreates)) == test.create);
    CHECK(Matches(rule, About("g", "v", "r", "", Operation::kUpdate)) == test.update);
    CHECK(Matches(rule, About("g", "v", "r", "", Operation::kDelete)) == test.remove);
    CHECK(Matches(rule, About("g", "v", "r", "", Operation::kConnect)) == test.connect);
  }
}

// rules_test.go TestResource
TEST_CASE("webhook: rules name resources and subresources", "[admission]") {
  struct Case {
    std::vector<std::string> resources;
    std::vector<std::pair<std::string, std::string>> match;
    std::vector<std::pair<std::string, std::string>> no_match;
  };
  const Case cases[] = {{{"*"}, {{"r", ""}, {"r2", ""}}, {{"r", "exec"}, {"r2", "proxy"}}},
                        {{"r/*"}, {{"r", ""}, {"r", "exec"}}, {{"r2", ""}, {"r2", "proxy"}}},
                        {{"r/*", "r2"}, {{"r", ""}, {"r", "exec"}, {"r2", ""}}, {{"r2", "proxy"}}},
                        {{"*/proxy", "*/exec"},
                         {{"r", "exec"}, {"r2", "proxy"}, {"r3", "proxy"}},
                         {{"r", ""}, {"r2", ""}, {"r4", "scale"}}}};
  for (const Case& test : cases) {
    admission::WebhookRule rule = EverythingRule();
    rule.resources = test.resources;
    for (const auto& [resource, sub] : test.match) {
      INFO(test.resources.front() << " " << resource << "/" << sub);
      CHECK(Matches(rule, About("g", "v", resource, sub)));
    }
    for (const auto& [resource, sub] : test.no_match) {
      INFO(test.resources.front() << " " << resource << "/" << sub);
      CHECK_FALSE(Matches(rule, About("g", "v", resource, sub)));
    }
  }
}

// rules_test.go TestScope
TEST_CASE("webhook: rules name a scope, and namespaces are of the cluster", "[admission]") {
  struct Case {
    const char* group;
    const char* version;
    const char* resource;
    const char* subresource;
    const char* ns;
    bool cluster;
  };
  const Case cases[] = {{"g", "v", "r", "", "", true},
                        {"g", "v", "r", "exec", "", true},
                        {"", "v1", "namespaces", "", "", true},
                        {"", "v1", "namespaces", "finalize", "", true},
                        {"", "v1", "namespaces", "", "ns", true},
                        {"", "v1", "namespaces", "finalize", "ns", true},
                        {"g", "v", "r", "", "ns", false},
                        {"g", "v", "r", "exec", "ns", false}};
  for (const Case& test : cases) {
    INFO(test.resource << "/" << test.subresource << " in " << test.ns);
    const auto attributes =
        About(test.group, test.version, test.resource, test.subresource, kCreates, test.ns);
    admission::WebhookRule rule = EverythingRule();
    CHECK(Matches(rule, attributes));
    rule.scope = "Cluster";
    CHECK(Matches(rule, attributes) == test.cluster);
    rule.scope = "Namespaced";
    CHECK(Matches(rule, attributes) != test.cluster);
    rule.scope = "Galaxy";
    CHECK_FALSE(Matches(rule, attributes));
  }
}

namespace {

// The deployments of webhook_test.go TestShouldCallHook.
class Deployments final : public admission::EquivalentResourceMapper {
 public:
  std::vector<admission::EquivalentResource> EquivalentResourcesFor(
      const runtime::GroupVersionResource&, std::string_view subresource) const override {
    const bool scale = subresource == "scale";
    const auto kind = [&](const std::string& group, const std::string& version) {
      return runtime::GroupVersionKind{group, version, scale ? "Scale" : "Deployment"};
    };
    return {{{"extensions", "v1beta1", "deployments"}, kind("extensions", "v1beta1")},
            {{"apps", "v1", "deployments"},
             scale ? runtime::GroupVersionKind{"autoscaling", "v1", "Scale"} : kind("apps", "v1")},
            {{"apps", "v1beta1", "deployments"}, kind("apps", "v1beta1")},
            {{"apps", "v1alpha1", "deployments"}, kind("apps", "v1alpha1")}};
  }
};

admission::WebhookRule RuleFor(const std::string& group, const std::vector<std::string>& versions,
                               const std::string& resource) {
  return {.operations = {"*"},
          .api_groups = {group},
          .api_versions = versions,
          .resources = {resource, resource + "/scale"}};
}

}  // namespace

// webhook_test.go TestShouldCallHook
TEST_CASE("webhook: the rules of other versions count where the policy is Equivalent",
          "[admission]") {
  struct Case {
    const char* name;
    bool equivalent;
    std::vector<admission::WebhookRule> rules;
    const char* subresource;
    const char* resource;  // Empty: not called.
    const char* kind;
  };
  const std::vector<admission::WebhookRule> miss = {RuleFor("extensions", {"v1beta1"}, "other")};
  const std::vector<admission::WebhookRule> specific = {
      RuleFor("extensions", {"v1beta1"}, "deployments"), RuleFor("apps", {"v1"}, "deployments"),
      RuleFor("apps", {"v1beta1"}, "deployments")};
  const std::vector<admission::WebhookRule> extensions_first = {
      RuleFor("extensions", {"v1beta1"}, "deployments"),
      RuleFor("apps", {"v1beta1"}, "deployments")};
  const std::vector<admission::WebhookRule> apps_first = {
      RuleFor("apps", {"v1beta1"}, "deployments"),
      RuleFor("extensions", {"v1beta1"}, "deployments")};
  const Case cases[] = {
      {"no rules (just write)", true, {}, "", "", ""},
      {"wildcard rule, match as requested",
       true,
       {EverythingRule()},
       "",
       "apps/v1",
       "apps/v1 Deployment"},
      {"specific rules, prefer exact match", true, specific, "", "apps/v1", "apps/v1 Deployment"},
      {"specific rules, match miss", true, miss, "", "", ""},
      {"specific rules, exact match miss", false, extensions_first, "", "", ""},
      {"specific rules, equivalent match, prefer extensions", true, extensions_first, "",
       "extensions/v1beta1", "extensions/v1beta1 Deployment"},
      {"specific rules, equivalent match, prefer apps", true, apps_first, "", "apps/v1beta1",
       "apps/v1beta1 Deployment"},
      {"specific rules, subresource prefer exact match", true, specific, "scale", "apps/v1",
       "autoscaling/v1 Scale"},
      {"specific rules, subresource match miss", true, miss, "scale", "", ""},
      {"specific rules, subresource exact match miss", false, extensions_first, "scale", "", ""},
      {"specific rules, subresource equivalent match, prefer extensions", true, extensions_first,
       "scale", "extensions/v1beta1", "extensions/v1beta1 Scale"},
      {"specific rules, subresource equivalent match, prefer apps", true, apps_first, "scale",
       "apps/v1beta1", "apps/v1beta1 Scale"}};
  const Deployments deployments;
  for (const Case& test : cases) {
    INFO(test.name);
    const bool scale = std::string_view(test.subresource) == "scale";
    admission::Attributes attributes = About("apps", "v1", "deployments", test.subresource);
    attributes.kind = scale ? runtime::GroupVersionKind{"autoscaling", "v1", "Scale"}
                            : runtime::GroupVersionKind{"apps", "v1", "Deployment"};
    attributes.equivalents = &deployments;
    const admission::Webhook webhook{
        .name = "x", .rules = test.rules, .equivalent = test.equivalent};
    const auto invocation = admission::WebhookMatcher(nullptr).Match(Context::Background(), webhook,
                                                                     attributes, nullptr);
    REQUIRE(invocation.ok());
    REQUIRE(invocation->has_value() == !std::string_view(test.resource).empty());
    if (!invocation->has_value()) continue;
    const auto& resource = (*invocation)->resource;
    const auto& kind = (*invocation)->kind;
    CHECK(resource.group + "/" + resource.version == test.resource);
    CHECK(kind.group + "/" + kind.version + " " + kind.kind == test.kind);
  }
}

namespace {

class FixedNamespaces final : public admission::Namespaces {
 public:
  bool WaitForSync(std::chrono::milliseconds) const override { return true; }
  runtime::ObjectPtr Get(std::string_view name) const override {
    return name == "known" ? With("0") : nullptr;
  }
  Result<runtime::ObjectPtr> GetLive(const Context&, std::string_view name) const override {
    if (name == "fresh") return With("1");
    if (name == "broken") return Status(Reason::kServiceUnavailable, "no storage");
    return meta::NewNotFound({"", "namespaces"}, name);
  }

 private:
  static runtime::ObjectPtr With(const std::string& runlevel) {
    auto made =
        std::make_shared<runtime::Object>(runtime::Kind::Untyped({"", "v1", "Namespace"}), "v1");
    made->Edit("metadata", "labels", "runlevel") = runlevel;
    return made;
  }
};

std::string MatchIn(const std::string& ns, const std::string& selector,
                    const admission::Namespaces* namespaces, const std::string& resource = "pods") {
  const admission::Webhook webhook{
      .name = "x", .rules = {EverythingRule()}, .namespace_selector = Selector(selector)};
  const auto invocation = admission::WebhookMatcher(namespaces)
                              .Match(Context::Background(), webhook,
                                     About("", "v1", resource, "", kCreates, ns), nullptr);
  if (!invocation.ok()) return std::string(invocation.status().message());
  return invocation->has_value() ? "called" : "skipped";
}

}  // namespace

// namespace/matcher_test.go TestGetNamespaceLabels, TestNotExemptClusterScopedResource
TEST_CASE("webhook: namespaceSelector looks at the labels of the namespace", "[admission]") {
  const FixedNamespaces namespaces;
  CHECK(MatchIn("known", "runlevel=0", &namespaces) == "called");
  CHECK(MatchIn("known", "runlevel notin (0)", &namespaces) == "skipped");
  CHECK(MatchIn("fresh", "runlevel=1", &namespaces) == "called");
  CHECK(MatchIn("gone", "runlevel=1", &namespaces) == R"(namespaces "gone" not found)");
  CHECK(MatchIn("gone", "", &namespaces) == "called");
  CHECK(MatchIn("broken", "runlevel=1", &namespaces) == "Internal error occurred: no storage");
  CHECK(MatchIn("", "runlevel=1", &namespaces, "nodes") == "called");
}

TEST_CASE("webhook: where no namespaces are known they have the label of their name",
          "[admission]") {
  CHECK(MatchIn("a", "kubernetes.io/metadata.name=a", nullptr) == "called");
  CHECK(MatchIn("a", "kubernetes.io/metadata.name in (b)", nullptr) == "skipped");
}

// object/matcher_test.go TestObjectSelector
TEST_CASE("webhook: objectSelector looks at the labels of both states", "[admission]") {
  testing::WidgetRequest request;
  request.old_object.Edit("metadata", "labels", "old") = "yes";
  const auto called = [&](const std::string& selector, bool with_object) {
    admission::Attributes attributes = request.Attributes();
    const admission::Webhook webhook{
        .name = "x", .rules = {EverythingRule()}, .object_selector = Selector(selector)};
    const auto invocation = admission::WebhookMatcher(nullptr).Match(
        Context::Background(), webhook, attributes, with_object ? &request.object : nullptr);
    return invocation.ok() && invocation->has_value();
  };
  CHECK(called("", false));
  CHECK(called("widget.name=my-widget", true));
  CHECK(called("old=yes", true));
  CHECK(called("old=yes", false));
  CHECK_FALSE(called("label=nonexistent", true));
  // What has no labels is not selected by their absence alone: there is an object.
  CHECK(called("!label", true));
}

TEST_CASE("webhook: a selector that cannot be read refuses only what the rules match",
          "[admission]") {
  admission::Webhook webhook{.name = "x",
                             .rules = {EverythingRule()},
                             .object_selector = Status(Reason::kInvalid, "odd selector")};
  const auto match = [&] {
    return admission::WebhookMatcher(nullptr).Match(Context::Background(), webhook,
                                                    About("", "v1", "pods"), nullptr);
  };
  CHECK(match().status().message() == "Internal error occurred: odd selector");
  webhook.rules[0].operations = {"DELETE"};
  CHECK(match().ok());
}
