#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/meta/options.h"
#include "apiserver/registry/store.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/object.h"

// The strategies and columns of namespaces, and how they end:
// k8s.io/kubernetes/pkg/registry/core/namespace.
namespace apiserver::inline v0::groups::core {

// Labels a namespace with its name; one without a phase is active.
void SetNamespaceDefaults(runtime::Object& object);

std::shared_ptr<const rest::Strategy> NewNamespaceStrategy();
std::shared_ptr<const rest::Strategy> NewNamespaceStatusStrategy();
// Makes namespaces/finalize, which changes what `spec.finalizers` a namespace of the store has.
std::shared_ptr<rest::Storage> NewNamespaceFinalize(std::shared_ptr<registry::Store> namespaces);
// `clock` must outlive the columns.
std::shared_ptr<const rest::TableConvertor> NewNamespaceColumns(const Clock& clock);

// Makes the first delete of a namespace terminate it; `spec.finalizers` then keep it. Deletes of
// collections are not served.
void EndNamespacesInTwoSteps(registry::StoreOptions& options);

}  // namespace apiserver::inline v0::groups::core
