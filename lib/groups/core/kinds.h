#pragma once

#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::groups::core {

// Returns Secret and ServiceAccount with the defaults that Kubernetes has in code.
Result<std::vector<runtime::KindPtr>> ServedKinds();

}  // namespace apiserver::inline v0::groups::core
