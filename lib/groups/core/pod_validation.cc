#include "groups/core/pod_validation.h"

#include <charconv>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "apiserver/codec/json.h"
#include "apiserver/meta/validation.h"
#include "groups/core/checks.h"
#include "groups/core/container_validation.h"
#include "groups/core/resource_validation.h"
#include "groups/core/scheduling_validation.h"
#include "groups/core/security_validation.h"
#include "groups/core/volume_validation.h"
#include "groups/core/windows_validation.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr std::size_t kNameserversMax = 3;
constexpr std::size_t kSearchesMax = 32;
constexpr std::size_t kSearchBytesMax = 2048;
constexpr std::size_t kHostnameBytesMax = 64;
constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";
constexpr std::string_view kTolerations = "scheduler.alpha.kubernetes.io/tolerations";

// A claim as messages show it: Go's internal type.
std::string PrintedClaim(Value claim) {
  return "{\"Name\":" + Printed(claim["name"]) +
         ",\"ResourceClaimName\":" + Printed(claim["resourceClaimName"]) +
         ",\"ResourceClaimTemplateName\":" + Printed(claim["resourceClaimTemplateName"]) + "}";
}

void CheckResourceClaims(Value claims, const Path& path, ErrorList& errors) {
  std::set<std::string_view> names;
  std::size_t i = 0;
  for (const Value& claim : claims.items()) {
    if (errors.full()) return;
    const Path at = path.Index(i++);
    const std::string_view name = claim["name"].AsString();
    if (name.empty()) {
      errors.Required(at.Child("name"));
    } else if (names.contains(name)) {
      errors.Duplicate(at.Child("name"), name);
    } else {
      CheckDnsLabel(errors, at.Child("name"), name);
      names.insert(name);
    }
    const Value direct = claim["resourceClaimName"];
    const Value made = claim["resourceClaimTemplateName"];
    if (!direct.is_null() && !made.is_null()) {
      errors.InvalidPrinted(at, PrintedClaim(claim),
                            "at most one of `resourceClaimName` or `resourceClaimTemplateName` may "
                            "be specified");
    }
    if (direct.is_null() && made.is_null()) {
      errors.InvalidPrinted(
          at, PrintedClaim(claim),
          "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
    }
    for (const char* const key : {"resourceClaimName", "resourceClaimTemplateName"}) {
      if (claim[key].is_null()) continue;
      CheckDnsSubdomain(errors, at.Child(key), claim[key].AsString());
    }
  }
}

// On the host's network a port is the same inside and outside.
void CheckHostNetwork(Value spec, bool of_pod, const Path& path, ErrorList& errors) {
  if (!spec["hostNetwork"].AsBool()) return;
  std::size_t i = 0;
  for (const Value& container : spec["containers"].items()) {
    const Path at = path.Child("containers").Index(i++);
    std::size_t p = 0;
    for (const Value& port : container["ports"].items()) {
      const std::size_t index = p++;
      const std::int64_t host = port["hostPort"].AsInt();
      if ((!of_pod && host == 0) || host == port["containerPort"].AsInt()) continue;
      InvalidNumber(errors, at.Child("ports").Index(index).Child("hostPort"), host,
                    "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

void CheckSearches(Value searches, const Path& path, ErrorList& errors) {
  if (searches.size() > kSearchesMax) {
    errors.InvalidPrinted(path, Printed(searches), "must not have more than 32 search paths");
  }
  std::size_t bytes = searches.size() == 0 ? 0 : searches.size() - 1;
  for (const Value& search : searches.items()) bytes += search.size();
  if (bytes > kSearchBytesMax) {
    errors.InvalidPrinted(
        path, Printed(searches),
        "must not have more than 2048 characters (including spaces) in the search list");
  }
  std::size_t i = 0;
  for (const Value& search : searches.items()) {
    const std::size_t index = i++;
    if (search.AsString() == ".") continue;
    // A dot at the end is no part of the name.
    std::string_view name = search.AsString();
    if (name.ends_with('.')) name.remove_suffix(1);
    AddComplaints(errors, path.Index(index), name, IsSubdomainWithUnderscore(name));
  }
}

void CheckDns(Value spec, const Path& path, ErrorList& errors) {
  const Value config = spec["dnsConfig"];
  const Path at = path.Child("dnsConfig");
  const Value servers = config["nameservers"];
  if (spec["dnsPolicy"].AsString() == "None") {
    if (config.is_null()) {
      return errors.Required(at, "must provide `dnsConfig` when `dnsPolicy` is None");
    }
    if (servers.size() == 0) {
      return errors.Required(at.Child("nameservers"),
                             "must provide at least one DNS nameserver when `dnsPolicy` is None");
    }
  }
  if (config.is_null()) return;
  if (servers.size() > kNameserversMax) {
    errors.InvalidPrinted(at.Child("nameservers"), Printed(servers),
                          "must not have more than 3 nameservers");
  }
  std::size_t i = 0;
  for (const Value& server : servers.items()) {
    CheckLegacyIp(errors, at.Child("nameservers").Index(i++), server.AsString());
  }
  CheckSearches(config["searches"], at.Child("searches"), errors);
  i = 0;
  for (const Value& option : config["options"].items()) {
    const std::size_t index = i++;
    if (option["name"].size() != 0) continue;
    errors.Required(at.Child("options").Index(index), "must not be empty");
  }
}

void CheckHostname(Value spec, const Path& path, ErrorList& errors) {
  const Value name = spec["hostnameOverride"];
  if (name.is_null()) return;
  const Path at = path.Child("hostnameOverride");
  if (spec["setHostnameAsFQDN"].AsBool()) {
    errors.Forbidden(at, "may not be specified when setHostnameAsFQDN is true");
  }
  if (spec["hostNetwork"].AsBool()) {
    errors.Forbidden(at, "may not be specified when hostNetwork is true");
  }
  if (name.size() > kHostnameBytesMax) {
    errors.TooLong(at, static_cast<long>(kHostnameBytesMax));
  }
  CheckDnsSubdomain(errors, at, name.AsString());
}

// Names of other objects, if they are given.
void CheckNames(Value spec, const Path& path, ErrorList& errors) {
  for (const char* const key : {"serviceAccountName", "nodeName"}) {
    if (spec[key].size() != 0) CheckDnsSubdomain(errors, path.Child(key), spec[key].AsString());
  }
  if (const Value seconds = spec["activeDeadlineSeconds"]; !seconds.is_null()) {
    CheckRange(errors, path.Child("activeDeadlineSeconds"), seconds.AsInt(), 1, kInt32Max);
  }
  for (const char* const key : {"hostname", "subdomain"}) {
    if (spec[key].size() != 0) CheckDnsLabel(errors, path.Child(key), spec[key].AsString());
  }
}

void CheckHostAliases(Value aliases, const Path& path, ErrorList& errors) {
  std::size_t i = 0;
  for (const Value& alias : aliases.items()) {
    if (errors.full()) return;
    const Path at = path.Index(i++);
    CheckLegacyIp(errors, at.Child("ip"), alias["ip"].AsString());
    std::size_t h = 0;
    for (const Value& name : alias["hostnames"].items()) {
      CheckDnsSubdomain(errors, at.Child("hostnames").Index(h++), name.AsString());
    }
  }
}

// Variables of files: these must lie in an emptyDir.
void CheckFileVolumes(Value spec, const Path& path, ErrorList& errors) {
  std::map<std::string_view, Value> volumes;
  for (const Value& volume : spec["volumes"].items()) {
    volumes.insert_or_assign(volume["name"].AsString(), volume);
  }
  VisitContainers(spec, path, [&](const Value& container, const Path& at) {
    std::size_t i = 0;
    for (const Value& variable : container["env"].items()) {
      const std::size_t index = i++;
      const Value ref = variable["valueFrom"]["fileKeyRef"];
      if (ref.is_null()) continue;
      const std::string_view name = ref["volumeName"].AsString();
      const auto volume = volumes.find(name);
      const Path of = at.Child("env").Index(index).Child("valueFrom.fileKeyRef.volumeName");
      if (volume == volumes.end()) {
        errors.NotFound(of, name);
      } else if (volume->second["emptyDir"].is_null()) {
        errors.Invalid(of, name, "referenced volume must be of type emptyDir");
      }
    }
  });
}

void CheckReadinessGates(Value gates, const Path& path, ErrorList& errors) {
  std::size_t i = 0;
  for (const Value& gate : gates.items()) {
    CheckQualifiedName(errors, path.Index(i++).Child("conditionType"),
                       gate["conditionType"].AsString());
  }
}

void CheckOverhead(Value spec, const Path& path, ErrorList& errors) {
  const Value overhead = spec["overhead"];
  if (overhead.is_null()) return;
  const runtime::Member limits[] = {{"limits", overhead}};
  CheckContainerResources(Value::Map(limits), {}, path.Child("overhead"), errors);
}

// The part of ValidatePodSpec after the security context.
void CheckRestOfSpec(Value spec, const Path& path, ErrorList& errors) {
  if (!spec["affinity"].is_null()) {
    CheckAffinity(spec["affinity"], path.Child("affinity"), errors);
  }
  CheckDns(spec, path, errors);
  CheckReadinessGates(spec["readinessGates"], path.Child("readinessGates"), errors);
  CheckSchedulingGates(spec["schedulingGates"], path.Child("schedulingGates"), errors);
  CheckSpreadConstraints(spec["topologySpreadConstraints"], path.Child("topologySpreadConstraints"),
                         errors);
  CheckHostProcesses(spec, path, errors);
  CheckHostUsers(spec, path, errors);
  CheckHostname(spec, path, errors);
  CheckNames(spec, path, errors);
  CheckTolerations(spec["tolerations"], path.Child("tolerations"), errors);
  CheckHostAliases(spec["hostAliases"], path.Child("hostAliases"), errors);
  for (const char* const key : {"priorityClassName", "runtimeClassName"}) {
    const bool given =
        std::string_view(key) == "runtimeClassName" ? !spec[key].is_null() : spec[key].size() != 0;
    if (given) CheckDnsSubdomain(errors, path.Child(key), spec[key].AsString());
  }
  if (const Value policy = spec["preemptionPolicy"]; !policy.is_null()) {
    CheckNeededWord(errors, path.Child("preemptionPolicy"), policy.AsString(),
                    {"PreemptLowerPriority", "Never"});
  }
  CheckOverhead(spec, path, errors);
  CheckOs(spec, path, errors);
  CheckFileVolumes(spec, path, errors);
}

// Reports whether a text is a 32-bit number as Go prints one.
bool IsInt32(std::string_view text) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && std::to_string(number) == text;
}

void CheckAnnotatedTolerations(std::string_view json, const Path& path, ErrorList& errors) {
  runtime::Arena arena;
  const Result<Value> list = codec::ParseJson(json, arena);
  if (!list.ok()) {
    return errors.Invalid(path, kTolerations, std::string(list.status().message()));
  }
  CheckTolerations(*list, path.Child(kTolerations), errors);
}

// Follows ValidatePodSpecificAnnotations.
void CheckPodAnnotations(Value annotations, Value spec, ErrorList& errors) {
  const Path path("metadata.annotations");
  const Value* const mirror = annotations.Find(kMirrorPod);
  if (mirror != nullptr && spec["nodeName"].size() == 0) {
    errors.Invalid(path.Key(kMirrorPod), mirror->AsString(),
                   "must set spec.nodeName if mirror pod annotation is set");
  }
  if (const std::string_view json = annotations[kTolerations].AsString(); !json.empty()) {
    CheckAnnotatedTolerations(json, path, errors);
  }
  const Value* const cost = annotations.Find(kDeletionCost);
  if (cost != nullptr && !IsInt32(cost->AsString())) {
    errors.Invalid(path.Key(kDeletionCost), cost->AsString(), "must be a 32bit integer");
  }
  CheckProfileAnnotationSyntax(annotations, spec, path, errors);
}

// Tokens are those of the pod's account, so it must have one.
void CheckTokensHaveAccount(Value spec, ErrorList& errors) {
  if (spec["serviceAccountName"].size() != 0) return;
  std::size_t v = 0;
  for (const Value& volume : spec["volumes"].items()) {
    const Path at = Path("spec.volumes").Index(v++).Child("projected.sources");
    std::size_t s = 0;
    for (const Value& source : volume["projected"]["sources"].items()) {
      const std::size_t index = s++;
      if (source["serviceAccountToken"].is_null()) continue;
      errors.Forbidden(at.Index(index).Child("serviceAccountToken"),
                       "must not be specified when serviceAccountName is not set");
    }
  }
}

}  // namespace

void CheckPodSpec(Value spec, Value before, std::string_view pod_name, const Path& path,
                  ErrorList& errors) {
  if (spec["terminationGracePeriodSeconds"].is_null()) {
    errors.Required(path.Child("terminationGracePeriodSeconds"));
  }
  PodScope pod(spec);
  pod.volumes = CheckVolumes(spec["volumes"], pod_name, path.Child("volumes"), errors);
  CheckResourceClaims(spec["resourceClaims"], path.Child("resourceClaims"), errors);
  CheckContainers(pod, path.Child("containers"), errors);
  CheckInitContainers(pod, path.Child("initContainers"), errors);
  CheckEphemeralContainers(pod, path.Child("ephemeralContainers"), errors);
  CheckPodResources(spec, pod.claims, path, errors);
  CheckHostNetwork(spec, !pod_name.empty(), path, errors);
  CheckNeededWord(errors, path.Child("restartPolicy"), spec["restartPolicy"].AsString(),
                  {"Always", "OnFailure", "Never"});
  CheckNeededWord(errors, path.Child("dnsPolicy"), spec["dnsPolicy"].AsString(),
                  {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"});
  errors.Append(meta::ValidateLabels(spec["nodeSelector"], path.Child("nodeSelector")));
  CheckPodSecurityContext(spec, !before["securityContext"]["seLinuxChangePolicy"].is_null(), path,
                          errors);
  CheckRestOfSpec(spec, path, errors);
}

ErrorList ValidatePodMetadataAndSpec(const runtime::Object& pod, const runtime::Object* before) {
  ErrorList errors = ValidateCoreMeta(pod.metadata(), true, meta::NameIsDNSSubdomain);
  const Value spec = pod["spec"];
  CheckPodAnnotations(pod.annotations(), spec, errors);
  CheckPodSpec(spec, before == nullptr ? Value() : (*before)["spec"], pod.name(), Path("spec"),
               errors);
  CheckTokensHaveAccount(spec, errors);
  CheckImagesOfPod(spec["containers"], Path("spec.containers"), errors);
  CheckImagesOfPod(spec["initContainers"], Path("spec.initContainers"), errors);
  return errors;
}

ErrorList ValidatePodCreate(const runtime::Object& pod) {
  ErrorList errors = ValidatePodMetadataAndSpec(pod, nullptr);
  const Value spec = pod["spec"];
  if (spec["ephemeralContainers"].size() != 0) {
    errors.Forbidden(Path("spec.ephemeralContainers"), "cannot be set on create");
  }
  if (spec["nodeName"].size() != 0 && spec["schedulingGates"].size() != 0) {
    errors.Forbidden(Path("spec.nodeName"),
                     "cannot be set until all schedulingGates have been cleared");
  }
  CheckProfileAnnotations(pod.annotations(), spec, Path("spec"), errors);
  return errors;
}

}  // namespace apiserver::v0::groups::core
