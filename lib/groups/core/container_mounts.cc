#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "groups/core/checks.h"
#include "groups/core/container_validation.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

// The names and paths of mounts or devices of a container.
struct Used {
  Used(Value list, const char* path) {
    for (const Value& item : list.items()) {
      names.insert(item["name"].AsString());
      paths.insert(item[path].AsString());
    }
  }
  std::set<std::string_view> names;
  std::set<std::string_view> paths;
};

void CheckPropagation(Value mount, Value container, const Path& path, ErrorList& errors) {
  const std::string_view mode = mount["mountPropagation"].AsString();
  CheckWord(errors, path, mode, {"Bidirectional", "HostToContainer", "None"});
  if (mode == "Bidirectional" && !container["securityContext"]["privileged"].AsBool()) {
    errors.Forbidden(path,
                     "Bidirectional mount propagation is available only to privileged containers");
  }
}

void CheckRecursiveReadOnly(Value mount, const Path& path, ErrorList& errors) {
  const Value mode = mount["recursiveReadOnly"];
  if (mode.is_null() || mode.AsString() == "Disabled") return;
  if (!CheckWord(errors, path, mode.AsString(), {"Disabled", "Enabled", "IfPossible"})) return;
  if (!mount["readOnly"].AsBool()) {
    errors.Forbidden(path, "may only be specified when readOnly is true");
  }
  const Value propagation = mount["mountPropagation"];
  if (!propagation.is_null() && propagation.AsString() != "None") {
    errors.Forbidden(path, "may only be specified when mountPropagation is None or not specified");
  }
}

// The mounts of a container that have been looked at so far.
struct Mounted {
  const Used devices;
  std::set<std::string_view> paths;
};

void CheckMountTarget(const PodScope& pod, Value mount, const Path& at, Mounted& mounted,
                      ErrorList& errors) {
  const std::string_view name = mount["name"].AsString();
  const std::string_view path = mount["mountPath"].AsString();
  CheckPresent(errors, at, mount, "name");
  if (!pod.volumes.contains(name)) errors.NotFound(at.Child("name"), name);
  CheckPresent(errors, at, mount, "mountPath");
  if (!mounted.paths.insert(path).second) {
    errors.Invalid(at.Child("mountPath"), path, "must be unique");
  }
  if (mounted.devices.names.contains(name)) {
    errors.Invalid(at.Child("name"), name, "must not already exist in volumeDevices");
  }
  if (mounted.devices.paths.contains(path)) {
    errors.Invalid(at.Child("mountPath"), path,
                   "must not already exist as a path in volumeDevices");
  }
}

void CheckVolumeMounts(const PodScope& pod, Value container, const Path& path, ErrorList& errors) {
  Mounted mounted{Used(container["volumeDevices"], "devicePath"), {}};
  std::size_t i = 0;
  for (const Value& mount : container["volumeMounts"].items()) {
    if (errors.full()) return;
    const Path at = path.Index(i++);
    CheckMountTarget(pod, mount, at, mounted, errors);
    // Upstream names the list for most members, and not the mount.
    const std::string_view sub_path = mount["subPath"].AsString();
    const std::string_view expression = mount["subPathExpr"].AsString();
    if (!sub_path.empty()) CheckDescendingPath(errors, path.Child("subPath"), sub_path);
    if (!expression.empty()) {
      if (!sub_path.empty()) {
        errors.Invalid(at.Child("subPathExpr"), expression,
                       "subPathExpr and subPath are mutually exclusive");
      }
      CheckDescendingPath(errors, path.Child("subPathExpr"), expression);
    }
    if (!mount["mountPropagation"].is_null()) {
      CheckPropagation(mount, container, path.Child("mountPropagation"), errors);
    }
    CheckRecursiveReadOnly(mount, path.Child("recursiveReadOnly"), errors);
  }
}

bool HasBacksteps(std::string_view text) {
  ErrorList found;
  CheckNoBacksteps(found, Path(), text);
  return !found.empty();
}

// Only claims can be devices.
void CheckDeviceVolume(const PodScope& pod, std::string_view name, const Path& at,
                       ErrorList& errors) {
  const auto volume = pod.volumes.find(name);
  if (volume == pod.volumes.end()) return errors.NotFound(at.Child("name"), name);
  if (!volume->second["persistentVolumeClaim"].is_null() ||
      !volume->second["ephemeral"].is_null()) {
    return;
  }
  errors.Invalid(at.Child("name"), name,
                 "can only use volume source type of PersistentVolumeClaim or Ephemeral for block "
                 "mode");
}

void CheckVolumeDevices(const PodScope& pod, Value container, const Path& path, ErrorList& errors) {
  const Used mounts(container["volumeMounts"], "mountPath");
  std::set<std::string_view> names;
  std::set<std::string_view> paths;
  std::size_t i = 0;
  for (const Value& device : container["volumeDevices"].items()) {
    if (errors.full()) return;
    const Path at = path.Index(i++);
    const std::string_view name = device["name"].AsString();
    const std::string_view device_path = device["devicePath"].AsString();
    CheckPresent(errors, at, device, "name");
    if (names.contains(name)) errors.Invalid(at.Child("name"), name, "must be unique");
    CheckDeviceVolume(pod, name, at, errors);
    CheckPresent(errors, at, device, "devicePath");
    if (paths.contains(device_path)) {
      errors.Invalid(at.Child("devicePath"), device_path, "must be unique");
    }
    if (HasBacksteps(device_path)) {
      errors.Invalid(at.Child("devicePath"), device_path, "can not contain backsteps ('..')");
    } else {
      paths.insert(device_path);
    }
    if (mounts.names.contains(name)) {
      errors.Invalid(at.Child("name"), name, "must not already exist in volumeMounts");
    }
    if (mounts.paths.contains(device_path)) {
      errors.Invalid(at.Child("devicePath"), device_path,
                     "must not already exist as a path in volumeMounts");
    }
    if (!name.empty()) names.insert(name);
  }
}

}  // namespace

void CheckMounts(const PodScope& pod, Value container, const Path& path, ErrorList& errors) {
  CheckVolumeMounts(pod, container, path.Child("volumeMounts"), errors);
  CheckVolumeDevices(pod, container, path.Child("volumeDevices"), errors);
}

}  // namespace apiserver::v0::groups::core
