#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "apiserver/authz/rbac.h"
#include "apiserver/base/field_path.h"
#include "apiserver/base/sync.h"
#include "apiserver/meta/errors.h"
#include "authz/aggregate.h"
#include "authz/rbac/cow_map.h"
#include "authz/rbac/decision_cache.h"
#include "authz/rbac/role_index.h"

namespace apiserver::v0::authz::rbac {

// The grant of a binding to one of its subjects. Immutable. A request finds the grants to its user
// and to its groups by their keys, so bindings to others cost it nothing.
struct Grant {
  std::shared_ptr<const Binding> binding;
  std::size_t subject = 0;
  bool has_role = false;  // The role's kind is one that exists.
  std::string_view role_namespace;
  std::uint64_t role_hash = 0;
  std::string reason;
};

namespace {

using auth::Decision;
using auth::Verdict;

// Sorts of keys.
constexpr char kRoleSort = 'r';
constexpr char kBindingSort = 'b';
constexpr char kUserSort = 'u';  // Includes service accounts, which are users.
constexpr char kGroupSort = 'g';

using Grants = std::vector<std::shared_ptr<const Grant>>;  // Sorted by the binding's name.

std::string Describe(const Subject& subject, std::string_view binding_namespace) {
  std::string name = subject.name;
  if (subject.kind == kServiceAccountKind) {
    name.append("/").append(subject.namespace_.empty() ? binding_namespace : subject.namespace_);
  }
  return subject.kind + " " + field::Quote(name);
}

// As upstream says it: `RoleBinding "name/namespace"`.
std::string ReasonOf(const Binding& binding, const Subject& subject) {
  const bool cluster = binding.namespace_.empty();
  return std::string("RBAC: allowed by ") +
         (cluster ? "ClusterRoleBinding " + field::Quote(binding.name)
                  : "RoleBinding " + field::Quote(binding.name + "/" + binding.namespace_)) +
         " of " + binding.role.kind + " " + field::Quote(binding.role.name) + " to " +
         Describe(subject, binding.namespace_);
}

// Returns the user name of a service account; empty: it has none.
std::string ServiceAccountUser(const Subject& subject, std::string_view binding_namespace) {
  const std::string_view ns = subject.namespace_.empty() ? binding_namespace : subject.namespace_;
  if (ns.empty()) return "";
  return "system:serviceaccount:" + std::string(ns) + ":" + subject.name;
}

// Only needed to name the first subject of an allowing binding; the index has found the binding.
bool AppliesTo(const Subject& subject, const auth::UserInfo& user,
               std::string_view binding_namespace) {
  if (subject.kind == kUserKind) return user.name == subject.name;
  if (subject.kind == kGroupKind) return user.InGroup(subject.name);
  if (subject.kind != kServiceAccountKind) return false;
  const std::string name = ServiceAccountUser(subject, binding_namespace);
  return !name.empty() && user.name == name;
}

// Finds the namespace of a binding's role; false: there is no such role.
bool RoleNamespace(const RoleRef& role, std::string_view binding_namespace,
                   std::string_view& role_namespace) {
  role_namespace = role.kind == "Role" ? binding_namespace : std::string_view();
  // A Role without namespace would be taken for the ClusterRole of its name.
  return role.kind == "ClusterRole" || (role.kind == "Role" && !binding_namespace.empty());
}

// Upstream's message of GetRoleReferenceRules; it becomes part of a denial's reason.
Status NoSuchRole(const RoleRef& role) {
  if (role.kind != "Role" && role.kind != "ClusterRole") {
    return Status(Reason::kInvalid, "unsupported role reference kind: " + field::Quote(role.kind));
  }
  const char* const resource = role.kind == "Role" ? "role" : "clusterrole";
  return meta::NewNotFound({std::string(kGroupName), resource}, role.name);
}

// A state of all roles and bindings; immutable once it is published.
struct Snapshot {
  CowMap<RoleIndex> roles;
  CowMap<Binding> bindings;
  CowMap<Grants> grants;
  DecisionCache decisions = {};  // A changed snapshot starts without any.

