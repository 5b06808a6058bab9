#pragma once

#include <memory>

#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/kind.h"

namespace wardle {

// Fischer: cluster-scoped, v1alpha1 only; names the Flunders that may not be.
apiserver::Result<apiserver::runtime::KindPtr> NewFischerKind();
std::shared_ptr<const apiserver::rest::Strategy> NewFischerStrategy();

}  // namespace wardle
