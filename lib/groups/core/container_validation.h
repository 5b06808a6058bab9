#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

// Validation of containers: k8s.io/kubernetes/pkg/apis/core/validation. Findings are added to
// `errors`.
namespace apiserver::inline v0::groups::core {

// The facts of a pod that the rules of its containers need.
struct PodScope {
  explicit PodScope(runtime::Value pod_spec);

  runtime::Value spec;
  std::map<std::string_view, runtime::Value> volumes;  // Valid ones, by name.
  std::set<std::string_view> claims;                   // Names of spec.resourceClaims.
  std::optional<std::int64_t> grace_seconds;
  bool host_users;  // False: the pod has users of its own.
};

// Each checks all containers of one list of the spec.
void CheckContainers(const PodScope& pod, const field::Path& path, field::ErrorList& errors);
void CheckInitContainers(const PodScope& pod, const field::Path& path, field::ErrorList& errors);
void CheckEphemeralContainers(const PodScope& pod, const field::Path& path,
                              field::ErrorList& errors);
// Checks images beyond what templates of pods are checked for.
void CheckImagesOfPod(runtime::Value containers, const field::Path& path, field::ErrorList& errors);

// Parts of a container.
void CheckEnvironment(runtime::Value container, const field::Path& path, field::ErrorList& errors);
void CheckMounts(const PodScope& pod, runtime::Value container, const field::Path& path,
                 field::ErrorList& errors);
void CheckLifecycle(const PodScope& pod, runtime::Value container, const field::Path& path,
                    field::ErrorList& errors);
void CheckProbes(const PodScope& pod, runtime::Value container, const field::Path& path,
                 field::ErrorList& errors);
void CheckRestartRules(runtime::Value container, const field::Path& path, field::ErrorList& errors);

// References to fields of a pod: env[].valueFrom, and files of downwardAPI volumes (`file`).
void CheckFieldRef(runtime::Value ref, bool file, const field::Path& path,
                   field::ErrorList& errors);
void CheckResourceFieldRef(runtime::Value ref, bool file, const field::Path& path,
                           field::ErrorList& errors);

// Calls `visit` with each container of a PodSpec and its path, in upstream's order: init
// containers, containers, ephemeral containers.
template <class Visit>
void VisitContainers(runtime::Value spec, const field::Path& path, Visit visit) {
  for (const char* const list : {"initContainers", "containers", "ephemeralContainers"}) {
    std::size_t i = 0;
    for (const runtime::Value& container : spec[list].items()) {
      visit(container, path.Child(list).Index(i++));
    }
  }
}

}  // namespace apiserver::inline v0::groups::core
