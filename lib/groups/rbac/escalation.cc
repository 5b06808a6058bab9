#include "groups/rbac/escalation.h"

#include <string>
#include <utility>

#include "apiserver/authz/escalation.h"
#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "groups/rbac/convert.h"
#include "groups/rbac/forwarding_store.h"

namespace apiserver::v0::groups::rbac {
namespace {

using authz::rbac::ConfirmNoEscalation;
using authz::rbac::PolicyRule;
using runtime::Object;
using runtime::Value;

// Returns the authenticated user. Null: there is none, and the server itself writes.
auth::UserInfoPtr Asking(const Context& ctx) {
  const auth::UserInfoPtr* const user = ctx.Get<auth::UserInfoPtr>();
  return user == nullptr ? nullptr : *user;
}

Status ForbiddenIn(const Object& object, std::string_view name, std::string_view why) {
  return meta::NewForbidden(object.kind().group_resource(), name, why);
}

// True if the update changes only fields that the garbage collector changes before a deletion.
bool OnlyForGarbageCollector(const Object& now, const Object& old) {
  const auto copy = now.Clone();
  for (const char* field : {"ownerReferences", "finalizers", "managedFields"}) {
    const Value before = old.metadata()[field];
    if (before.is_null()) {
      copy->Erase("metadata", field);
    } else {
      copy->Edit("metadata", field) = before;
    }
  }
  return copy->root() == old.root();
}

// Decides if a write grants too much.
// Follows EscalationAllowed and RoleEscalationAuthorized of pkg/registry/rbac: a user may only
// grant rights that it has, unless a verb allows more.
class Guard {
 public:
  explicit Guard(Powers powers) : powers_(std::move(powers)) {}
  virtual ~Guard() = default;

  // Checks a write. `old` is null for a create; `name` is the one in the URL, empty for a POST.
  // kForbidden: it grants too much. Other errors are those of the authorizer.
  Status Check(const Context& ctx, std::string_view name, const Object& now,
               const Object* old) const {
    const auth::UserInfoPtr user = Asking(ctx);
    // system:masters may do everything, whatever RBAC says; so it cannot gain rights by a write.
    if (!user || user->InGroup(auth::kSystemPrivilegedGroup)) return {};
    if (old != nullptr && OnlyForGarbageCollector(now, *old)) return {};
    return Decide(ctx, {user, name, now, old});
  }

 protected:
  struct Write {
    const auth::UserInfoPtr& user;
    std::string_view name;
    const Object& now;
    const Object* old;
  };
  virtual Status Decide(const Context& ctx, const Write& write) const = 0;

  const Powers& powers() const { return powers_; }

  // An error of the authorizer counts as a denial, as upstream.
  Result<bool> May(const Context& ctx, const auth::Attributes& asked) const {
    const Result<auth::Verdict> verdict = powers_.authorizer->Authorize(ctx, asked);
    if (!verdict.ok()) {
      // Not a denial: the request goes on where it may block.
      if (verdict.status().reason() == Reason::kWouldBlock) return verdict.status();
      return false;
    }
    return verdict->decision == auth::Decision::kAllow;
  }

 private:
  const Powers powers_;
};

class RoleGuard final : public Guard {
 public:
  using Guard::Guard;

 protected:
  Status Decide(const Context& ctx, const Write& write) const override {
    const std::string ns(rest::NamespaceOf(ctx));
    ASSIGN_OR_RETURN(const bool may_escalate, May(ctx, {.user = write.user,
                                                        .verb = "escalate",
                                                        .resource_request = true,
                                                        .group = authz::rbac::kGroupName,
                                                        .version = "*",
                                                        .resource = write.now.kind().plural(),
                                                        .namespace_ = ns,
                                                        .name = write.name}));
    if (may_escalate) return {};
    Status held =
        ConfirmNoEscalation(ctx, *powers().rbac, *write.user, ns, RulesOf(write.now["rules"]));
    if (held.reason() == Reason::kTimeout) return held;
    if (!held.ok()) return ForbiddenIn(write.now, write.now.name(), held.message());
    // An aggregated role can get any rules, now or later.
    if (!Aggregates(write.now) && !(write.old != nullptr && Aggregates(*write.old))) return {};
    // The rules of cluster-admin.
    const std::vector<PolicyRule> everything{
        {.verbs = {"*"}, .api_groups = {"*"}, .resources = {"*"}},
        {.verbs = {"*"}, .non_resource_urls = {"*"}}};
    if (ConfirmNoEscalation(ctx, *powers().rbac, *write.user, ns, everything).ok()) return {};
    return ForbiddenIn(write.now, write.now.name(),
                       "must have cluster-admin privileges to use the aggregationRule");
  }

 private:
  static bool Aggregates(const Object& role) {
    return role["aggregationRule"]["clusterRoleSelectors"].size() > 0;
  }
};

// Follows pkg/registry/rbac/rolebinding/policybased: "bind" on the role, or all of its rules.
class BindingGuard final : public Guard {
 public:
  using Guard::Guard;

