#pragma once

#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::groups::core {

// Returns Secret and ServiceAccount with the defaults that Kubernetes has in code.
Result<std::vector<runtime::KindPtr>> ServedKinds();
// Returns Binding, the body of pods/binding and bindings.
Result<runtime::KindPtr> BindingKind();
// Returns ConfigMap, Endpoints, Event, Pod and Node with these defaults.
Result<std::vector<runtime::KindPtr>> ClusterKinds();

}  // namespace apiserver::inline v0::groups::core
