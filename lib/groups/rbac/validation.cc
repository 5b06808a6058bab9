#include "groups/rbac/validation.h"

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/authz/rbac.h"
#include "apiserver/codec/json.h"
#include "apiserver/meta/label_selector_value.h"
#include "apiserver/meta/validation.h"

namespace apiserver::v0::groups::rbac {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;
using Words = std::vector<std::string>;

const Words& OwnGroup() {
  static const Words group{std::string(authz::rbac::kGroupName)};
  return group;
}

ErrorList ValidateMetadata(const runtime::Object& object) {
  return meta::ValidateObjectMeta(object.metadata(), object.kind().namespaced(),
                                  meta::ValidatePathSegmentName, Path("metadata"));
}

std::string PrintedUrls(const Value& urls) {
  std::string text;
  codec::AppendJson(urls, text);
  return text;
}

// Prints Go's internal type, whose fields have no JSON names.
std::string PrintedRoleRef(const Value& role_ref) {
  std::string text = R"({"APIGroup":)";
  codec::AppendJsonString(role_ref["apiGroup"].AsString(), text);
  text += R"(,"Kind":)";
  codec::AppendJsonString(role_ref["kind"].AsString(), text);
  text += R"(,"Name":)";
  codec::AppendJsonString(role_ref["name"].AsString(), text);
  return text + "}";
}

// Follows ValidatePolicyRule of pkg/apis/rbac/validation.
void CheckRule(const Value& rule, bool namespaced, const Path& path, ErrorList& errors) {
  if (rule["verbs"].size() == 0) {
    errors.Required(path.Child("verbs"), "verbs must contain at least one value");
  }
  const Value urls = rule["nonResourceURLs"];
  if (urls.size() > 0) {
    const Path at = path.Child("nonResourceURLs");
    // A namespaced role cannot grant paths, which have no namespace.
    if (namespaced) {
      errors.InvalidPrinted(at, PrintedUrls(urls),
                            "namespaced rules cannot apply to non-resource URLs");
    }
    if (rule["apiGroups"].size() + rule["resources"].size() + rule["resourceNames"].size() > 0) {
      errors.InvalidPrinted(at, PrintedUrls(urls),
                            "rules cannot apply to both regular resources and non-resource URLs");
    }
    return;
  }
  if (rule["apiGroups"].size() == 0) {
    errors.Required(path.Child("apiGroups"), "resource rules must supply at least one api group");
  }
  if (rule["resources"].size() == 0) {
    errors.Required(path.Child("resources"), "resource rules must supply at least one resource");
  }
}

// Follows the part on RoleRef of ValidateRoleBinding and ValidateClusterRoleBinding.
void CheckRoleRef(const Value& role_ref, bool namespaced, ErrorList& errors) {
  const Path path("roleRef");
  const std::string_view group = role_ref["apiGroup"].AsString();
  if (group != authz::rbac::kGroupName) {
    errors.NotSupported(path.Child("apiGroup"), group, OwnGroup());
  }
  const std::string_view kind = role_ref["kind"].AsString();
  // A ClusterRoleBinding cannot name a Role, which is in one namespace.
  if (kind != "ClusterRole" && !(namespaced && kind == "Role")) {
    errors.NotSupported(path.Child("kind"), kind,
                        namespaced ? Words{"Role", "ClusterRole"} : Words{"ClusterRole"});
  }
  const std::string_view name = role_ref["name"].AsString();
  if (name.empty()) return errors.Required(path.Child("name"));
  for (const std::string& complaint : meta::ValidatePathSegmentName(name, false)) {
    errors.Invalid(path.Child("name"), name, complaint);
  }
}

void CheckServiceAccount(const Value& subject, bool namespaced, const Path& path,
                         ErrorList& errors) {
  const std::string_view name = subject["name"].AsString();
  if (!name.empty()) {
    for (const std::string& complaint : meta::NameIsDNSSubdomain(name, false)) {
      errors.Invalid(path.Child("name"), name, complaint);
    }
  }
  // Service accounts are in the legacy group, whose name is empty.
  if (subject["apiGroup"].size() > 0) {
    errors.NotSupported(path.Child("apiGroup"), subject["apiGroup"].AsString(), {""});
  }
  // A RoleBinding's namespace is the default for its subjects, but a cluster has none.
  if (!namespaced && subject["namespace"].size() == 0) errors.Required(path.Child("namespace"));
}

// Follows ValidateRoleBindingSubject and ValidateClusterRoleBindingSubject.
void CheckSubjectOfBinding(const Value& subject, bool namespaced, const Path& path,
                           ErrorList& errors) {
  const std::string_view kind = subject["kind"].AsString();
  const bool unnamed = subject["name"].size() == 0;
  // As upstream, an absent name gives two errors for users and groups.
  if (unnamed) errors.Required(path.Child("name"));
  if (kind == authz::rbac::kServiceAccountKind) {
    return CheckServiceAccount(subject, namespaced, path, errors);
  }
  const bool user = kind == authz::rbac::kUserKind;
  if (!user && kind != authz::rbac::kGroupKind) {
    return errors.NotSupported(path.Child("kind"), kind, {"ServiceAccount", "User", "Group"});
  }
  if (unnamed) {
    errors.Invalid(path.Child("name"), "",
                   user ? "user name cannot be empty" : "group name cannot be empty");
  }
  const std::string_view group = subject["apiGroup"].AsString();
  if (group != authz::rbac::kGroupName) {
    errors.NotSupported(path.Child("apiGroup"), group, OwnGroup());
  }
}

}  // namespace