  const RoleIndex* RoleOf(const Grant& grant) const {
    if (!grant.has_role) return nullptr;
    return roles.FindHashed({kRoleSort, grant.role_namespace, grant.binding->role.name},
                            grant.role_hash);
  }
  // Calls `visit` with each grant to `user` in exactly `namespace_`, until it returns false;
  // several times for a binding if the user matches several of its subjects. Returns false if
  // `visit` did.
  template <class Visit>
  bool ForEachGrant(const auth::UserInfo& user, std::string_view namespace_,
                    const Visit& visit) const {
    const auto each = [&](char sort, std::string_view name) {
      const Grants* const found = grants.Find({sort, namespace_, name});
      return found == nullptr ||
             std::ranges::all_of(*found, [&](const auto& grant) { return visit(*grant); });
    };
    return each(kUserSort, user.name) && std::ranges::all_of(user.groups, [&](const auto& group) {
             return each(kGroupSort, group);
           });
  }
  // The same cluster-wide, then in `namespace_`, unless that is empty.
  template <class Visit>
  bool ForEachGrantUpTo(const auth::UserInfo& user, std::string_view namespace_,
                        const Visit& visit) const {
    return ForEachGrant(user, "", visit) &&
           (namespace_.empty() || ForEachGrant(user, namespace_, visit));
  }
};

// Calls `change` with the key of each subject and the binding's grant to it.
template <class Change>
void ForEachSubject(const Binding& binding, const Change& change) {
  for (std::size_t i = 0; i < binding.subjects.size(); ++i) {
    const Subject& subject = binding.subjects[i];
    if (subject.kind == kGroupKind) {
      change(Key{kGroupSort, binding.namespace_, subject.name}, i);
    } else if (subject.kind == kUserKind) {
      change(Key{kUserSort, binding.namespace_, subject.name}, i);
    } else if (subject.kind == kServiceAccountKind) {
      const std::string user = ServiceAccountUser(subject, binding.namespace_);
      if (!user.empty()) change(Key{kUserSort, binding.namespace_, user}, i);
    }
  }
}

// Grants are copied before they change: requests may read the old snapshot meanwhile.
void Withdraw(const std::shared_ptr<const Binding>& binding, Snapshot& snapshot) {
  ForEachSubject(*binding, [&](const Key& key, std::size_t /*subject*/) {
    const Grants* const old = snapshot.grants.Find(key);
    if (old == nullptr) return;  // A subject that the binding has twice.
    auto grants = std::make_shared<Grants>(*old);
    std::erase_if(*grants, [&](const auto& grant) { return grant->binding == binding; });
    snapshot.grants.Set(key, grants->empty() ? nullptr : std::move(grants));
  });
}

void Give(const std::shared_ptr<const Binding>& binding, Snapshot& snapshot) {
  std::string_view role_namespace;
  const bool has_role = RoleNamespace(binding->role, binding->namespace_, role_namespace);
  const std::uint64_t role_hash = Key{kRoleSort, role_namespace, binding->role.name}.Hash();
  ForEachSubject(*binding, [&](const Key& key, std::size_t subject) {
    const Grants* const old = snapshot.grants.Find(key);
    auto grants = old == nullptr ? std::make_shared<Grants>() : std::make_shared<Grants>(*old);
    // Sorted by the binding's name, so that the reason of a verdict does not depend on the order of
    // events.
    const auto at = std::ranges::upper_bound(
        *grants, binding->name, {},
        [](const auto& grant) -> const std::string& { return grant->binding->name; });
    // The binding has it twice.
    if (at != grants->begin() && (*std::prev(at))->binding == binding) return;
    grants->insert(at, std::make_shared<const Grant>(
                           Grant{.binding = binding,
                                 .subject = subject,
                                 .has_role = has_role,
                                 .role_namespace = role_namespace,
                                 .role_hash = role_hash,
                                 .reason = ReasonOf(*binding, binding->subjects[subject])}));
    snapshot.grants.Set(key, std::move(grants));
  });
}

// The most text of rules that a review lists; a user can have a thousand bindings to roles of a
// megabyte.
constexpr std::size_t kListedBytesMax = std::size_t{4} << 20;

// An estimate of memory, short strings included; exact enough for a limit.
std::size_t BytesOf(const PolicyRule& rule) {
  std::size_t bytes = sizeof(rule);
  for (const auto* texts : {&rule.verbs, &rule.api_groups, &rule.resources, &rule.resource_names,
                            &rule.non_resource_urls}) {
    for (const std::string& text : *texts) bytes += sizeof(std::string) + text.size();
  }
  return bytes;
}

void AddListed(const PolicyRule& rule, auth::Rules& rules) {
  if (!rule.non_resource_urls.empty()) {
    rules.non_resource_rules.push_back({rule.verbs, rule.non_resource_urls});
  }
  if (!rule.resources.empty()) {
    rules.resource_rules.push_back(
        {rule.verbs, rule.api_groups, rule.resources, rule.resource_names});
  }
}

class IndexedRbac final : public RbacAuthorizer {
 public:
  void Upsert(Role role) override {
    auto index = std::make_shared<const RoleIndex>(std::move(role));
    const Key key{kRoleSort, index->role().namespace_, index->role().name};
    Change([&](Snapshot& snapshot) { snapshot.roles.Set(key, index); });
  }
  void DeleteRole(std::string_view namespace_, std::string_view name) override {
    Change([&](Snapshot& snapshot) { snapshot.roles.Set({kRoleSort, namespace_, name}, nullptr); });
  }
  void Upsert(Binding binding) override {
    const auto now = std::make_shared<const Binding>(std::move(binding));
    const Key key{kBindingSort, now->namespace_, now->name};
    Change([&](Snapshot& snapshot) {
      // Without this, an event that changes neither subjects nor role would copy all of the
      // binding's grants.
      const auto before = snapshot.bindings.FindShared(key);
      if (before && before->role == now->role && before->subjects == now->subjects) return;
      if (before) Withdraw(before, snapshot);
      snapshot.bindings.Set(key, now);
      Give(now, snapshot);
    });
  }
  void DeleteBinding(std::string_view namespace_, std::string_view name) override {
    const Key key{kBindingSort, namespace_, name};
    Change([&](Snapshot& snapshot) {
      const auto before = snapshot.bindings.FindShared(key);
      if (!before) return;
      Withdraw(before, snapshot);
      snapshot.bindings.Set(key, nullptr);
    });
  }

