#pragma once

#include <memory>

#include "apiserver/base/metrics.h"
#include "apiserver/runtime/names.h"
#include "apiserver/storage/cacher/cacher.h"

namespace apiserver::inline v0::registry {

// Adds the counters of `registry` to the callbacks in `options`; existing callbacks are kept.
// k8s.io/apiserver/pkg/storage/cacher/metrics has the counters; the gauges are ours.
void CountWatchCache(const std::shared_ptr<metrics::Registry>& registry,
                     const runtime::GroupResource& resource, storage::cacher::Options& options);

}  // namespace apiserver::inline v0::registry
