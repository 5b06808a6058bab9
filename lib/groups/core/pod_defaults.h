#pragma once

#include "apiserver/runtime/object.h"
#include "groups/map_edit.h"

// Defaults of pods that Kubernetes has in code: k8s.io/kubernetes/pkg/apis/core/v1, defaults.go,
// and conversion.go for what its internal types make of two spellings of one thing.
namespace apiserver::inline v0::groups::core {

// Sets the defaults of a PodSpec, which is that of a pod or of a template.
void SetPodSpecDefaults(MapEdit& spec);

// Sets the defaults of a pod: those of its spec, and those that templates do not have.
void SetPodDefaults(runtime::Object& pod);

// Rounds each quantity of a map up to a thousandth, as SetDefaults_ResourceList.
void RoundUpResources(MapEdit& resources);

}  // namespace apiserver::inline v0::groups::core
