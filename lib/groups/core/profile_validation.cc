#include "groups/core/profile_validation.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "groups/core/checks.h"
#include "groups/core/container_validation.h"
#include "groups/core/security_validation.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr long kLocalhostBytesMax = 4095;
constexpr std::string_view kPodSeccomp = "seccomp.security.alpha.kubernetes.io/pod";
constexpr std::string_view kContainerSeccomp = "container.seccomp.security.alpha.kubernetes.io/";
constexpr std::string_view kRuntime = "runtime/default";
constexpr std::string_view kUnconfined = "unconfined";
constexpr std::string_view kLocalhost = "localhost/";

// The profile as messages show it: Go's internal type.
std::string PrintedSeccomp(Value profile) {
  return "{\"Type\":" + Printed(profile["type"]) +
         ",\"LocalhostProfile\":" + Printed(profile["localhostProfile"]) + "}";
}

void CheckLocalAppArmor(Value profile, const Path& path, ErrorList& errors) {
  const Value local = profile["localhostProfile"];
  const Path at = path.Child("localhostProfile");
  if (local.is_null()) return errors.Required(at, "must be set when AppArmor type is Localhost");
  const std::string_view name = local.AsString();
  if (TrimSpace(name) != name) {
    errors.Invalid(at, name, "must not be padded with whitespace");
  } else if (name.empty()) {
    errors.Required(at, "must be set when AppArmor type is Localhost");
  }
  if (name.size() > static_cast<std::size_t>(kLocalhostBytesMax)) {
    errors.TooLong(at, kLocalhostBytesMax);
  }
}

void CheckSeccompText(std::string_view profile, const Path& path, ErrorList& errors) {
  if (profile == kRuntime || profile == "docker/default" || profile == kUnconfined) return;
  if (profile.starts_with(kLocalhost)) {
    return CheckDescendingPath(errors, path, profile.substr(kLocalhost.size()));
  }
  errors.Invalid(path, profile, "must be a valid seccomp profile");
}

std::set<std::string_view> ContainerNames(Value spec) {
  std::set<std::string_view> names;
  for (const char* const list : {"initContainers", "containers", "ephemeralContainers"}) {
    for (const Value& container : spec[list].items()) names.insert(container["name"].AsString());
  }
  return names;
}

void CheckAppArmorText(std::string_view key, std::string_view profile,
                       const std::set<std::string_view>& containers, const Path& path,
                       ErrorList& errors) {
  const std::string_view name = key.substr(kAppArmorPrefix.size());
  if (!containers.contains(name)) errors.Invalid(path.Key(key), name, "container not found");
  if (profile.empty() || profile == kRuntime || profile == kUnconfined ||
      profile.starts_with(kLocalhost)) {
    return;
  }
  errors.Invalid(path.Key(key), profile,
                 "invalid AppArmor profile name: " + field::QuoteShort(profile));
}

// Compares an annotation with the field; `kind`: "seccomp" or "apparmor".
void CheckSame(std::string_view annotation, Value profile, const std::string& kind,
               const Path& path, ErrorList& errors) {
  const std::string_view type = profile["type"].AsString();
  const bool docker = kind == "seccomp" && annotation == "docker/default";
  const bool same = type == "Unconfined"       ? annotation == kUnconfined
                    : type == "RuntimeDefault" ? annotation == kRuntime || docker
                    : type == "Localhost"      ? annotation.starts_with(kLocalhost)
                                               : true;
  if (!same) {
    return errors.Forbidden(path.Child("type"), kind + " type in annotation and field must match");
  }
  if (type != "Localhost") return;
  const Value local = profile["localhostProfile"];
  if (!local.is_null() && annotation.substr(kLocalhost.size()) == local.AsString()) return;
  errors.Forbidden(path.Child("localhostProfile"),
                   kind + " profile in annotation and field must match");
}

