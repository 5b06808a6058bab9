#pragma once

#include <map>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"
#include "apiserver/server/install.h"

namespace apiserver::inline v0::groups::core {

// Returns the subresources of pods that write pods: binding, eviction, ephemeralcontainers and
// resize, of k8s.io/kubernetes/pkg/registry/core/pod/storage. `clock` must outlive them. Fails only
// if the library was built wrong.
Result<std::map<std::string, server::Resource::Subresource>> PodSubresources(const Clock& clock);

}  // namespace apiserver::inline v0::groups::core
