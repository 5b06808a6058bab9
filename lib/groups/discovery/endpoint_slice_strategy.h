#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/object.h"

// The strategy, defaults and columns of EndpointSlices:
// k8s.io/kubernetes/pkg/registry/discovery/endpointslice.
namespace apiserver::inline v0::groups::discovery {

std::shared_ptr<const rest::Strategy> NewEndpointSliceStrategy();
// `clock` must outlive the columns.
std::shared_ptr<const rest::TableConvertor> NewEndpointSliceColumns(const Clock& clock);
void SetEndpointSliceDefaults(runtime::Object& slice);

}  // namespace apiserver::inline v0::groups::discovery