void CheckSeccompAnnotations(Value annotations, Value spec, const Path& path, ErrorList& errors) {
  const Value* const of_pod = annotations.Find(kPodSeccomp);
  const Value pod_profile = spec["securityContext"]["seccompProfile"];
  if (of_pod != nullptr && !pod_profile.is_null()) {
    CheckSame(of_pod->AsString(), pod_profile, "seccomp",
              path.Child("securityContext").Child("seccompProfile"), errors);
  }
  VisitContainers(spec, path, [&](const Value& container, const Path& at) {
    const Value profile = container["securityContext"]["seccompProfile"];
    const std::string key =
        std::string(kContainerSeccomp) + std::string(container["name"].AsString());
    const Value* const annotation = annotations.Find(key);
    if (profile.is_null() || annotation == nullptr) return;
    CheckSame(annotation->AsString(), profile, "seccomp",
              at.Child("securityContext").Child("seccompProfile"), errors);
  });
}

}  // namespace

void CheckSeccompProfile(Value profile, const Path& path, ErrorList& errors) {
  if (profile.is_null()) return;
  const std::string_view type = profile["type"].AsString();
  if (type.empty()) {
    errors.Required(path.Child("type"), "type is required when seccompProfile is set");
  } else {
    CheckWord(errors, path.Child("type"), type, {"Localhost", "RuntimeDefault", "Unconfined"});
  }
  const Value local = profile["localhostProfile"];
  const Path at = path.Child("localhostProfile");
  if (type == "Localhost" && local.is_null()) {
    errors.Required(at, "must be set when seccomp type is Localhost");
  } else if (type == "Localhost") {
    CheckDescendingPath(errors, at, local.AsString());
  } else if (!local.is_null()) {
    errors.InvalidPrinted(at, PrintedSeccomp(profile),
                          "can only be set when seccomp type is Localhost");
  }
}

void CheckAppArmorProfile(Value profile, const Path& path, ErrorList& errors) {
  if (profile.is_null()) return;
  const std::string_view type = profile["type"].AsString();
  if (type.empty()) {
    return errors.Required(path.Child("type"), "type is required when appArmorProfile is set");
  }
  if (type == "Localhost") return CheckLocalAppArmor(profile, path, errors);
  if (!CheckWord(errors, path.Child("type"), type, {"Localhost", "RuntimeDefault", "Unconfined"})) {
    return;
  }
  if (const Value local = profile["localhostProfile"]; !local.is_null()) {
    errors.Invalid(path.Child("localhostProfile"), local.AsString(),
                   "can only be set when AppArmor type is Localhost");
  }
}

void CheckProfileAnnotationSyntax(Value annotations, Value pod_spec, const Path& path,
                                  ErrorList& errors) {
  if (const Value* const pod = annotations.Find(kPodSeccomp); pod != nullptr) {
    CheckSeccompText(pod->AsString(), path.Child(kPodSeccomp), errors);
  }
  for (const runtime::Member& member : annotations.members()) {
    if (!member.key.starts_with(kContainerSeccomp)) continue;
    CheckSeccompText(member.value.AsString(), path.Child(member.key), errors);
  }
  const auto confines = [](const runtime::Member& member) {
    return member.key.starts_with(kAppArmorPrefix);
  };
  if (std::ranges::none_of(annotations.members(), confines)) return;
  const std::set<std::string_view> containers = ContainerNames(pod_spec);
  for (const runtime::Member& member : annotations.members()) {
    if (!confines(member)) continue;
    CheckAppArmorText(member.key, member.value.AsString(), containers, path, errors);
  }
}

void CheckProfileAnnotations(Value annotations, Value pod_spec, const Path& path,
                             ErrorList& errors) {
  if (annotations.size() == 0) return;
  CheckSeccompAnnotations(annotations, pod_spec, path, errors);
  if (pod_spec["os"]["name"].AsString() == "windows") return;
  const Value of_pod = pod_spec["securityContext"]["appArmorProfile"];
  VisitContainers(pod_spec, path, [&](const Value& container, const Path& at) {
    const Value own = container["securityContext"]["appArmorProfile"];
    const Value profile = own.is_null() ? of_pod : own;
    const std::string key =
        std::string(kAppArmorPrefix) + std::string(container["name"].AsString());
    const Value* const annotation = annotations.Find(key);
    if (profile.is_null() || annotation == nullptr) return;
    CheckSame(annotation->AsString(), profile, "apparmor",
              at.Child("securityContext").Child("appArmorProfile"), errors);
  });
}

}  // namespace apiserver::v0::groups::core
