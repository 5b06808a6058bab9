#include "groups/core/container_validation.h"

#include <set>
#include <string>
#include <string_view>

#include "groups/core/checks.h"
#include "groups/core/resource_validation.h"
#include "groups/core/security_validation.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr const char* kNotEphemeral = "cannot be set for an Ephemeral Container";

void CheckPorts(Value container, const Path& path, ErrorList& errors) {
  std::set<std::string_view> names;
  std::size_t i = 0;
  for (const Value& port : container["ports"].items()) {
    if (errors.full()) return;
    const Path at = path.Index(i++);
    if (const std::string_view name = port["name"].AsString(); !name.empty()) {
      const meta::Complaints complaints = IsPortName(name);
      AddComplaints(errors, at.Child("name"), name, complaints);
      if (complaints.empty() && !names.insert(name).second) {
        errors.Duplicate(at.Child("name"), name);
      }
    }
    const std::int64_t number = port["containerPort"].AsInt();
    if (number == 0) {
      errors.Required(at.Child("containerPort"));
    } else {
      CheckPort(errors, at.Child("containerPort"), number);
    }
    const std::int64_t on_host = port["hostPort"].AsInt();
    if (on_host != 0) CheckPort(errors, at.Child("hostPort"), on_host);
    CheckNeededWord(errors, at.Child("protocol"), port["protocol"].AsString(),
                    {"SCTP", "TCP", "UDP"});
  }
}

// Refuses a second port with the same port, address and protocol of the host.
void CheckHostPorts(Value container, std::set<std::string>& used, const Path& path,
                    ErrorList& errors) {
  std::size_t i = 0;
  for (const Value& port : container["ports"].items()) {
    const std::size_t index = i++;
    if (port["hostPort"].AsInt() == 0) continue;
    const std::string key = std::string(port["protocol"].AsString()) + "/" +
                            std::string(port["hostIP"].AsString()) + "/" +
                            std::to_string(port["hostPort"].AsInt());
    if (used.insert(key).second) continue;
    errors.Duplicate(path.Child("ports").Index(index).Child("hostPort"), key);
  }
}

void CheckResizePolicy(Value container, std::string_view restart_policy, const Path& path,
                       ErrorList& errors) {
  std::set<std::string_view> resources;
  std::size_t i = 0;
  for (const Value& policy : container["resizePolicy"].items()) {
    const std::string_view resource = policy["resourceName"].AsString();
    const std::string_view restart = policy["restartPolicy"].AsString();
    if (!resources.insert(resource).second) errors.Duplicate(path.Index(i), resource);
    CheckNeededWord(errors, path, resource, {"cpu", "memory"});
    CheckNeededWord(errors, path, restart, {"NotRequired", "RestartContainer"});
    if (restart_policy == "Never" && restart != "NotRequired") {
      errors.Invalid(path, restart, "must be 'NotRequired' when `restartPolicy` is 'Never'");
    }
    ++i;
  }
}

// Follows validateContainerCommon.
void CheckContainer(const PodScope& pod, Value container, const Path& path, ErrorList& errors) {
  if (CheckPresent(errors, path, container, "name")) {
    CheckDnsLabel(errors, path.Child("name"), container["name"].AsString());
  }
  CheckPresent(errors, path, container, "image");
  CheckNeededWord(errors, path.Child("terminationMessagePolicy"),
                  container["terminationMessagePolicy"].AsString(),
                  {"File", "FallbackToLogsOnError"});
  CheckPorts(container, path.Child("ports"), errors);
  CheckEnvironment(container, path, errors);
  CheckMounts(pod, container, path, errors);
  CheckNeededWord(errors, path.Child("imagePullPolicy"), container["imagePullPolicy"].AsString(),
                  {"Always", "IfNotPresent", "Never"});
  CheckContainerResources(container["resources"], pod.claims, path.Child("resources"), errors);
  CheckResizePolicy(container, pod.spec["restartPolicy"].AsString(), path.Child("resizePolicy"),
                    errors);
  CheckSecurityContext(container["securityContext"], pod.host_users, path.Child("securityContext"),
                       errors);
}

// Names of containers that must not be there twice.
std::set<std::string_view> NamesOf(Value list) {
  std::set<std::string_view> names;
  for (const Value& container : list.items()) names.insert(container["name"].AsString());
  return names;
}

// Follows validateInitContainerRestartPolicy.
void CheckInitRestartPolicy(Value container, const Path& path, ErrorList& errors) {
  const Value policy = container["restartPolicy"];
  const bool rules = container["restartPolicyRules"].size() != 0;
  if (policy.is_null()) {
    if (!rules) return;
    return errors.Required(path.Child("restartPolicy"),
                           "must specify restartPolicy when restart rules are used");
  }
  if (policy.AsString() != "Always") return CheckRestartRules(container, path, errors);
  if (!rules) return;
  errors.Forbidden(path.Child("restartPolicyRules"),
                   "restartPolicyRules are not allowed for init containers with restart policy "
                   "Always");
}

