#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "groups/core/checks.h"
#include "groups/core/pod_validation.h"
#include "text/ip.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Object;
using runtime::Value;

void CheckConditions(Value conditions, const Path& path, ErrorList& errors) {
  std::size_t i = 0;
  for (const Value& condition : conditions.items()) {
    if (errors.full()) return;
    const Path at = path.Index(i++);
    const std::int64_t observed = condition["observedGeneration"].AsInt();
    if (observed < 0) {
      InvalidNumber(errors, at.Child("observedGeneration"), observed,
                    "must be a non-negative integer");
    }
    const std::string_view type = condition["type"].AsString();
    if (IsOneOf(type, {"PodScheduled", "Ready", "Initialized"})) continue;
    CheckQualifiedName(errors, at.Child("Type"), type);
  }
}

bool Contains(Value list, std::int64_t number) {
  for (const Value& item : list.items()) {
    if (item.AsInt() == number) return true;
  }
  return false;
}

bool MatchesExitCode(Value rule, std::int64_t code) {
  const Value codes = rule["exitCodes"];
  const bool listed = Contains(codes["values"], code);
  const std::string_view op = codes["operator"].AsString();
  return (op == "In" && listed) || (op == "NotIn" && !codes.is_null() && !listed);
}

// Follows ContainerShouldRestart: rules of the container, its policy, then that of the pod.
bool MayRestart(Value container, Value spec, std::int64_t code) {
  const Value own = container["restartPolicy"];
  if (!own.is_null()) {
    for (const Value& rule : container["restartPolicyRules"].items()) {
      if (!MatchesExitCode(rule, code)) continue;
      if (rule["action"].AsString() == "Restart") return true;
      break;  // Only the first rule that matches counts.
    }
  }
  const std::string_view policy = own.is_null() ? spec["restartPolicy"].AsString() : own.AsString();
  if (policy == "OnFailure") return code != 0;
  return policy != "Never";
}

std::map<std::string_view, Value> ByName(Value list) {
  std::map<std::string_view, Value> map;
  for (const Value& item : list.items()) map.emplace(item["name"].AsString(), item);
  return map;
}

// Refuses a container that has ended and runs again without being allowed to. `containers`: those
// that may; null: none.
void CheckTransitions(Value now, Value before, const char* list, const char* containers,
                      ErrorList& errors) {
  const std::map<std::string_view, Value> statuses = ByName(now["status"][list]);
  const std::map<std::string_view, Value> specs = containers != nullptr
                                                      ? ByName(before["spec"][containers])
                                                      : std::map<std::string_view, Value>();
  std::size_t i = 0;
  for (const Value& old : before["status"][list].items()) {
    const std::size_t index = i++;
    const Value ended = old["state"]["terminated"];
    if (ended.is_null()) continue;
    const std::string_view name = old["name"].AsString();
    const auto status = statuses.find(name);
    if (status == statuses.end() || !status->second["state"]["terminated"].is_null()) continue;
    const auto container = specs.find(name);
    if (container != specs.end() &&
        MayRestart(container->second, before["spec"], ended["exitCode"].AsInt())) {
      continue;
    }
    errors.Forbidden(Path("status").Child(list).Index(index).Child("state"),
                     "may not be transitioned to non-terminated state");
  }
}

// Checks that several addresses are one of each family.
void CheckFamilies(const std::vector<std::string_view>& ips, Value list, const Path& path,
                   ErrorList& errors) {
  if (ips.size() < 2) return;
  std::size_t v6 = 0;
  for (const std::string_view ip : ips) {
    const auto canonical = text::CanonicalIP(ip);
    if (!canonical) {
      return errors.Internal(path,
                             "failed to check for dual stack with error:invalid IP address \"" +
                                 field::Shorten(ip) + "\"");
    }
    if (canonical->find(':') != std::string::npos) ++v6;
  }
  if (ips.size() == 2 && v6 == 1) return;
  std::string printed = "[";
  for (const Value& item : list.items()) {
    printed +=
        (printed.size() > 1 ? "," : "") + std::string("{\"IP\":") + Printed(item["ip"]) + "}";
  }
  errors.InvalidPrinted(path, printed + "]", "may specify no more than one IP for each IP family");
}

