#pragma once

#include <memory>

#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/kind.h"

namespace apiserver::inline v0::apiextensions {

// Returns the strategy of custom objects: that of any kind, with the names and the warnings of
// upstream's customResourceStrategy.
std::shared_ptr<const rest::Strategy> NewCustomStrategy(const runtime::KindPtr& kind);

}  // namespace apiserver::inline v0::apiextensions
