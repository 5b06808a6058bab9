#include "groups/core/node_validation.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/meta/validation.h"
#include "groups/core/checks.h"
#include "groups/core/resource_validation.h"
#include "groups/core/scheduling_validation.h"
#include "text/ascii.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Object;
using runtime::Value;

constexpr std::string_view kTaints = "scheduler.alpha.kubernetes.io/taints";
constexpr std::string_view kAvoidPods = "scheduler.alpha.kubernetes.io/preferAvoidPods";
constexpr std::size_t kFamilies = 2;
constexpr std::size_t kFeatureBytesMax = 253;

// A taint as messages show it: Go's internal type.
std::string PrintedTaint(Value taint) {
  return "{\"Key\":" + Printed(taint["key"]) + ",\"Value\":" + Printed(taint["value"]) +
         ",\"Effect\":" + Printed(taint["effect"]) +
         ",\"TimeAdded\":" + Printed(taint["timeAdded"]) + "}";
}

void CheckTaints(Value taints, const Path& path, ErrorList& errors) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  std::size_t i = 0;
  for (const Value& taint : taints.items()) {
    if (errors.full()) return;
    const Path at = path.Index(i++);
    const std::string_view key = taint["key"].AsString();
    errors.Append(meta::ValidateLabelName(key, at.Child("key")));
    std::string why;
    for (const std::string& complaint : meta::IsValidLabelValue(taint["value"].AsString())) {
      why += (why.empty() ? "" : ";") + complaint;
    }
    if (!why.empty()) errors.Invalid(at.Child("value"), taint["value"].AsString(), why);
    CheckTaintEffect(taint["effect"], true, at.Child("effect"), errors);
    if (!seen.emplace(taint["effect"].AsString(), key).second) {
      errors.Add({field::Error::Type::kDuplicate, at.text(), PrintedTaint(taint),
                  "taints must be unique by key and effect pair"});
    }
  }
}

// Taints and avoided pods were annotations once.
void CheckNodeAnnotations(Value annotations, ErrorList& errors) {
  const Path path("metadata.annotations");
  if (const std::string_view json = annotations[kTaints].AsString(); !json.empty()) {
    runtime::Arena arena;
    const Result<Value> taints = codec::ParseJson(json, arena);
    if (taints.ok()) {
      CheckTaints(*taints, path.Child(kTaints), errors);
    } else {
      errors.Invalid(path, kTaints, std::string(taints.status().message()));
    }
  }
  if (const std::string_view json = annotations[kAvoidPods].AsString(); !json.empty()) {
    runtime::Arena arena;
    const Result<Value> avoided = codec::ParseJson(json, arena);
    if (avoided.ok()) return;
    errors.Invalid(path.Child("AvoidPods"), kAvoidPods, std::string(avoided.status().message()));
  }
}

void CheckAmounts(const Object& node, ErrorList& errors) {
  for (const char* const list : {"capacity", "allocatable"}) {
    for (const runtime::Member& member : node["status"][list].members()) {
      if (errors.full()) return;
      CheckQuantity(member.key, member.value, Path("status").Child(list).Child(member.key), errors);
    }
  }
}

// "Feature/subFeature": words of letters and digits, of which the first has a capital.
bool IsFeature(std::string_view name) {
  if (name.empty() || name.front() < 'A' || name.front() > 'Z') return false;
  for (std::string_view rest = name;;) {
    const std::size_t slash = rest.find('/');
    const std::string_view word = rest.substr(0, slash);
    const auto allowed = [](char c) { return text::IsLetter(c) || text::IsDigit(c); };
    if (word.empty() || !text::IsLetter(word.front()) || !std::ranges::all_of(word, allowed)) {
      return false;
    }
    if (slash == std::string_view::npos) return true;
    rest.remove_prefix(slash + 1);
  }
}

std::string WhyNoFeature(std::string_view name) {
  if (name.size() > kFeatureBytesMax) return "must be no more than 253 characters";
  if (IsFeature(name)) return "";
  return "must start with an UpperCamelCase segment, with subsequent segments separated by '/' "
         "(e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters "
         "and slashes";
}

void CheckDeclaredFeatures(Value features, ErrorList& errors) {
  const Path path("status.declaredFeatures");
  const auto items = features.items();
  for (std::size_t i = 0; i < items.size() && !errors.full(); ++i) {
    const std::string_view feature = items[i].AsString();
    if (const std::string why = WhyNoFeature(feature); !why.empty()) {
      errors.Invalid(path.Index(i), feature,
                     "invalid feature name " + field::QuoteShort(feature) + ": " + why);
    }
    if (i + 1 == items.size()) return;
    const std::string_view next = items[i + 1].AsString();
    if (feature == next) {
      errors.Duplicate(path.Index(i + 1), next);
    } else if (feature > next) {
      errors.Invalid(path.Index(i + 1), next, "list must be sorted alphabetically");
    }
  }
}

