#pragma once

#include "cel/check/checked.h"
#include "cel/estimate/range.h"
#include "cel/estimate/sizes.h"

// The static cost of expressions: checker/cost.go of cel-go 0.26.
namespace apiserver::inline v0::cel::estimate {

// Estimates the lowest and highest run-time cost of an expression for all values that the schemas
// of its variables allow. Uses constant stack.
CostRange EstimateCost(const check::CheckedAst& checked);
// The same with sizes from another source than the schemas.
CostRange EstimateCost(const check::CheckedAst& checked, Sizes& sizes);

}  // namespace apiserver::inline v0::cel::estimate