  // Never waits: looks for the decision among those remembered. Otherwise looks up the user and
  // each group, cluster-wide and in the namespace, and then asks the roles of their bindings.
  Result<Verdict> Authorize(const Context& /*ctx*/, const auth::Attributes& asked) const override {
    const auto snapshot = Current();
    const DecisionKey key(asked);
    if (const auto known = snapshot->decisions.Find(key)) {
      return *known != nullptr ? Allowed(**known, *asked.user) : Verdict{};
    }
    const Question question(asked);
    const Grant* allowing = nullptr;
    bool by_name = false;
    std::vector<std::string> errors;
    snapshot->ForEachGrantUpTo(*asked.user, asked.namespace_, [&](const Grant& grant) {
      const RoleIndex* const role = snapshot->RoleOf(grant);
      if (role == nullptr) {
        errors.emplace_back(NoSuchRole(grant.binding->role).message());
        return true;
      }
      by_name |= role->has_resource_names();
      if (role->Allows(question)) allowing = &grant;
      return allowing == nullptr;
    });
    // The key has no object's name, and the cache has no messages.
    if (!by_name && (allowing != nullptr || errors.empty())) snapshot->decisions.Add(key, allowing);
    if (allowing != nullptr) return Allowed(*allowing, *asked.user);
    if (errors.empty()) return Verdict{};
    return Verdict{.reason = "RBAC: " + Aggregate(errors)};
  }

