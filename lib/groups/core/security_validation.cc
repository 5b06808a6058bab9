#include "groups/core/security_validation.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "groups/core/checks.h"
#include "groups/core/container_validation.h"
#include "groups/core/profile_validation.h"
#include "groups/core/windows_validation.h"
#include "text/ascii.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr std::size_t kSysctlBytesMax = 253;
constexpr const char* kNotOnWindows = "cannot be set for a windows pod";

// Checks the numeric ids that are set.
void CheckIds(Value context, std::initializer_list<const char*> keys, const Path& path,
              ErrorList& errors) {
  for (const char* const key : keys) {
    const Value id = context[key];
    if (!id.is_null()) CheckRange(errors, path.Child(key), id.AsInt(), 0, kInt32Max);
  }
}

// "kernel.shm_rmid_forced", with dots or slashes between segments.
bool IsSysctlName(std::string_view name) {
  if (name.size() > kSysctlBytesMax) return false;
  for (std::string_view rest = name;;) {
    const std::size_t end = rest.find_first_of("./");
    const std::string_view segment = rest.substr(0, end);
    const auto outer = [](char c) { return (c >= 'a' && c <= 'z') || text::IsDigit(c); };
    const auto inner = [&](char c) { return outer(c) || c == '-' || c == '_'; };
    if (segment.empty() || !outer(segment.front()) || !outer(segment.back()) ||
        !std::ranges::all_of(segment, inner)) {
      return false;
    }
    if (end == std::string_view::npos) return true;
    rest.remove_prefix(end + 1);
  }
}

// A slash separates segments if it comes first; then dots are part of a segment.
std::string Normalized(std::string_view name) {
  std::string text(name);
  const std::size_t first = text.find_first_of("./");
  if (first == std::string::npos || text[first] == '.') return text;
  for (char& c : text) c = c == '.' ? '/' : c == '/' ? '.' : c;
  return text;
}

// Refuses sysctls of namespaces that the pod shares with the host.
void CheckHostSysctl(std::string_view name, Value spec, const Path& path, ErrorList& errors) {
  std::string normalized = Normalized(name);
  normalized.resize(std::min(normalized.find('*'), normalized.size()));
  const bool ipc =
      IsOneOf(normalized, {"kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni",
                           "kernel.shm_rmid_forced", "kernel.shm", "kernel.msgmax", "kernel.msgmnb",
                           "kernel.msgmni", "kernel.msg"}) ||
      normalized.starts_with("fs.mqueue.");
  if (spec["hostNetwork"].AsBool() && normalized.starts_with("net.")) {
    errors.Invalid(path, name, "may not be specified when 'hostNetwork' is true");
  } else if (spec["hostIPC"].AsBool() && ipc) {
    errors.Invalid(path, name, "may not be specified when 'hostIPC' is true");
  }
}

