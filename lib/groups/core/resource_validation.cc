#include "groups/core/resource_validation.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "apiserver/runtime/quantity.h"
#include "groups/core/checks.h"
#include "groups/core/resource_list.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Quantity;
using runtime::Value;

constexpr std::int64_t kMilli = 1000;
constexpr std::array<std::string_view, 9> kCounted = {"pods",
                                                      "resourcequotas",
                                                      "services",
                                                      "replicationcontrollers",
                                                      "secrets",
                                                      "configmaps",
                                                      "persistentvolumeclaims",
                                                      "services.nodeports",
                                                      "services.loadbalancers"};
constexpr std::array<std::string_view, 11> kMeasured = {
    "cpu",          "memory",          "ephemeral-storage",
    "requests.cpu", "requests.memory", "requests.ephemeral-storage",
    "limits.cpu",   "limits.memory",   "limits.ephemeral-storage",
    "storage",      "requests.storage"};

using CheckName = void (*)(std::string_view resource, const Path& path, ErrorList& errors);

Quantity ParseQuantity(Value value) {
  const auto parsed = Quantity::Parse(value.AsString());
  return parsed.ok() ? *parsed : Quantity();
}

bool IsStandard(std::string_view resource) {
  return std::ranges::find(kCounted, resource) != kCounted.end() ||
         std::ranges::find(kMeasured, resource) != kMeasured.end() || IsHugePages(resource) ||
         resource.starts_with("requests.hugepages-");
}

// Follows IsExtendedResourceName: of a domain of its own, and fit for a quota.
bool IsExtended(std::string_view resource) {
  constexpr std::string_view kRequests = "requests.";
  if (IsNativeResource(resource) || resource.starts_with(kRequests)) return false;
  return meta::IsQualifiedName(std::string(kRequests) + std::string(resource)).empty();
}

void CheckContainerResourceName(std::string_view resource, const Path& path, ErrorList& errors) {
  CheckResourceName(resource, path, errors);
  if (resource.find('/') == std::string_view::npos) {
    if (IsOneOf(resource, {"cpu", "memory", "ephemeral-storage"}) || IsHugePages(resource)) return;
    errors.Invalid(path, resource, "must be a standard resource for containers");
  } else if (!IsNativeResource(resource) && !IsExtended(resource)) {
    errors.Invalid(path, resource, "doesn't follow extended resource name standard");
  }
}

void CheckPodResourceName(std::string_view resource, const Path& path, ErrorList& errors) {
  const std::size_t before = errors.size();
  CheckResourceName(resource, path, errors);
  if (errors.size() != before || IsPodLevelResource(resource)) return;
  errors.NotSupported(path, resource, {"cpu", "hugepages-", "memory"});
}

// Pages are whole: the size is in the name.
void CheckHugePages(std::string_view resource, const Quantity& quantity, const Path& path,
                    ErrorList& errors) {
  if (!IsHugePages(resource)) return;
  constexpr std::string_view kPrefix = "hugepages-";
  const auto page = Quantity::Parse(resource.substr(kPrefix.size()));
  const bool sized = page.ok() && page->sign() > 0 && page->MilliValue() % kMilli == 0;
  if (sized && quantity.Value() % page->Value() == 0) return;
  errors.Invalid(
      path, quantity.ToString(),
      quantity.ToString() + " is not positive integer multiple of " + std::string(resource));
}

void CheckRequest(std::string_view resource, const Quantity& request, Value limits,
                  const Path& path, ErrorList& errors) {
  const Value* const limit_value = limits.Find(resource);
  const bool overcommit = IsOvercommitAllowed(resource);
  if (limit_value == nullptr) {
    if (!overcommit) {
      errors.Required(path.Child("limits"), "Limit must be set for non overcommitable resources");
    }
    return;
  }
  const Quantity limit = ParseQuantity(*limit_value);
  const std::string text = std::string(resource) + " limit of " + limit.ToString();
  if (!overcommit && !(request == limit)) {
    errors.Invalid(path.Child("requests"), request.ToString(), "must be equal to " + text);
  } else if (limit < request) {
    errors.Invalid(path.Child("requests"), request.ToString(),
                   "must be less than or equal to " + text);
  }
}

// The claims that a container names, by `name` or `name/request`.
class ClaimNames {
 public:
  ClaimNames(const std::set<std::string_view>& known, const Path& path, ErrorList& errors)
      : known_(known), path_(path), errors_(errors) {}

  void Check(Value claim, std::size_t index) {
    const std::string name(claim["name"].AsString());
    const Path at = path_.Index(index);
    if (name.empty()) return errors_.Required(at);
    CheckDuplicate(name, claim["request"].AsString(), at);
    if (known_.contains(name)) return;
    std::string detail = "must be one of the names in pod.spec.resourceClaims";
    if (known_.empty()) {
      detail += " which is empty";
    } else {
      detail += ": ";
      for (const std::string_view known : known_) {
        if (!detail.ends_with(' ')) detail += ", ";
        detail += known;
      }
    }
    errors_.Add({field::Error::Type::kNotFound, at.text(), field::Quote(name), detail});
  }

