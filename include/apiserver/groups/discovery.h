#pragma once

#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/server/install.h"

// The group discovery.k8s.io, v1: k8s.io/api/discovery/v1 as of Kubernetes 1.35.
namespace apiserver::inline v0::groups::discovery {

// Returns EndpointSlice; see core::Kinds().
Result<std::vector<runtime::KindPtr>> Kinds();

// Returns endpoint slices as a kube-apiserver serves them: with Kubernetes' defaults, validation,
// strategy and columns, for server::InstallKinds(). `clock` must outlive the resources and what is
// made of them. Each call makes a new kind. It fails only if the library was built wrong.
Result<std::vector<server::Resource>> Resources(const Clock& clock);

}  // namespace apiserver::inline v0::groups::discovery