void CheckIps(Value status, Value old, const char* key, ErrorList& errors) {
  const Path path = Path("status").Child(key);
  std::vector<std::string_view> kept;
  for (const Value& item : old[key].items()) kept.push_back(item["ip"].AsString());
  std::vector<std::string_view> ips;
  for (const Value& item : status[key].items()) {
    if (errors.full()) return;
    CheckLegacyIp(errors, path.Index(ips.size()).Child("ip"), item["ip"].AsString(), kept);
    ips.push_back(item["ip"].AsString());
  }
  CheckFamilies(ips, status[key], path, errors);
}

void CheckClaimStatuses(Value status, Value claims, ErrorList& errors) {
  const std::map<std::string_view, Value> known = ByName(claims);
  std::set<std::string_view> names;
  std::size_t i = 0;
  for (const Value& claim : status["resourceClaimStatuses"].items()) {
    if (errors.full()) return;
    const Path at = Path("status.resourceClaimStatuses").Index(i++).Child("name");
    const std::string_view name = claim["name"].AsString();
    if (!known.contains(name)) {
      errors.Invalid(at, name, "must match the name of an entry in `spec.resourceClaims`");
    }
    if (!names.insert(name).second) errors.Duplicate(at, name);
    const Value of = claim["resourceClaimName"];
    if (!of.is_null()) CheckDnsSubdomain(errors, at, of.AsString());
  }
}

void CheckHostIps(Value status, Value old, ErrorList& errors) {
  const Value first = status["hostIPs"].at(0);
  if (first.is_null()) return;
  if (!(status["hostIP"].AsString() == first["ip"].AsString())) {
    errors.Invalid(Path("status.hostIPs").Index(0).Child("ip"), first["ip"].AsString(),
                   "must be equal to `hostIP`");
  }
  CheckIps(status, old, "hostIPs", errors);
}

void CheckNominatedNode(const Object& now, const Object& before, ErrorList& errors) {
  const std::string_view node = now["status"]["nominatedNodeName"].AsString();
  if (node.empty() || node == before["status"]["nominatedNodeName"].AsString()) return;
  const Path path("status.nominatedNodeName");
  CheckDnsSubdomain(errors, path, node);
  if (before["spec"]["nodeName"].size() != 0) {
    errors.Forbidden(path, "may not be set on pods that are already bound to a node");
  }
}

}  // namespace

ErrorList ValidatePodStatusUpdate(const Object& now, const Object& before) {
  ErrorList errors = ValidateCoreMetaUpdate(now.metadata(), before.metadata());
  errors.Append(ValidatePodAnnotationUpdate(now, before));
  const Value status = now["status"];
  const Value old = before["status"];
  CheckConditions(status["conditions"], Path("status.conditions"), errors);
  CheckNominatedNode(now, before, errors);
  const std::int64_t observed = status["observedGeneration"].AsInt();
  if (observed < 0) {
    InvalidNumber(errors, Path("status.observedGeneration"), observed,
                  "must be a non-negative integer");
  }
  errors.Append(
      meta::ValidateImmutableField(status["qosClass"], old["qosClass"], Path("status.qosClass")));
  CheckTransitions(now.root(), before.root(), "containerStatuses", "containers", errors);
  CheckTransitions(now.root(), before.root(), "initContainerStatuses", "initContainers", errors);
  CheckTransitions(now.root(), before.root(), "ephemeralContainerStatuses", nullptr, errors);
  CheckClaimStatuses(status, now["spec"]["resourceClaims"], errors);
  CheckIps(status, old, "podIPs", errors);
  CheckHostIps(status, old, errors);
  return errors;
}

}  // namespace apiserver::v0::groups::core
