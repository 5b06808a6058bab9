#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"

// The rules for writes of APIServices, and their columns: pkg/registry/apiservice of
// k8s.io/kube-aggregator.
namespace apiserver::inline v0::aggregator {

// Return the strategies of the resource and of its subresource status. `clock` must outlive them.
std::shared_ptr<const rest::Strategy> NewAPIServiceStrategy(const Clock& clock);
std::shared_ptr<const rest::Strategy> NewAPIServiceStatusStrategy();
// Returns the columns of `kubectl get apiservices`. `clock` must outlive them.
std::shared_ptr<const rest::TableConvertor> NewAPIServiceColumns(const Clock& clock);

}  // namespace apiserver::inline v0::aggregator
