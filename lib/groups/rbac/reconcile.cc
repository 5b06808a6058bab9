#include "groups/rbac/reconcile.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/authz/escalation.h"
#include "base/status_macros.h"
#include "groups/rbac/convert.h"

namespace apiserver::v0::groups::rbac {
namespace {

using authz::rbac::PolicyRule;
using runtime::Object;
using runtime::Value;

constexpr std::string_view kAccountsNamespace = "kube-system";
constexpr std::string_view kBootstrapping = "kubernetes.io/bootstrapping";
// Limits the attempts for an object that is changed or deleted at the same time.
constexpr int kAttempts = 4;

std::string AggregateTo(const std::string& role) {
  return std::string(authz::rbac::kGroupName) + "/aggregate-to-" + role;
}

// `resource` is that of a namespace.
template <class Bootstrap>
client::Target TargetOf(const std::string& resource, const Bootstrap& bootstrap,
                        const std::string& name = "") {
  const std::string prefix = bootstrap.namespace_.empty() ? "cluster" : "";
  return {.resource = {std::string(authz::rbac::kGroupName), "v1", prefix + resource},
          .namespace_ = bootstrap.namespace_,
          .name = name};
}

client::Target Namespaces(const std::string& name = "") {
  return {.resource = {"", "v1", "namespaces"}, .name = name};
}

// Annotated for automatic updates and labelled as upstream's, so that tools tell these objects from
// others.
std::unique_ptr<Object> NewExpected(const std::string& kind, const std::string& name_space,
                                    const std::string& name) {
  const std::string prefix = name_space.empty() ? "Cluster" : "";
  auto object = std::make_unique<Object>(
      runtime::Kind::Untyped({std::string(authz::rbac::kGroupName), "v1", prefix + kind}), "v1");
  object->Edit("metadata", "name") = name;
  if (!name_space.empty()) object->Edit("metadata", "namespace") = name_space;
  object->Edit("metadata", "annotations", kAutoUpdate) = "true";
  object->Edit("metadata", "labels", kBootstrapping) = "rbac-defaults";
  return object;
}

std::unique_ptr<Object> Expected(const BootstrapRole& role) {
  auto object = NewExpected("Role", role.namespace_, role.name);
  if (!role.aggregate_to.empty()) {
    object->Edit("metadata", "labels", AggregateTo(role.aggregate_to)) = "true";
  }
  if (!role.rules.empty()) {
    object->Edit("rules") = ToValue(role.rules, object->arena());
  }
  if (role.aggregated) {
    runtime::Arena& arena = object->arena();
    const Value labels = With(Value(), AggregateTo(role.name), Value::String("true"), arena);
    runtime::ListBuilder selectors(arena);
    selectors.Add(With(Value(), "matchLabels", labels, arena));
    object->Edit("aggregationRule", "clusterRoleSelectors") = selectors.Build();
  }
  return object;
}

std::unique_ptr<Object> Expected(const BootstrapBinding& binding) {
  auto object = NewExpected("RoleBinding", binding.namespace_,
                            binding.name.empty() ? binding.role : binding.name);
  object->Edit("roleRef", "apiGroup") = authz::rbac::kGroupName;
  object->Edit("roleRef", "kind") = binding.namespace_.empty() ? "ClusterRole" : "Role";
  object->Edit("roleRef", "name") = binding.role;
  runtime::Arena& arena = object->arena();
  runtime::ListBuilder subjects(arena);
  const auto add = [&](std::string_view kind, const std::string& name) {
    const bool account = kind == authz::rbac::kServiceAccountKind;
    runtime::MapBuilder subject(arena);
    subject.Add("kind", Value::String(kind));
    if (!account) subject.Add("apiGroup", Value::String(authz::rbac::kGroupName));
    subject.Add("name", Value::String(arena.Copy(name)));
    if (account) subject.Add("namespace", Value::String(kAccountsNamespace));
    subjects.Add(subject.Build());
  };
  for (const std::string& group : binding.groups) add(authz::rbac::kGroupKind, group);
  for (const std::string& user : binding.users) add(authz::rbac::kUserKind, user);
  for (const std::string& account : binding.service_accounts) {
    add(authz::rbac::kServiceAccountKind, account);
  }
  object->Edit("subjects") = subjects.Build();
  return object;
}

// Adds the labels and annotations that `object` does not have; returns whether there were any.
bool AddMetadata(const Object& expected, Object& object) {
  bool added = false;
  for (const char* field : {"labels", "annotations"}) {
    for (const runtime::Member& member : expected.metadata()[field].members()) {
      if (object.metadata()[field].Find(member.key) != nullptr) continue;
      object.Edit("metadata", field, member.key) = member.value;
      added = true;
    }
  }
  return added;
}

// Appends the items of list `now` that `old` does not have; returns whether there were any.
template <class... Path>
bool AddItems(const Value& old, const Value& now, Object& object, const Path&... path) {
  runtime::ListBuilder items(object.arena());
  for (const Value& item : old.items()) items.Add(item);
  for (const Value& item : now.items()) {
    if (std::ranges::find(old.items(), item) == old.items().end()) {
      items.Add(Copy(item, object.arena()));
    }
  }
  if (items.size() == old.size()) return false;
  object.Edit(path...) = items.Build();
  return true;
}

// Returns whether the stored `object` had to be changed to have everything that is expected.
// Permissions are added, never removed: an administrator may have given more. Follows
// ReconcileRoleOptions of component-helpers/auth/rbac/reconciliation.
bool Complete(const BootstrapRole& role, const Object& expected, Object& object) {
  bool changed = AddMetadata(expected, object);
  std::vector<PolicyRule> rules = RulesOf(object["rules"]);
  const std::vector<PolicyRule> missing = authz::rbac::NotCovered(rules, role.rules);
  if (!missing.empty()) {
    rules.insert(rules.end(), missing.begin(), missing.end());
    object.Edit("rules") = ToValue(rules, object.arena());
    changed = true;
  }
  // A rule for aggregation would let the controller replace the rules that were just completed.
  if (!role.aggregated && !object["aggregationRule"].is_null()) {
    object.Erase("aggregationRule");
    return true;
  }
  const auto selectors = [](const Object& of) {
    return of["aggregationRule"]["clusterRoleSelectors"];
  };
  return AddItems(selectors(object), selectors(expected), object, "aggregationRule",
                  "clusterRoleSelectors") ||
         changed;
}

// Subjects are added, never removed.
bool Complete(const BootstrapBinding& /*binding*/, const Object& expected, Object& object) {
  const bool changed = AddMetadata(expected, object);
  return AddItems(object["subjects"], expected["subjects"], object, "subjects") || changed;
}

// Reconciles one object, once. `again`: it has changed meanwhile.
template <class Bootstrap>
// Follows ReconcileRoleOptions.Run and ReconcileRoleBindingOptions.Run: get, then create, replace
// or update.
Status ReconcileOnce(client::Client& client, const Context& ctx, const char* resource,
                     const Bootstrap& bootstrap, bool& again) {
  const auto expected = Expected(bootstrap);
  const client::Target target = TargetOf(resource, bootstrap, std::string(expected->name()));
  const auto create = [&]() -> Status {
    Status created = client.Create(ctx, TargetOf(resource, bootstrap), *expected).status();
    again = created.reason() == Reason::kAlreadyExists;
    return created;
  };
  auto stored = client.Get(ctx, target);
  if (stored.status().reason() == Reason::kNotFound) return create();
  RETURN_IF_ERROR(stored.status());
  Object& object = **stored;
  // An administrator's way to keep changes to a bootstrap object.
  if (object.annotations()[kAutoUpdate].AsString() == "false") return {};
  // A roleRef cannot be updated, so the binding is replaced; the uid protects a newer one.
  if (object["roleRef"] != (*expected)["roleRef"]) {
    const std::string uid(object.uid());
    meta::DeleteOptions options;
    options.preconditions.uid = uid;
    Status deleted = client.Delete(ctx, target, options).status();
    again = deleted.reason() == Reason::kConflict;
    if (!deleted.ok() && deleted.reason() != Reason::kNotFound) return deleted;
    return create();
  }
  if (!Complete(bootstrap, *expected, object)) return {};
  Status updated = client.Update(ctx, target, object).status();
  // Another server may start at the same time, and reconcile the same objects.
  again = updated.reason() == Reason::kNotFound || updated.reason() == Reason::kConflict;
  return updated;
}

template <class Bootstrap>
Status ReconcileAll(client::Client& client, const Context& ctx, const char* resource,
                    const std::vector<Bootstrap>& all) {
  // In order, and the first error ends it: the start-up hook tries all again.
  for (const Bootstrap& bootstrap : all) {
    Status status;
    bool again = true;
    for (int attempt = 0; again && attempt < kAttempts; ++attempt) {
      again = false;
      status = ReconcileOnce(client, ctx, resource, bootstrap, again);
    }
    RETURN_IF_ERROR(status);
  }
  return {};
}

// Follows tryEnsureNamespace of component-helpers/auth/rbac/reconciliation.
Status EnsureNamespace(client::Client& client, const Context& ctx, const std::string& name) {
  Status found = client.Get(ctx, Namespaces(name)).status();
  if (found.reason() != Reason::kNotFound) return found;
  Object object(runtime::Kind::Untyped({"", "v1", "Namespace"}), "v1");
  object.Edit("metadata", "name") = name;
  Status made = client.Create(ctx, Namespaces(), object).status();
  return made.reason() == Reason::kAlreadyExists ? Status() : made;
}

Status ReconcileNamespaces(client::Client& client, const Context& ctx) {
  for (const std::string& name : BootstrapNamespaces()) {
    RETURN_IF_ERROR(EnsureNamespace(client, ctx, name));
  }
  RETURN_IF_ERROR(ReconcileAll(client, ctx, "roles", BootstrapRolesInNamespaces()));
  return ReconcileAll(client, ctx, "rolebindings", BootstrapBindingsInNamespaces());
}

}  // namespace

// Roles first: a binding to a role that does not exist grants nothing, but is reported as an error
// for each request.
Status Reconcile(client::Client& client, const Context& ctx, bool namespaces) {
  RETURN_IF_ERROR(ReconcileAll(client, ctx, "roles", BootstrapRoles()));
  RETURN_IF_ERROR(ReconcileAll(client, ctx, "rolebindings", BootstrapBindings()));
  return namespaces ? ReconcileNamespaces(client, ctx) : Status();
}

}  // namespace apiserver::v0::groups::rbac