// Ends early once enough errors are found: a role may have thousands of rules.
ErrorList ValidateRole(const runtime::Object& role) {
  ErrorList errors = ValidateMetadata(role);
  std::size_t index = 0;
  for (const Value& rule : role["rules"].items()) {
    if (errors.full()) break;
    CheckRule(rule, role.kind().namespaced(), Path("rules").Index(index++), errors);
  }
  index = 0;
  const Path selectors = Path("aggregationRule").Child("clusterRoleSelectors");
  const Value aggregation = role["aggregationRule"];
  if (!aggregation.is_null() && aggregation["clusterRoleSelectors"].size() == 0) {
    errors.Required(selectors,
                    "at least one clusterRoleSelector required if aggregationRule is non-nil");
  }
  for (const Value& selector : aggregation["clusterRoleSelectors"].items()) {
    if (errors.full()) break;
    errors.Append(meta::ValidateLabelSelector(selector, {}, selectors.Index(index++)));
  }
  return errors;
}

// The role that is named need not exist.
ErrorList ValidateBinding(const runtime::Object& binding) {
  const bool namespaced = binding.kind().namespaced();
  ErrorList errors = ValidateMetadata(binding);
  CheckRoleRef(binding["roleRef"], namespaced, errors);
  std::size_t index = 0;
  for (const Value& subject : binding["subjects"].items()) {
    if (errors.full()) break;
    CheckSubjectOfBinding(subject, namespaced, Path("subjects").Index(index++), errors);
  }
  return errors;
}

ErrorList ValidateRoleUpdate(const runtime::Object& now, const runtime::Object& before) {
  ErrorList errors = ValidateRole(now);
  errors.Append(
      meta::ValidateObjectMetaUpdate(now.metadata(), before.metadata(), Path("metadata")));
  return errors;
}

ErrorList ValidateBindingUpdate(const runtime::Object& now, const runtime::Object& before) {
  ErrorList errors = ValidateBinding(now);
  errors.Append(
      meta::ValidateObjectMetaUpdate(now.metadata(), before.metadata(), Path("metadata")));
  // The subjects of a binding may be managed by other users than those that chose its role.
  if (now["roleRef"] != before["roleRef"]) {
    errors.InvalidPrinted(Path("roleRef"), PrintedRoleRef(now["roleRef"]), "cannot change roleRef");
  }
  return errors;
}

}  // namespace apiserver::v0::groups::rbac