void CheckSysctls(Value spec, const Path& path, ErrorList& errors) {
  std::set<std::string_view> names;
  std::size_t i = 0;
  for (const Value& sysctl : spec["securityContext"]["sysctls"].items()) {
    const Path at = path.Index(i++).Child("name");
    const std::string_view name = sysctl["name"].AsString();
    if (name.empty()) {
      errors.Required(at);
    } else if (!IsSysctlName(name)) {
      errors.Invalid(at, name,
                     "must have at most 253 characters and match regex "
                     "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
    } else if (!names.insert(name).second) {
      errors.Duplicate(at, name);
    }
    CheckHostSysctl(name, spec, at, errors);
  }
}

// Checks a member that is set against its words.
void CheckOptionalWord(Value context, const char* key, std::initializer_list<const char*> words,
                       const Path& path, ErrorList& errors) {
  if (context[key].is_null()) return;
  CheckWord(errors, path.Child(key), context[key].AsString(), words);
}

// Forbids members that a pod on Windows cannot have.
void ForbidMembers(Value owner, std::initializer_list<const char*> keys, const Path& path,
                   ErrorList& errors) {
  for (const char* const key : keys) {
    const Value value = owner[key];
    // A bool by value that is false is not set; the others are pointers or lists.
    const bool unset = value.is_null() || (std::string_view(key).starts_with("host") &&
                                           std::string_view(key) != "hostUsers" && !value.AsBool());
    if (!unset) errors.Forbidden(path.Child(key), kNotOnWindows);
  }
}

void CheckWindowsPod(Value spec, const Path& path, ErrorList& errors) {
  const Path at = path.Child("securityContext");
  const Value context = spec["securityContext"];
  ForbidMembers(context, {"appArmorProfile", "seLinuxOptions"}, at, errors);
  ForbidMembers(spec, {"hostUsers", "hostPID", "hostIPC"}, path, errors);
  ForbidMembers(context, {"seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls"}, at,
                errors);
  ForbidMembers(spec, {"shareProcessNamespace"}, path, errors);
  ForbidMembers(context,
                {"runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy",
                 "seLinuxChangePolicy"},
                at, errors);
  VisitContainers(spec, path, [&](const Value& container, const Path& of) {
    ForbidMembers(container["securityContext"],
                  {"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities",
                   "readOnlyRootFilesystem", "privileged", "allowPrivilegeEscalation", "procMount",
                   "runAsUser", "runAsGroup"},
                  of.Child("securityContext"), errors);
  });
}

void CheckLinuxPod(Value spec, const Path& path, ErrorList& errors) {
  constexpr const char* kWhy = "windows options cannot be set for a linux pod";
  if (!spec["securityContext"]["windowsOptions"].is_null()) {
    errors.Forbidden(path.Child("securityContext").Child("windowsOptions"), kWhy);
  }
  VisitContainers(spec, path, [&](const Value& container, const Path& at) {
    if (container["securityContext"]["windowsOptions"].is_null()) return;
    errors.Forbidden(at.Child("securityContext").Child("windowsOptions"), kWhy);
  });
}

// A security context as messages show it: Go's internal type, whose members have other names.
std::string PrintedContext(Value context) {
  const Value capabilities = context["capabilities"];
  const std::string caps = capabilities.is_null()
                               ? "null"
                               : "{\"Add\":" + Printed(capabilities["add"]) +
                                     ",\"Drop\":" + Printed(capabilities["drop"]) + "}";
  const auto member = [&](const char* name, const char* key) {
    return std::string(",\"") + name + "\":" + Printed(context[key]);
  };
  return "{\"Capabilities\":" + caps + member("Privileged", "privileged") +
         member("SELinuxOptions", "seLinuxOptions") + member("WindowsOptions", "windowsOptions") +
         member("RunAsUser", "runAsUser") + member("RunAsGroup", "runAsGroup") +
         member("RunAsNonRoot", "runAsNonRoot") +
         member("ReadOnlyRootFilesystem", "readOnlyRootFilesystem") +
         member("AllowPrivilegeEscalation", "allowPrivilegeEscalation") +
         member("ProcMount", "procMount") + member("SeccompProfile", "seccompProfile") +
         member("AppArmorProfile", "appArmorProfile") + "}";
}

void CheckEscalation(Value context, const Path& path, ErrorList& errors) {
  const Value allowed = context["allowPrivilegeEscalation"];
  if (allowed.is_null() || allowed.AsBool()) return;
  if (context["privileged"].AsBool()) {
    errors.InvalidPrinted(
        path, PrintedContext(context),
        "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  }
  for (const Value& capability : context["capabilities"]["add"].items()) {
    if (capability.AsString() != "CAP_SYS_ADMIN") continue;
    errors.InvalidPrinted(
        path, PrintedContext(context),
        "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN");
  }
}

}  // namespace

void CheckSecurityContext(Value context, bool host_users, const Path& path, ErrorList& errors) {
  if (context.is_null()) return;
  CheckIds(context, {"runAsUser", "runAsGroup"}, path, errors);
  if (const Value mount = context["procMount"]; !mount.is_null()) {
    const Path at = path.Child("procMount");
    CheckWord(errors, at, mount.AsString(), {"Default", "Unmasked"});
    if (host_users && mount.AsString() == "Unmasked") {
      errors.Invalid(at, mount.AsString(), "`hostUsers` must be false to use `Unmasked`");
    }
  }
  CheckSeccompProfile(context["seccompProfile"], path.Child("seccompProfile"), errors);
  CheckEscalation(context, path, errors);
  CheckWindowsOptions(context["windowsOptions"], path.Child("windowsOptions"), errors);
  CheckAppArmorProfile(context["appArmorProfile"], path.Child("appArmorProfile"), errors);
}

void CheckPodSecurityContext(Value pod_spec, bool had_policy, const Path& path, ErrorList& errors) {
  const Value context = pod_spec["securityContext"];
  const Path at = path.Child("securityContext");
  CheckIds(context, {"fsGroup", "runAsUser", "runAsGroup"}, at, errors);
  std::size_t i = 0;
  for (const Value& group : context["supplementalGroups"].items()) {
    CheckRange(errors, at.Child("supplementalGroups").Index(i++), group.AsInt(), 0, kInt32Max);
  }
  if (pod_spec["shareProcessNamespace"].AsBool() && pod_spec["hostPID"].AsBool()) {
    errors.InvalidPrinted(at.Child("shareProcessNamespace"), "true",
                          "ShareProcessNamespace and HostPID cannot both be enabled");
  }
  CheckSysctls(pod_spec, at.Child("sysctls"), errors);
  CheckOptionalWord(context, "fsGroupChangePolicy", {"Always", "OnRootMismatch"}, at, errors);
  CheckSeccompProfile(context["seccompProfile"], at.Child("seccompProfile"), errors);
  CheckWindowsOptions(context["windowsOptions"], at.Child("windowsOptions"), errors);
  CheckAppArmorProfile(context["appArmorProfile"], at.Child("appArmorProfile"), errors);
  CheckOptionalWord(context, "supplementalGroupsPolicy", {"Merge", "Strict"}, at, errors);
  if (had_policy) {
    CheckOptionalWord(context, "seLinuxChangePolicy", {"MountOption", "Recursive"}, at, errors);
  } else {
    CheckOptionalWord(context, "seLinuxChangePolicy", {"Recursive"}, at, errors);
  }
}

void CheckHostUsers(Value pod_spec, const Path& path, ErrorList& errors) {
  const Value users = pod_spec["hostUsers"];
  if (users.is_null() || users.AsBool()) return;
  constexpr const char* kWhy = "when `hostUsers` is false";
  if (pod_spec["hostNetwork"].AsBool()) errors.Forbidden(path.Child("hostNetwork"), kWhy);
  if (pod_spec["hostPID"].AsBool()) errors.Forbidden(path.Child("HostPID"), kWhy);
  if (pod_spec["hostIPC"].AsBool()) errors.Forbidden(path.Child("HostIPC"), kWhy);
  VisitContainers(pod_spec, path, [&](const Value& container, const Path& at) {
    if (container["volumeDevices"].size() == 0) return;
    errors.Forbidden(at.Child("volumeDevices"), kWhy);
  });
}

void CheckOs(Value pod_spec, const Path& path, ErrorList& errors) {
  const Value os = pod_spec["os"];
  if (os.is_null()) return;
  const std::string_view name = os["name"].AsString();
  if (name.empty()) return errors.Required(path.Child("os").Child("name"));
  if (!CheckWord(errors, path.Child("os"), name, {"linux", "windows"})) return;
  if (name == "linux") {
    CheckLinuxPod(pod_spec, path, errors);
  } else {
    CheckWindowsPod(pod_spec, path, errors);
  }
}

}  // namespace apiserver::v0::groups::core
