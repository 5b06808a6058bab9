#include "groups/admissionregistration/policy_access.h"

#include <string>
#include <vector>

#include "base/status_macros.h"
#include "codec/type_meta.h"

namespace apiserver::v0::groups::admissionregistration {

namespace {

using runtime::Value;

// Returns the user to check. Null: everything is allowed.
auth::UserInfoPtr UserToCheck(const Context& ctx) {
  const auth::UserInfoPtr* const user = ctx.Get<auth::UserInfoPtr>();
  if (user == nullptr || *user == nullptr) return nullptr;
  return (*user)->InGroup(auth::kSystemPrivilegedGroup) ? nullptr : *user;
}

std::string Listed(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& each : texts) all += (all.empty() ? "" : " ") + each;
  return "[" + all + "]";
}

// Prints as Go's %v of a user.DefaultInfo.
std::string Printed(const auth::UserInfo& user) {
  std::string extra;
  for (const auto& [key, values] : user.extra) {
    extra += (extra.empty() ? "" : " ") + key + ":" + Listed(values);
  }
  return "&{" + user.name + " " + user.uid + " " + Listed(user.groups) + " map[" + extra + "]}";
}

// Prints as Go's %v of a ParamKind.
std::string PrintedKind(const Value& kind) {
  return "&{" + std::string(kind["apiVersion"].AsString()) + " " +
         std::string(kind["kind"].AsString()) + "}";
}

// The resource that a user must be able to read, "*" as far as it is not known.
struct Required {
  std::string group = "*";
  std::string version = "*";
  std::string resource = "*";
  Status parsed = {};
  Status resolved = {};
};

Required RequiredFor(const Context& ctx, const ParamAccessOptions& options, const Value& kind) {
  Required required;
  const auto parsed = codec::ParseGroupVersion(kind["apiVersion"].AsString());
  required.parsed = parsed.status();
  if (!parsed.ok()) return required;
  required.group = parsed->group;
  required.version = parsed->version;
  if (!options.resolve) {
    required.resolved = Status(Reason::kNotFound, "kinds cannot be resolved");
    return required;
  }
  const auto resource =
      options.resolve(ctx, {parsed->group, parsed->version, std::string(kind["kind"].AsString())});
  required.resolved = resource.status();
  if (resource.ok()) required.resource = resource->resource;
  return required;
}

}  // namespace

Status ParamAccess::CheckPolicy(const Context& ctx, const runtime::Object& policy,
                                const runtime::Object* old) const {
  const Value kind = policy["spec"]["paramKind"];
  if (kind.is_null() || options_.authorizer == nullptr) return {};
  if (old != nullptr && (*old)["spec"]["paramKind"] == kind) return {};
  const auth::UserInfoPtr user = UserToCheck(ctx);
  if (!user) return {};
  const Required required = RequiredFor(ctx, options_, kind);
  ASSIGN_OR_RETURN(const auth::Verdict verdict,
                   options_.authorizer->Authorize(ctx, {.user = user,
                                                        .verb = "get",
                                                        .resource_request = true,
                                                        .group = required.group,
                                                        .version = required.version,
                                                        .resource = required.resource,
                                                        .namespace_ = "*",
                                                        .name = "*"}));
  if (verdict.decision == auth::Decision::kAllow) return {};
  return {Reason::kForbidden,
          "user " + Printed(*user) +
              R"( must have "get" permission on all objects of the referenced paramKind (kind=)" +
              std::string(kind["kind"].AsString()) +
              ", apiVersion=" + std::string(kind["apiVersion"].AsString()) + ")"};
}

Status ParamAccess::CheckBinding(const Context& ctx, const runtime::Object& binding) const {
  // An update is checked even if it keeps the paramRef: upstream compares pointers there.
  const Value ref = binding["spec"]["paramRef"];
  if (ref.is_null() || options_.authorizer == nullptr) return {};
  const auth::UserInfoPtr user = UserToCheck(ctx);
  if (!user) return {};
  const std::string_view policy_name = binding["spec"]["policyName"].AsString();
  const Result<runtime::ObjectPtr> policy =
      options_.policy ? options_.policy(ctx, policy_name)
                      : Status(Reason::kNotFound, "policies cannot be read");
  const Value kind = policy.ok() ? (**policy)["spec"]["paramKind"] : Value();
  const Required required = kind.is_null() ? Required() : RequiredFor(ctx, options_, kind);
  const std::string_view name = ref["name"].AsString();
  const std::string verb = name.empty() ? "list" : "get";
  const auto verdict =
      options_.authorizer->Authorize(ctx, {.user = user,
                                           .verb = verb,
                                           .resource_request = true,
                                           .group = required.group,
                                           .version = required.version,
                                           .resource = required.resource,
                                           .namespace_ = ref["namespace"].AsString(),
                                           .name = name});
  if (!verdict.ok()) {
    return verdict.status().WithMessage("failed to authorize request: " +
                                        std::string(verdict.status().message()));
  }
  if (verdict->decision == auth::Decision::kAllow) return {};
  const std::string need = " to determine minimum required permissions and user " + Printed(*user) +
                           R"( does not have ")" + verb +
                           R"(" permission for all groups, versions and resources)";
  std::string why = "user " + Printed(*user) + R"( does not have ")" + verb +
                    R"(" permission on the object referenced by paramRef)";
  if (!policy.ok()) why = "unable to get policy " + std::string(policy_name) + need;
  if (!required.parsed.ok()) why = "unable to parse paramKind " + PrintedKind(kind) + need;
  if (!required.resolved.ok()) why = "unable to resolve paramKind " + PrintedKind(kind) + need;
  return {Reason::kForbidden, std::move(why)};
}

}  // namespace apiserver::v0::groups::admissionregistration