void CheckEphemeralOnly(Value container, const Path& path, ErrorList& errors) {
  // In the order in which Go's type declares them.
  for (const char* const key :
       {"ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules",
        "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"}) {
    const Value value = container[key];
    // Resources alone are a struct by value, which is there without being set.
    const bool set = std::string_view(key) == "resources" ? value.size() != 0 : !value.is_null();
    if (set) errors.Forbidden(path.Child(key), kNotEphemeral);
  }
  std::size_t i = 0;
  for (const Value& mount : container["volumeMounts"].items()) {
    const Path at = path.Child("volumeMounts").Index(i++);
    if (mount["subPath"].size() != 0) errors.Forbidden(at.Child("subPath"), kNotEphemeral);
    if (mount["subPathExpr"].size() != 0) errors.Forbidden(at.Child("subPathExpr"), kNotEphemeral);
  }
}

void CheckImageOfPod(Value container, const Path& path, ErrorList& errors) {
  const std::string_view image = container["image"].AsString();
  if (TrimSpace(image).size() == image.size()) return;
  errors.Invalid(path.Child("image"), image, "must not have leading or trailing whitespace");
}

}  // namespace

PodScope::PodScope(Value pod_spec) : spec(pod_spec), host_users(spec["hostUsers"].AsBool(true)) {
  for (const Value& claim : spec["resourceClaims"].items()) {
    claims.insert(claim["name"].AsString());
  }
  const Value grace = spec["terminationGracePeriodSeconds"];
  if (!grace.is_null()) grace_seconds = grace.AsInt();
}

void CheckContainers(const PodScope& pod, const Path& path, ErrorList& errors) {
  const Value list = pod.spec["containers"];
  if (list.size() == 0) return errors.Required(path);
  std::set<std::string_view> names;
  std::size_t i = 0;
  for (const Value& container : list.items()) {
    if (errors.full()) return;
    const Path at = path.Index(i++);
    CheckContainer(pod, container, at, errors);
    const std::string_view name = container["name"].AsString();
    if (!names.insert(name).second) errors.Duplicate(at.Child("name"), name);
    CheckLifecycle(pod, container, at, errors);
    CheckProbes(pod, container, at, errors);
    CheckRestartRules(container, at, errors);
  }
  std::set<std::string> host_ports;
  i = 0;
  for (const Value& container : list.items()) {
    CheckHostPorts(container, host_ports, path.Index(i++), errors);
  }
}

void CheckInitContainers(const PodScope& pod, const Path& path, ErrorList& errors) {
  std::set<std::string_view> names = NamesOf(pod.spec["containers"]);
  std::size_t i = 0;
  for (const Value& container : pod.spec["initContainers"].items()) {
    if (errors.full()) return;
    const Path at = path.Index(i++);
    CheckContainer(pod, container, at, errors);
    CheckInitRestartPolicy(container, at, errors);
    const std::string_view name = container["name"].AsString();
    if (names.contains(name)) {
      errors.Duplicate(at.Child("name"), name);
    } else if (!name.empty()) {
      names.insert(name);
    }
    // Upstream looks at one container at a time here, and takes each for the first of the list.
    std::set<std::string> host_ports;
    CheckHostPorts(container, host_ports, path.Index(0), errors);
    if (container["restartPolicy"].AsString() == "Always") {
      CheckLifecycle(pod, container, at, errors);
      CheckProbes(pod, container, at, errors);
      continue;
    }
    for (const char* const key : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
      if (container[key].is_null()) continue;
      errors.Forbidden(at.Child(key),
                       "may not be set for init containers without restartPolicy=Always");
    }
  }
}

void CheckEphemeralContainers(const PodScope& pod, const Path& path, ErrorList& errors) {
  const std::set<std::string_view> regular = NamesOf(pod.spec["containers"]);
  const std::set<std::string_view> init = NamesOf(pod.spec["initContainers"]);
  std::set<std::string_view> names = regular;
  names.insert(init.begin(), init.end());
  std::size_t i = 0;
  for (const Value& container : pod.spec["ephemeralContainers"].items()) {
    if (errors.full()) return;
    const Path at = path.Index(i++);
    CheckContainer(pod, container, at, errors);
    CheckImageOfPod(container, at, errors);
    const std::string_view name = container["name"].AsString();
    if (!names.insert(name).second) errors.Duplicate(at.Child("name"), name);
    const std::string_view target = container["targetContainerName"].AsString();
    if (!target.empty() && !regular.contains(target) && !init.contains(target)) {
      errors.NotFound(at.Child("targetContainerName"), target);
    }
    CheckEphemeralOnly(container, at, errors);
  }
}

void CheckImagesOfPod(Value containers, const Path& path, ErrorList& errors) {
  std::size_t i = 0;
  for (const Value& container : containers.items()) {
    CheckImageOfPod(container, path.Index(i++), errors);
  }
}

}  // namespace apiserver::v0::groups::core
