#pragma once

#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/kind.h"

// The legacy group, v1: k8s.io/api/core/v1 as of Kubernetes 1.35.
namespace apiserver::inline v0::groups::core {

// ConfigMap, Event, Namespace, Pod and Secret: names, fields with their numbers and markers, the
// defaults that markers state. No strategies: validation and further defaults are the host's.
// Each call makes new kinds; a server needs them once. Errors: only if the library was built wrong.
Result<std::vector<runtime::KindPtr>> Kinds();

}  // namespace apiserver::inline v0::groups::core
