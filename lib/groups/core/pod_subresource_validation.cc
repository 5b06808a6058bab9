#include "groups/core/pod_subresource_validation.h"

#include <map>
#include <string>
#include <string_view>

#include "groups/core/checks.h"
#include "groups/core/pod_validation.h"
#include "groups/core/resource_list.h"
#include "groups/map_edit.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Object;
using runtime::Value;

constexpr const char* kOnlyMeasured = "only cpu and memory resources are mutable";

// Upstream names an empty field, which is printed so.
ErrorList ForbiddenAtAll(const char* why) {
  ErrorList errors;
  errors.Forbidden(Path("[]"), why);
  return errors;
}

bool IsStatic(const Object& pod) { return pod.annotations().Find(kMirrorPod) != nullptr; }

bool HasPodResources(Value spec) {
  return spec["resources"]["requests"].size() + spec["resources"]["limits"].size() > 0;
}

// Follows isPodResizeRequestSupported: a node that can resize tells what its containers have.
bool NodeCanResize(const Object& pod) {
  for (const Value& container : pod["status"]["containerStatuses"].items()) {
    if (!container["state"]["running"].is_null()) return !container["resources"].is_null();
  }
  return true;
}

void CheckRemoved(Value now, Value before, const Path& path, ErrorList& errors) {
  for (const char* const list : {"requests", "limits"}) {
    for (const runtime::Member& member : before["resources"][list].members()) {
      if (now["resources"][list].Find(member.key) != nullptr) continue;
      const std::string what = std::string_view(list) == "requests" ? "request" : "limit";
      errors.Forbidden(path.Child(list), "resource " + what + "s cannot be removed");
      break;
    }
  }
}

// Sets cpu and memory among `amounts` to what they were.
void SetOldAmounts(MapEdit& amounts, Value old) {
  for (const char* const name : {"cpu", "memory"}) {
    if (!old[name].is_null()) {
      amounts.Set(name, old[name]);
    } else if (!amounts[name].is_null()) {
      amounts.Erase(name);
    }
  }
}

// Sets cpu and memory of a container to what they were, since these may change.
Value WithOldAmounts(Value container, Value before, runtime::Arena& arena) {
  MapEdit edit(container, arena);
  if (container["resources"].is_null()) edit.Set("resources", Value::Map({}));
  edit.Member("resources", [&](MapEdit& resources) {
    for (const char* const list : {"limits", "requests"}) {
      MapEdit amounts(resources[list], arena);
      SetOldAmounts(amounts, before["resources"][list]);
      if (!amounts.changed()) continue;
      if (amounts.Build().size() == 0) {
        resources.Erase(list);
      } else {
        resources.Set(list, amounts.Build());
      }
    }
  });
  return edit.Build();
}

// Returns false if the containers are not the same ones.
bool CheckOrder(Value now, Value before, ErrorList& errors) {
  bool same = true;
  for (const char* const list : {"containers", "initContainers"}) {
    const Path path = Path("spec").Child(list);
    if (now[list].items().size() != before[list].items().size()) {
      errors.Forbidden(path, std::string(list) + " may not be added or removed on resize");
      same = false;
      continue;
    }
    for (std::size_t i = 0; i < before[list].items().size(); ++i) {
      if (now[list].at(i)["name"] == before[list].at(i)["name"]) continue;
      errors.Forbidden(path.Index(i).Child("name"),
                       std::string(list) + " may not be renamed or reordered on resize");
      same = false;
    }
  }
  return same;
}

void CheckRemovals(Value now, Value before, ErrorList& errors) {
  for (const char* const list : {"initContainers", "containers"}) {
    for (std::size_t i = 0; i < before[list].items().size(); ++i) {
      const Value old = before[list].at(i);
      const bool init = std::string_view(list) == "initContainers";
      if (init && old["restartPolicy"].AsString() != "Always") continue;
      CheckRemoved(now[list].at(i), old, Path("spec").Child(list).Index(i).Child("resources"),
                   errors);
    }
  }
}

