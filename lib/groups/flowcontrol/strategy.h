#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/kind.h"

// The strategies and columns of FlowSchemas and PriorityLevelConfigurations:
// k8s.io/kubernetes/pkg/registry/flowcontrol.
namespace apiserver::inline v0::groups::flowcontrol {

std::shared_ptr<const rest::Strategy> NewStrategy(const runtime::KindPtr& kind);
// Returns the strategy of the status subresource, which only looks at the status.
std::shared_ptr<const rest::Strategy> NewStatusStrategy(const runtime::KindPtr& kind);

// Returns the columns of pkg/printers/internalversion. `clock` must outlive them.
std::shared_ptr<const rest::TableConvertor> NewColumns(const runtime::KindPtr& kind,
                                                       const Clock& clock);

}  // namespace apiserver::inline v0::groups::flowcontrol
