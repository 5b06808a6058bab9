#pragma once

#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/kind.h"

// The group discovery.k8s.io, v1: k8s.io/api/discovery/v1 as of Kubernetes 1.35.
namespace apiserver::inline v0::groups::discovery {

// Returns EndpointSlice; see core::Kinds().
Result<std::vector<runtime::KindPtr>> Kinds();

}  // namespace apiserver::inline v0::groups::discovery
