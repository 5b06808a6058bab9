#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/registry/store.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::groups::core {

// Makes pods/binding: a POST of a Binding assigns a pod to a node, once. `kind` is Binding. `clock`
// must outlive it. BindingREST of k8s.io/kubernetes/pkg/registry/core/pod/storage.
std::shared_ptr<rest::Storage> NewPodBinding(std::shared_ptr<registry::Store> pods,
                                             runtime::KindPtr kind, const Clock& clock);
// Makes the resource bindings, which does the same for the pod that the Binding names.
std::shared_ptr<rest::Storage> NewLegacyBinding(std::shared_ptr<registry::Store> pods,
                                                runtime::KindPtr kind, const Clock& clock);

}  // namespace apiserver::inline v0::groups::core
