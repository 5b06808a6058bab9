#pragma once

#include "apiserver/base/status.h"
#include "apiserver/options/api_enablement.h"
#include "apiserver/server/resource_config.h"

// kube-apiserver's --runtime-config: k8s.io/kubernetes/pkg/controlplane.
namespace apiserver::inline v0::controlplane {

// Returns the versions of the built-in groups that this library has, which are enabled if they are
// stable.
server::ResourceConfig DefaultAPIResourceConfigSource();

// Completes --runtime-config as a kube-apiserver does: "v1" and "api/v1" mean the core group, and
// "api/legacy" nothing. Then checks it. `priority_and_fairness`: it is on, and follows the objects
// of its group. kInvalid, in upstream's words: the flag cannot be honoured.
Status CompleteAPIEnablement(options::APIEnablementOptions& enablement, bool priority_and_fairness);

}  // namespace apiserver::inline v0::controlplane
