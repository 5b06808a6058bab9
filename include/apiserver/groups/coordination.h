#pragma once

#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/kind.h"

// The group coordination.k8s.io, v1: k8s.io/api/coordination/v1 as of Kubernetes 1.35.
namespace apiserver::inline v0::groups::coordination {

// Returns Lease; see core::Kinds().
Result<std::vector<runtime::KindPtr>> Kinds();

}  // namespace apiserver::inline v0::groups::coordination
