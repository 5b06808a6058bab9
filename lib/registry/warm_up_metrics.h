#pragma once

#include <functional>
#include <memory>

#include "apiserver/base/metrics.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/storage/warm_up.h"

namespace apiserver::inline v0::registry {

// What tells `registry` how far the cache of `resource` has come, and `then` (may be null) after
// it. k8s.io/apiserver/pkg/storage/cacher/metrics has the counters; the gauges are ours.
std::function<void(const storage::WarmUp&)> CountWarmUp(
    const std::shared_ptr<metrics::Registry>& registry, const runtime::GroupResource& resource,
    std::function<void(const storage::WarmUp&)> then);

}  // namespace apiserver::inline v0::registry
