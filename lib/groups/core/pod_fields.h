#pragma once

#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::groups::core {

// Drops the fields of features that are off by default in Kubernetes 1.35, unless the stored pod
// has them: pkg/api/pod.DropDisabledPodFields. `old`: the stored pod; null: the pod is created.
void DropDisabledPodFields(runtime::Object& pod, const runtime::Object* old);

// Adds to selectors of affinity and of topology spread constraints what their matchLabelKeys and
// mismatchLabelKeys say about the pod's own labels, as a create does.
void ApplyLabelKeys(runtime::Object& pod);

}  // namespace apiserver::inline v0::groups::core
