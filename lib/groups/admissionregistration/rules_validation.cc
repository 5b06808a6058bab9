#include "groups/admissionregistration/rules_validation.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/codec/json.h"

namespace apiserver::v0::groups::admissionregistration {

namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

bool HasWildcard(const Value& list) {
  return std::ranges::any_of(list.items(),
                             [](const Value& item) { return item.AsString() == "*"; });
}

// Prints the list as JSON, as Go's error does.
void InvalidList(const Value& list, const Path& path, std::string detail, ErrorList& errors) {
  std::string printed;
  codec::AppendJson(list, printed);
  errors.InvalidPrinted(path, std::move(printed), std::move(detail));
}

// As upstream, a star in company is refused: it would hide the others.
void CheckAlone(const Value& list, const Path& path, std::string_view what, ErrorList& errors) {
  if (list.size() < 2 || !HasWildcard(list)) return;
  InvalidList(list, path, "if '*' is present, must not specify other " + std::string(what), errors);
}

// The resources of a rule before the present one.
struct ResourcesSeen {
  std::set<std::string_view> all_subresources;  // "x/*".
  std::set<std::string_view> all_resources;     // "*/x".
  bool double_wildcard = false;
  bool wildcard = false;
  bool plain = false;  // True for the last one without a slash, as in Go.
};

// Follows validateResources of pkg/apis/admissionregistration/validation, entry by entry.
void CheckResource(std::string_view text, const Path& path, ResourcesSeen& seen,
                   ErrorList& errors) {
  if (text.empty()) return errors.Required(path);
  if (text == "*/*") seen.double_wildcard = true;
  if (text == "*") seen.wildcard = true;
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    seen.plain = text != "*";
    return;
  }
  const std::string_view resource = text.substr(0, slash);
  const std::string_view sub = text.substr(slash + 1);
  const std::string tail = " is present, must not specify " + std::string(text);
  // Checks only the resources before, as upstream: the order of the list matters.
  if (seen.all_subresources.contains(resource)) {
    errors.Invalid(path, text, "if '" + std::string(resource) + "/*'" + tail);
  }
  if (seen.all_resources.contains(sub)) {
    errors.Invalid(path, text, "if '*/" + std::string(sub) + "'" + tail);
  }
  if (sub == "*") seen.all_subresources.insert(resource);
  if (resource == "*") seen.all_resources.insert(sub);
}

void CheckResources(const Value& resources, const Path& path, ErrorList& errors) {
  if (resources.size() == 0) errors.Required(path);
  ResourcesSeen seen;
  for (std::size_t i = 0; i < resources.size() && !errors.full(); ++i) {
    CheckResource(resources.at(i).AsString(), path.Index(i), seen, errors);
  }
  if (resources.size() > 1 && seen.double_wildcard) {
    InvalidList(resources, path, "if '*/*' is present, must not specify other resources", errors);
  }
  if (seen.wildcard && seen.plain) {
    InvalidList(resources, path,
                "if '*' is present, must not specify other resources without subresources", errors);
  }
}

void CheckOperations(const Value& operations, const Path& path, ErrorList& errors) {
  static const std::vector<std::string> known = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"};
  if (operations.size() == 0) errors.Required(path);
  CheckAlone(operations, path, "operations", errors);
  for (std::size_t i = 0; i < operations.size() && !errors.full(); ++i) {
    const std::string_view operation = operations.at(i).AsString();
    if (std::ranges::find(known, operation) != known.end()) continue;
    errors.NotSupported(path.Index(i), operation, known);
  }
}

}  // namespace

void ValidateRuleWithOperations(const Value& rule, const Path& path, ErrorList& errors) {
  CheckOperations(rule["operations"], path.Child("operations"), errors);
  const Value groups = rule["apiGroups"];
  // An empty group is the legacy one, so only a missing list is an error.
  if (groups.size() == 0) errors.Required(path.Child("apiGroups"));
  CheckAlone(groups, path.Child("apiGroups"), "API groups", errors);
  const Value versions = rule["apiVersions"];
  if (versions.size() == 0) errors.Required(path.Child("apiVersions"));
  CheckAlone(versions, path.Child("apiVersions"), "API versions", errors);
  for (std::size_t i = 0; i < versions.size() && !errors.full(); ++i) {
    if (versions.at(i).size() == 0) errors.Required(path.Child("apiVersions").Index(i));
  }
  CheckResources(rule["resources"], path.Child("resources"), errors);
  const Value scope = rule["scope"];
  const std::vector<std::string> scopes = {"*", "Cluster", "Namespaced"};
  if (!scope.is_null() && std::ranges::find(scopes, scope.AsString()) == scopes.end()) {
    errors.NotSupported(path.Child("scope"), scope.AsString(), scopes);
  }
}

}  // namespace apiserver::v0::groups::admissionregistration
