#pragma once

#include <memory>

#include "apiserver/base/metrics.h"
#include "apiserver/runtime/names.h"
#include "apiserver/storage/cacher/cacher.h"

namespace apiserver::inline v0::registry {

// Puts the counters of `registry` in front of the callback and the sink in `options`.
// k8s.io/apiserver/pkg/storage/cacher/metrics has the counters; the gauges are ours.
void CountWatchCache(const std::shared_ptr<metrics::Registry>& registry,
                     const runtime::GroupResource& resource, storage::cacher::Options& options);

}  // namespace apiserver::inline v0::registry
