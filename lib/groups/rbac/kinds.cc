#include <string>

#include "apiserver/authz/rbac.h"
#include "apiserver/groups/rbac.h"
#include "groups/kinds.h"
#include "groups/rbac_api.h"

namespace apiserver::v0::groups::rbac {
namespace {

using authz::rbac::kGroupKind;
using authz::rbac::kGroupName;
using authz::rbac::kUserKind;
using runtime::Value;

// Follows pkg/apis/rbac/v1/defaults.go.
void SetBindingDefaults(runtime::Object& binding) {
  if (binding["roleRef"]["apiGroup"].size() == 0) {
    binding.Edit("roleRef", "apiGroup") = kGroupName;
  }
  const auto missing = [](const Value& subject) {
    const std::string_view kind = subject["kind"].AsString();
    return subject["apiGroup"].size() == 0 && (kind == kUserKind || kind == kGroupKind);
  };
  runtime::ListBuilder subjects(binding.arena());
  bool changed = false;
  for (const Value& subject : binding["subjects"].items()) {
    if (!missing(subject)) {
      subjects.Add(subject);
      continue;
    }
    changed = true;
    // The members keep the order of the fields.
    runtime::MapBuilder full(binding.arena());
    full.Add("kind", subject["kind"]);
    full.Add("apiGroup", Value::String(kGroupName));
    for (const char* field : {"name", "namespace"}) {
      if (subject.Find(field) != nullptr) full.Add(field, subject[field]);
    }
    subjects.Add(full.Build());
  }
  if (changed) binding.SetPath({"subjects"}, subjects.Build());
}

}  // namespace

Result<std::vector<runtime::KindPtr>> Kinds() {
  const std::string group(kGroupName);
  return KindsOfV1(
      rbac_api::Descriptors(), "k8s.io.api.rbac.v1",
      {{.group = group, .kind = "ClusterRole", .plural = "clusterroles", .namespaced = false},
       {.group = group,
        .kind = "ClusterRoleBinding",
        .plural = "clusterrolebindings",
        .namespaced = false,
        .versions = {{.set_defaults = &SetBindingDefaults}}},
       {.group = group, .kind = "Role", .plural = "roles"},
       {.group = group,
        .kind = "RoleBinding",
        .plural = "rolebindings",
        .versions = {{.set_defaults = &SetBindingDefaults}}}});
}

}  // namespace apiserver::v0::groups::rbac
