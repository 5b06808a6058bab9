#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"

// The strategy and columns of leases: k8s.io/kubernetes/pkg/registry/coordination/lease.
namespace apiserver::inline v0::groups::coordination {

std::shared_ptr<const rest::Strategy> NewLeaseStrategy();
// `clock` must outlive the columns.
std::shared_ptr<const rest::TableConvertor> NewLeaseColumns(const Clock& clock);

}  // namespace apiserver::inline v0::groups::coordination