void CheckContainerChanges(Value now, Value before, ErrorList& errors) {
  runtime::Arena arena;
  const Path path("spec");
  for (std::size_t i = 0; i < now["containers"].items().size(); ++i) {
    const Value old = before["containers"].at(i);
    if (WithOldAmounts(now["containers"].at(i), old, arena) == old) continue;
    errors.Forbidden(path, kOnlyMeasured);
  }
  for (std::size_t i = 0; i < now["initContainers"].items().size(); ++i) {
    const Value old = before["initContainers"].at(i);
    const Value container = now["initContainers"].at(i);
    const bool sidecar = container["restartPolicy"].AsString() == "Always";
    if ((sidecar ? WithOldAmounts(container, old, arena) : container) == old) continue;
    errors.Forbidden(path, sidecar
                               ? "only cpu and memory resources for sidecar containers are mutable"
                               : "resources for non-sidecar init containers are immutable");
  }
}

// Compares what is not in the containers.
bool SameBesideContainers(Value now, Value before, runtime::Arena& arena) {
  for (const char* const list : {"containers", "initContainers"}) {
    now = runtime::Without(now, list, arena);
    before = runtime::Without(before, list, arena);
  }
  return now == before;
}

}  // namespace

bool SameContainerNames(Value a, Value b) {
  if (a.items().size() != b.items().size()) return false;
  for (std::size_t i = 0; i < a.items().size(); ++i) {
    if (!(a.at(i)["name"] == b.at(i)["name"])) return false;
  }
  return true;
}

ErrorList ValidateEphemeralContainersUpdate(const Object& now, const Object& before) {
  ErrorList errors = ValidateCoreMetaUpdate(now.metadata(), before.metadata());
  errors.Append(ValidatePodMetadataAndSpec(now, &before));
  errors.Append(ValidatePodAnnotationUpdate(now, before));
  if (IsStatic(before)) return ForbiddenAtAll("static pods do not support ephemeral containers");
  std::map<std::string_view, Value> containers;
  for (const Value& container : now["spec"]["ephemeralContainers"].items()) {
    containers.insert_or_assign(container["name"].AsString(), container);
  }
  for (const Value& old : before["spec"]["ephemeralContainers"].items()) {
    const auto container = containers.find(old["name"].AsString());
    const bool there = container != containers.end();
    if (there && container->second == old) continue;
    errors.Forbidden(Path("spec.ephemeralContainers"),
                     "existing ephemeral containers " + field::QuoteShort(old["name"].AsString()) +
                         " may not be " + (there ? "changed\n" : "removed\n"));
  }
  return errors;
}

ErrorList ValidatePodResize(const Object& now, const Object& before) {
  ErrorList errors = ValidateCoreMetaUpdate(now.metadata(), before.metadata());
  errors.Append(ValidatePodMetadataAndSpec(now, &before));
  const Value spec = now["spec"];
  const Value old = before["spec"];
  if (IsStatic(before)) return ForbiddenAtAll("static pods cannot be resized");
  if (old["os"]["name"].AsString() == "windows") {
    return ForbiddenAtAll("windows pods cannot be resized");
  }
  const Value had = before["status"]["qosClass"];
  if ((had.size() != 0 ? had.AsString() : QosClassOf(old)) != QosClassOf(spec)) {
    errors.Invalid(Path("spec"), now["status"]["qosClass"].AsString(),
                   "Pod QOS Class may not change as a result of resizing");
  }
  if (!NodeCanResize(before)) {
    errors.Forbidden(Path("spec"), "Pod running on node without support for resize");
  }
  if (HasPodResources(old) || HasPodResources(spec)) {
    errors.Forbidden(Path("[]"),
                     "resize of pods with pod-level resources is forbidden when "
                     "InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled");
    return errors;
  }
  if (!CheckOrder(spec, old, errors)) return errors;
  CheckRemovals(spec, old, errors);
  CheckContainerChanges(spec, old, errors);
  runtime::Arena arena;
  if (errors.empty() && !SameBesideContainers(spec, old, arena)) {
    errors.Forbidden(Path("spec"), kOnlyMeasured);
  }
  return errors;
}

}  // namespace apiserver::v0::groups::core
