#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/kind.h"

// How FlowSchemas and PriorityLevelConfigurations are written and shown:
// k8s.io/kubernetes/pkg/registry/flowcontrol.
namespace apiserver::inline v0::groups::flowcontrol {

std::shared_ptr<const rest::Strategy> NewStrategy(const runtime::KindPtr& kind);
// Of the status subresource: only the status is looked at.
std::shared_ptr<const rest::Strategy> NewStatusStrategy(const runtime::KindPtr& kind);

// pkg/printers/internalversion. `clock` must outlive them.
std::shared_ptr<const rest::TableConvertor> NewColumns(const runtime::KindPtr& kind,
                                                       const Clock& clock);

}  // namespace apiserver::inline v0::groups::flowcontrol
