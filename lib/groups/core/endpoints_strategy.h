#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/object.h"

// The strategy, defaults and columns of Endpoints: k8s.io/kubernetes/pkg/registry/core/endpoint.
namespace apiserver::inline v0::groups::core {

std::shared_ptr<const rest::Strategy> NewEndpointsStrategy();
// `clock` must outlive the columns.
std::shared_ptr<const rest::TableConvertor> NewEndpointsColumns(const Clock& clock);
void SetEndpointsDefaults(runtime::Object& endpoints);

}  // namespace apiserver::inline v0::groups::core
