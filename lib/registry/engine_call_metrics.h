#pragma once

#include <memory>

#include "apiserver/base/metrics.h"
#include "apiserver/runtime/names.h"
#include "apiserver/storage/store/calls.h"

namespace apiserver::inline v0::registry {

// Returns what counts and times the engine's calls for `resource` in `registry`, under the names
// that k8s.io/apiserver/pkg/storage/etcd3/metrics gives them, whatever the engine is.
std::shared_ptr<storage::store::CallObserver> CountEngineCalls(
    const std::shared_ptr<metrics::Registry>& registry, const runtime::GroupResource& resource);

}  // namespace apiserver::inline v0::registry
