#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/registry/store.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::groups::core {

// Makes pods/eviction: a POST of an Eviction of policy/v1 or policy/v1beta1 marks the pod as
// disrupted and deletes it. There are no PodDisruptionBudgets here, so it always may go. `kind` is
// Eviction. `clock` must outlive it. EvictionREST of
// k8s.io/kubernetes/pkg/registry/core/pod/storage.
std::shared_ptr<rest::Storage> NewPodEviction(std::shared_ptr<registry::Store> pods,
                                              runtime::KindPtr kind, const Clock& clock);

}  // namespace apiserver::inline v0::groups::core
