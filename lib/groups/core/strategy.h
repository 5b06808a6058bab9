#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"

// The strategies and columns of Secrets and ServiceAccounts: k8s.io/kubernetes/pkg/registry/core.
namespace apiserver::inline v0::groups::core {

std::shared_ptr<const rest::Strategy> NewSecretStrategy();
std::shared_ptr<const rest::Strategy> NewServiceAccountStrategy();

// Return the columns of pkg/printers/internalversion. `clock` must outlive them.
std::shared_ptr<const rest::TableConvertor> NewSecretColumns(const Clock& clock);
std::shared_ptr<const rest::TableConvertor> NewServiceAccountColumns(const Clock& clock);

}  // namespace apiserver::inline v0::groups::core
