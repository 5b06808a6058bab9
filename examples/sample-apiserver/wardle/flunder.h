#pragma once

#include <memory>

#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/kind.h"

namespace wardle {

// Group wardle.example.com, as k8s.io/sample-apiserver's.
inline constexpr char kGroup[] = "wardle.example.com";

// Flunder: namespaced, refers to a Flunder or a Fischer. Served as v1beta1, where each has a field
// of its own (the hub), and v1alpha1, where one field serves both (what is stored).
apiserver::Result<apiserver::runtime::KindPtr> NewFlunderKind();
std::shared_ptr<const apiserver::rest::Strategy> NewFlunderStrategy();

}  // namespace wardle
