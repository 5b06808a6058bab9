#pragma once

#include <string_view>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

// Validation of pods: k8s.io/kubernetes/pkg/apis/core/validation. What is left of it is said in the
// room's README.
namespace apiserver::inline v0::groups::core {

// Marks the copy of a static pod, which a kubelet makes.
inline constexpr std::string_view kMirrorPod = "kubernetes.io/config.mirror";

field::ErrorList ValidatePodCreate(const runtime::Object& pod);
field::ErrorList ValidatePodUpdate(const runtime::Object& now, const runtime::Object& before);
field::ErrorList ValidatePodStatusUpdate(const runtime::Object& now, const runtime::Object& before);

// Checks a PodSpec. `before`: the spec that it replaces, or null. `pod_name`: the name of the pod;
// empty for a template.
void CheckPodSpec(runtime::Value spec, runtime::Value before, std::string_view pod_name,
                  const field::Path& path, field::ErrorList& errors);
// Checks metadata and spec, as all validations of pods do. `before`: the pod that it replaces, or
// null.
field::ErrorList ValidatePodMetadataAndSpec(const runtime::Object& pod,
                                            const runtime::Object* before);
// Checks annotations that an update must not add, change or remove.
field::ErrorList ValidatePodAnnotationUpdate(const runtime::Object& now,
                                             const runtime::Object& before);

}  // namespace apiserver::inline v0::groups::core