 protected:
  Status Decide(const Context& ctx, const Write& write) const override {
    const std::string ns(rest::NamespaceOf(ctx));
    const authz::rbac::RoleRef role = RoleRefOf(write.now["roleRef"]);
    ASSIGN_OR_RETURN(const bool may_bind, MayBind(ctx, write, role, ns));
    if (may_bind) return {};
    ASSIGN_OR_RETURN(const std::vector<PolicyRule> rules, Rules(ctx, role, ns));
    Status held = ConfirmNoEscalation(ctx, *powers().rbac, *write.user, ns, rules);
    if (held.reason() == Reason::kTimeout) return held;
    if (!held.ok()) return ForbiddenIn(write.now, write.now.name(), held.message());
    return {};
  }

 private:
  Result<bool> MayBind(const Context& ctx, const Write& write, const authz::rbac::RoleRef& role,
                       std::string_view ns) const {
    // Without a resource to ask about, Rules() makes the error.
    if (role.kind != "ClusterRole" && role.kind != "Role") return false;
    return May(ctx, {.user = write.user,
                     .verb = "bind",
                     .resource_request = true,
                     .group = write.now["roleRef"]["apiGroup"].AsString(),
                     .version = "*",
                     .resource = role.kind == "Role" ? "roles" : "clusterroles",
                     .namespace_ = ns,
                     .name = role.name});
  }

  Result<std::vector<PolicyRule>> Rules(const Context& ctx, const authz::rbac::RoleRef& role,
                                        const std::string& ns) const {
    const bool cluster = role.kind == "ClusterRole";
    if (!cluster && role.kind != "Role") {
      return Status(Reason::kInternalError,
                    "unsupported role reference kind: " + field::Quote(role.kind));
    }
    if (!cluster && ns.empty()) {
      return Status(Reason::kInternalError, "must provide namespace when getting role");
    }
    // The store does not authorize: the user need not have read access to the role.
    Context reading = Context::Child(ctx);
    reading.Set(rest::Namespace{cluster ? "" : ns});
    registry::Store& store = cluster ? *powers().cluster_roles : *powers().roles;
    ASSIGN_OR_RETURN(const runtime::ObjectPtr found, store.Get(reading, role.name, {}));
    return RulesOf((*found)["rules"]);
  }
};

// Checks inside the update, since only the store knows the object that an update starts from.
class CheckedUpdate final : public rest::UpdatedObjectInfo {
 public:
  CheckedUpdate(const rest::UpdatedObjectInfo& inner, const Guard& guard, std::string_view name)
      : inner_(inner), guard_(guard), name_(name) {}

  meta::Preconditions GetPreconditions() const override { return inner_.GetPreconditions(); }
  Result<std::unique_ptr<Object>> UpdatedObject(const Context& ctx,
                                                const runtime::ObjectPtr& old) const override {
    ASSIGN_OR_RETURN(std::unique_ptr<Object> now, inner_.UpdatedObject(ctx, old));
    RETURN_IF_ERROR(guard_.Check(ctx, name_, *now, old.get()));
    return now;
  }

 private:
  const rest::UpdatedObjectInfo& inner_;
  const Guard& guard_;
  const std::string_view name_;
};

// Runs the guard before each write that may grant rights; reads and deletes pass.
class GuardedStore final : public ForwardingStore {
 public:
  GuardedStore(std::shared_ptr<registry::Store> inner, std::unique_ptr<const Guard> guard)
      : ForwardingStore(std::move(inner)), guard_(std::move(guard)) {}

  Result<runtime::ObjectPtr> Create(const Context& ctx, std::unique_ptr<Object> object,
                                    const rest::ValidateObject& validate,
                                    const meta::CreateOptions& options) override {
    RETURN_IF_ERROR(guard_->Check(ctx, "", *object, nullptr));
    return ForwardingStore::Create(ctx, std::move(object), validate, options);
  }

  void CreateAsync(const Context& ctx, std::unique_ptr<Object> object,
                   const rest::ValidateObject& validate, const meta::CreateOptions& options,
                   Done done) override {
    Status checked = guard_->Check(ctx, "", *object, nullptr);
    if (!checked.ok()) {
      return done({.object = nullptr,
                   .error = [checked = std::move(checked)](const Context&) { return checked; }});
    }
    ForwardingStore::CreateAsync(ctx, std::move(object), validate, options, std::move(done));
  }

  Result<rest::UpdateResult> Update(const Context& ctx, std::string_view name,
                                    const rest::UpdateRequest& request) override {
    const CheckedUpdate checked(request.info, *guard_, name);
    return ForwardingStore::Update(ctx, name,
                                   {checked, request.validate_create, request.validate_update,
                                    request.force_allow_create, request.options});
  }

 private:
  const std::unique_ptr<const Guard> guard_;
};

}  // namespace

// `powers` has the unguarded stores, which the checks read.
std::shared_ptr<registry::Store> NewGuardedRoles(std::shared_ptr<registry::Store> store,
                                                 Powers powers) {
  return std::make_shared<GuardedStore>(std::move(store),
                                        std::make_unique<RoleGuard>(std::move(powers)));
}

std::shared_ptr<registry::Store> NewGuardedBindings(std::shared_ptr<registry::Store> store,
                                                    Powers powers) {
  return std::make_shared<GuardedStore>(std::move(store),
                                        std::make_unique<BindingGuard>(std::move(powers)));
}

}  // namespace apiserver::v0::groups::rbac