void CheckPodCidrs(Value cidrs, ErrorList& errors) {
  const Path path("spec.podCIDRs");
  std::size_t v6 = 0;
  std::size_t i = 0;
  for (const Value& cidr : cidrs.items()) {
    CheckLegacyCidr(errors, path.Index(i++), cidr.AsString());
    if (cidr.AsString().find(':') != std::string_view::npos) ++v6;
  }
  if (i < kFamilies || (i == kFamilies && v6 == 1)) return;
  errors.InvalidPrinted(path, Printed(cidrs),
                        "may specify no more than one CIDR for each IP family");
}

void CheckConfigMapSource(Value source, bool of_spec, const Path& path, ErrorList& errors) {
  for (const char* const key : {"uid", "resourceVersion"}) {
    if (!of_spec) {
      CheckPresent(errors, path, source, key);
    } else if (source[key].size() != 0) {
      errors.Forbidden(path.Child(key), std::string(key) + " must not be set in spec");
    }
  }
  if (CheckPresent(errors, path, source, "namespace")) {
    CheckDnsLabel(errors, path.Child("namespace"), source["namespace"].AsString());
  }
  if (CheckPresent(errors, path, source, "name")) {
    CheckDnsSubdomain(errors, path.Child("name"), source["name"].AsString());
  }
  if (CheckPresent(errors, path, source, "kubeletConfigKey")) {
    const std::string_view key = source["kubeletConfigKey"].AsString();
    AddComplaints(errors, path.Child("kubeletConfigKey"), key, IsConfigMapKey(key));
  }
}

void CheckConfigSource(Value source, bool of_spec, const Path& path, ErrorList& errors) {
  if (source.is_null()) return;
  if (source["configMap"].is_null()) {
    return errors.InvalidPrinted(path, "{\"ConfigMap\":null}",
                                 "exactly one reference subfield must be non-nil");
  }
  CheckConfigMapSource(source["configMap"], of_spec, path.Child("configMap"), errors);
}

void CheckAddresses(Value addresses, ErrorList& errors) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  std::size_t i = 0;
  for (const Value& address : addresses.items()) {
    const Path at = Path("status.addresses").Index(i++);
    if (seen.emplace(address["type"].AsString(), address["address"].AsString()).second) continue;
    errors.DuplicatePrinted(at, "{\"Type\":" + Printed(address["type"]) +
                                    ",\"Address\":" + Printed(address["address"]) + "}");
  }
}

// Once they are set, a node keeps its networks and its machine.
void CheckKeptFields(Value spec, Value old, ErrorList& errors) {
  const auto before = old["podCIDRs"].items();
  const auto now = spec["podCIDRs"].items();
  constexpr const char* kCidr = "node updates may not change podCIDR except from \"\" to valid";
  if (!before.empty() && before.size() != now.size()) {
    errors.Forbidden(Path("spec.podCIDRs"), kCidr);
  } else if (!before.empty()) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (!(before[i] == now[i])) errors.Forbidden(Path("spec.podCIDRs"), kCidr);
    }
  }
  if (old["providerID"].size() != 0 && !(old["providerID"] == spec["providerID"])) {
    errors.Forbidden(Path("spec.providerID"),
                     "node updates may not change providerID except from \"\" to valid");
  }
}

}  // namespace

ErrorList ValidateNode(const Object& node) {
  ErrorList errors = ValidateCoreMeta(node.metadata(), false, meta::NameIsDNSSubdomain);
  const Value spec = node["spec"];
  CheckNodeAnnotations(node.annotations(), errors);
  CheckTaints(spec["taints"], Path("metadata.taints"), errors);
  CheckAmounts(node, errors);
  if (const Value swap = node["status"]["nodeInfo"]["swap"]["capacity"]; !swap.is_null()) {
    CheckPositive(errors, Path("metadata.nodeSwapStatus.capacity"), swap.AsInt());
  }
  CheckDeclaredFeatures(node["status"]["declaredFeatures"], errors);
  CheckPodCidrs(spec["podCIDRs"], errors);
  return errors;
}

ErrorList ValidateNodeUpdate(const Object& now, const Object& before) {
  ErrorList errors = ValidateCoreMetaUpdate(now.metadata(), before.metadata());
  const Value spec = now["spec"];
  const Value status = now["status"];
  CheckNodeAnnotations(now.annotations(), errors);
  CheckAmounts(now, errors);
  CheckDeclaredFeatures(status["declaredFeatures"], errors);
  CheckAddresses(status["addresses"], errors);
  CheckKeptFields(spec, before["spec"], errors);
  CheckConfigSource(spec["configSource"], true, Path("spec.configSource"), errors);
  for (const char* const which : {"assigned", "active", "lastKnownGood"}) {
    CheckConfigSource(status["config"][which], false, Path("status.config").Child(which), errors);
  }
  CheckTaints(spec["taints"], Path("metadata.taints"), errors);
  if (!(spec["externalID"] == before["spec"]["externalID"])) {
    errors.Forbidden(Path("spec.externalID"), "may not be updated");
  }
  return errors;
}

}  // namespace apiserver::v0::groups::core
