#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"

namespace apiserver::inline v0::groups::rbac {

// Return the strategies of
// k8s.io/kubernetes/pkg/registry/rbac/{role,clusterrole,rolebinding,clusterrolebinding}. A PUT may
// create, and needs no resourceVersion.
std::shared_ptr<const rest::Strategy> NewRoleStrategy(bool namespaced);
std::shared_ptr<const rest::Strategy> NewBindingStrategy(bool namespaced);

// Returns the columns of `kubectl get rolebindings`: Name, Role, Age; wide: Users, Groups,
// ServiceAccounts.
std::shared_ptr<const rest::TableConvertor> NewBindingColumns(const Clock& clock);

}  // namespace apiserver::inline v0::groups::rbac