  HeldRules HeldBy(const auth::UserInfo& user, std::string_view namespace_) const override {
    const auto snapshot = Current();
    HeldRules held;
    held.errors = ForEachHeldRole(*snapshot, user, namespace_, [&](const Role& role) {
      held.rules.insert(held.rules.end(), role.rules.begin(), role.rules.end());
    });
    return held;
  }

  // Does the same as HeldBy without copies: rules point into the snapshot, which `keep` holds.
  HeldRulesView ViewHeldBy(const auth::UserInfo& user, std::string_view namespace_) const override {
    const auto snapshot = Current();
    HeldRulesView held;
    std::unordered_set<const Role*> seen;
    held.errors = ForEachHeldRole(*snapshot, user, namespace_, [&](const Role& role) {
      if (!seen.insert(&role).second) return;
      for (const PolicyRule& rule : role.rules) held.rules.push_back(&rule);
    });
    held.keep = snapshot;
    return held;
  }

  // Two bindings to one role list its rules twice, as upstream.
  auth::Rules RulesFor(const Context& /*ctx*/, const auth::UserInfoPtr& user,
                       std::string_view namespace_) const override {
    const auto snapshot = Current();
    auth::Rules rules;
    std::size_t bytes = 0;
    const auto errors = ForEachHeldRole(*snapshot, *user, namespace_, [&](const Role& role) {
      for (const PolicyRule& rule : role.rules) {
        if (bytes > kListedBytesMax) {
          rules.incomplete = true;
          return;
        }
        bytes += BytesOf(rule);
        AddListed(rule, rules);
      }
    });
    rules.error = field::Shorten(Aggregate(errors));
    return rules;
  }

 private:
  // Calls `visit` with the role of each binding; returns the faults of bindings.
  // Each binding counts once, though the user may match several of its subjects.
  template <class Visit>
  static std::vector<std::string> ForEachHeldRole(const Snapshot& snapshot,
                                                  const auth::UserInfo& user,
                                                  std::string_view namespace_, const Visit& visit) {
    std::vector<std::string> errors;
    std::set<const Binding*> seen;
    snapshot.ForEachGrantUpTo(user, namespace_, [&](const Grant& grant) {
      if (!seen.insert(grant.binding.get()).second) return true;
      const RoleIndex* const role = snapshot.RoleOf(grant);
      if (role == nullptr) {
        errors.emplace_back(NoSuchRole(grant.binding->role).message());
      } else {
        visit(role->role());
      }
      return true;
    });
    return errors;
  }

  std::shared_ptr<const Snapshot> Current() const { return *current_.Lock(); }

  // Publishes the state that `change` makes from the current one. One call at a time.
  template <class Apply>
  // `changing_` is held for the whole change and `current_` only for the exchange, so that requests
  // never wait for a writer. The copy costs six short tables of pointers; see CowMap.
  void Change(const Apply& change) {
    const auto turn = changing_.Lock();
    auto snapshot = std::make_shared<Snapshot>(*Current());
    change(*snapshot);
    *current_.Lock() = std::move(snapshot);
  }

  // The reason names the first subject of the binding that matches, as upstream.
  static Verdict Allowed(const Grant& grant, const auth::UserInfo& user) {
    const Binding& binding = *grant.binding;
    for (std::size_t i = 0; i < grant.subject; ++i) {
      if (AppliesTo(binding.subjects[i], user, binding.namespace_)) {
        return {Decision::kAllow, ReasonOf(binding, binding.subjects[i])};
      }
    }
    return {Decision::kAllow, grant.reason};
  }

  struct Turn {};
  Guarded<Turn> changing_;
  Guarded<std::shared_ptr<const Snapshot>> current_{std::make_shared<const Snapshot>()};
};

}  // namespace

std::unique_ptr<RbacAuthorizer> NewRbacAuthorizer() { return std::make_unique<IndexedRbac>(); }

}  // namespace apiserver::v0::authz::rbac
