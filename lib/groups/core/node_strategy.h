#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/object.h"

// The strategies, defaults and columns of nodes: k8s.io/kubernetes/pkg/registry/core/node. Clocks
// must outlive what is made with them.
namespace apiserver::inline v0::groups::core {

std::shared_ptr<const rest::Strategy> NewNodeStrategy();
// Returns the strategy of nodes/status.
std::shared_ptr<const rest::Strategy> NewNodeStatusStrategy();
std::shared_ptr<const rest::TableConvertor> NewNodeColumns(const Clock& clock);
void SetNodeDefaults(runtime::Object& node);

}  // namespace apiserver::inline v0::groups::core