 private:
  void CheckDuplicate(const std::string& name, std::string_view request, const Path& at) {
    if (names_.contains(name)) return errors_.Duplicate(at, name);
    std::string key = name;
    if (!request.empty()) {
      CheckDnsLabel(errors_, at.Child("request"), request);
      key += "/" + std::string(request);
    }
    if (names_.contains(key)) {
      errors_.Duplicate(at, key);
    } else if (request.empty()) {
      const std::string prefix = name + "/";
      for (auto other = names_.lower_bound(prefix);
           other != names_.end() && other->starts_with(prefix) && !errors_.full(); ++other) {
        errors_.Duplicate(at, name);
      }
    }
    names_.insert(key);
  }

  const std::set<std::string_view>& known_;
  const Path path_;
  ErrorList& errors_;
  std::set<std::string> names_;
};

void CheckRequirements(Value requirements, CheckName check_name,
                       const std::set<std::string_view>& claims, const Path& path,
                       ErrorList& errors) {
  bool measured = false;
  bool huge = false;
  const auto check = [&](const runtime::Member& member, const Path& at) {
    check_name(member.key, at, errors);
    CheckQuantity(member.key, member.value, at, errors);
    huge |= IsHugePages(member.key);
    measured |= member.key == "cpu" || member.key == "memory";
  };
  for (const runtime::Member& limit : requirements["limits"].members()) {
    if (errors.full()) return;
    const Path at = path.Child("limits").Key(limit.key);
    check(limit, at);
    CheckHugePages(limit.key, ParseQuantity(limit.value), at, errors);
  }
  for (const runtime::Member& request : requirements["requests"].members()) {
    if (errors.full()) return;
    const Path at = path.Child("requests").Key(request.key);
    const Quantity quantity = ParseQuantity(request.value);
    check(request, at);
    CheckRequest(request.key, quantity, requirements["limits"], path, errors);
    CheckHugePages(request.key, quantity, at, errors);
  }
  if (huge && !measured) errors.Forbidden(path, "HugePages require cpu or memory");
  ClaimNames names(claims, path.Child("claims"), errors);
  std::size_t i = 0;
  for (const Value& claim : requirements["claims"].items()) names.Check(claim, i++);
}

// Follows validatePodResourceConsistency.
void CheckAggregates(Value spec, const Path& path, ErrorList& errors) {
  const Value requests = spec["resources"]["requests"];
  const Value limits = spec["resources"]["limits"];
  for (const auto& [name, wanted] : AggregateResources(spec, "requests")) {
    const Value* const given = requests.Find(name);
    if (given == nullptr || !(ParseQuantity(*given) < wanted)) continue;
    errors.Invalid(
        path.Child("requests").Key(name), ParseQuantity(*given).ToString(),
        "must be greater than or equal to aggregate container requests of " + wanted.ToString());
  }
  for (const auto& [name, wanted] : AggregateResources(spec, "limits")) {
    const Value* const given = limits.Find(name);
    if (!IsHugePages(name) || given == nullptr || !(ParseQuantity(*given) < wanted)) continue;
    errors.Invalid(
        path.Child("limits").Key(name), ParseQuantity(*given).ToString(),
        "must be greater than or equal to aggregate container limits of " + wanted.ToString());
  }
  std::size_t i = 0;
  for (const Value& container : spec["containers"].items()) {
    const Path at = path.Child("containers").Index(i++);
    for (const runtime::Member& limit : container["resources"]["limits"].members()) {
      const Value* const given = limits.Find(limit.key);
      const Quantity own = ParseQuantity(limit.value);
      if (given == nullptr || !(ParseQuantity(*given) < own)) continue;
      errors.Invalid(
          at.Key(limit.key).Child("limits"), own.ToString(),
          "must be less than or equal to pod limits of " + ParseQuantity(*given).ToString());
    }
  }
}

}  // namespace

void CheckResourceName(std::string_view resource, const Path& path, ErrorList& errors) {
  const meta::Complaints complaints = meta::IsQualifiedName(resource);
  AddComplaints(errors, path, resource, complaints);
  if (!complaints.empty() || resource.find('/') != std::string_view::npos) return;
  if (IsStandard(resource)) return;
  errors.Invalid(path, resource, "must be a standard resource type or fully qualified");
}

void CheckQuantity(std::string_view resource, Value quantity, const Path& path, ErrorList& errors) {
  const Quantity parsed = ParseQuantity(quantity);
  if (parsed.sign() < 0) {
    errors.Invalid(path, parsed.ToString(), "must be greater than or equal to 0");
  }
  const bool counted =
      std::ranges::find(kCounted, resource) != kCounted.end() || IsExtended(resource);
  if (counted && parsed.MilliValue() % kMilli != 0) {
    errors.Invalid(path, parsed.ToString(), "must be an integer");
  }
}

void CheckContainerResources(Value requirements, const std::set<std::string_view>& claims,
                             const Path& path, ErrorList& errors) {
  CheckRequirements(requirements, &CheckContainerResourceName, claims, path, errors);
}

void CheckPodResources(Value pod_spec, const std::set<std::string_view>& claims, const Path& path,
                       ErrorList& errors) {
  const Value resources = pod_spec["resources"];
  if (resources.is_null()) return;
  const Path at = path.Child("resources");
  if (pod_spec["os"]["name"].AsString() == "windows") {
    return errors.Forbidden(at, "may not be set for a windows pod");
  }
  if (!resources["claims"].is_null()) {
    errors.Forbidden(at.Child("claims"), "claims may not be set for Resources at pod-level");
  }
  CheckRequirements(resources, &CheckPodResourceName, claims, at, errors);
  CheckAggregates(pod_spec, at, errors);
}

}  // namespace apiserver::v0::groups::core
