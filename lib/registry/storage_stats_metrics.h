#pragma once

#include <memory>

#include "apiserver/base/context.h"
#include "apiserver/base/metrics.h"
#include "apiserver/runtime/names.h"
#include "apiserver/storage/interface.h"

namespace apiserver::inline v0::registry {

// Shows how much `storage` has of `resource`, looked up whenever `registry` is shown; -1: not
// known. `storage` outlives what is returned, whose end takes the series away.
// k8s.io/apiserver/pkg/storage/etcd3/metrics.UpdateStoreStats.
Context::Registration ShowStorageStats(const std::shared_ptr<metrics::Registry>& registry,
                                       const runtime::GroupResource& resource,
                                       const storage::Interface& storage);

}  // namespace apiserver::inline v0::registry
