#include "groups/rbac/convert.h"

#include <string>
#include <string_view>
#include <utility>

namespace apiserver::v0::groups::rbac {
namespace {

using authz::rbac::PolicyRule;
using runtime::Value;

std::vector<std::string> Texts(const Value& list) {
  std::vector<std::string> texts;
  texts.reserve(list.size());
  for (const Value& text : list.items()) texts.emplace_back(text.AsString());
  return texts;
}

}  // namespace

// The authorizer works on plain structs: it reads them for each request, and the objects only when
// they change.
std::vector<PolicyRule> RulesOf(const Value& rules) {
  std::vector<PolicyRule> result;
  result.reserve(rules.size());
  for (const Value& rule : rules.items()) {
    result.push_back({.verbs = Texts(rule["verbs"]),
                      .api_groups = Texts(rule["apiGroups"]),
                      .resources = Texts(rule["resources"]),
                      .resource_names = Texts(rule["resourceNames"]),
                      .non_resource_urls = Texts(rule["nonResourceURLs"])});
  }
  return result;
}

// The API group is left out: validation allows only RBAC's own.
authz::rbac::RoleRef RoleRefOf(const Value& role_ref) {
  return {.kind = std::string(role_ref["kind"].AsString()),
          .name = std::string(role_ref["name"].AsString())};
}

authz::rbac::Role RoleOf(const runtime::Object& object) {
  return {.namespace_ = std::string(object.namespace_()),
          .name = std::string(object.name()),
          .rules = RulesOf(object["rules"])};
}

authz::rbac::Binding BindingOf(const runtime::Object& object) {
  authz::rbac::Binding binding{.namespace_ = std::string(object.namespace_()),
                               .name = std::string(object.name()),
                               .role = RoleRefOf(object["roleRef"]),
                               .subjects = {}};
  for (const Value& subject : object["subjects"].items()) {
    binding.subjects.push_back({.kind = std::string(subject["kind"].AsString()),
                                .name = std::string(subject["name"].AsString()),
                                .namespace_ = std::string(subject["namespace"].AsString())});
  }
  return binding;
}

Value ToValue(const std::vector<PolicyRule>& rules, runtime::Arena& arena) {
  runtime::ListBuilder list(arena);
  for (const PolicyRule& rule : rules) {
    runtime::MapBuilder map(arena);
    const auto add = [&](const char* field, const std::vector<std::string>& texts) {
      // Go omits empty lists as well.
      if (texts.empty()) return;
      runtime::ListBuilder values(arena);
      for (const std::string& text : texts) values.Add(Value::String(arena.Copy(text)));
      map.Add(field, values.Build());
    };
    add("verbs", rule.verbs);
    add("apiGroups", rule.api_groups);
    add("resources", rule.resources);
    add("resourceNames", rule.resource_names);
    add("nonResourceURLs", rule.non_resource_urls);
    list.Add(map.Build());
  }
  return list.Build();
}

}  // namespace apiserver::v0::groups::rbac
