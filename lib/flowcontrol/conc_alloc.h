#pragma once

#include <span>
#include <vector>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::flowcontrol {

// The seats that a priority level wants, and the bounds of its share.
struct AllocProblemItem {
  double target = 0;  // At least lower_bound; less than kTargetMin counts as kTargetMin.
  double lower_bound = 0;
  double upper_bound = 0;
};

inline constexpr double kTargetMin = 0.001;

// The seats of each item.
struct Allocation {
  std::vector<double> seats;  // In the order of the items.
  double fair_proportion = 0;
};

// Distributes `required_sum` seats: the one allocation in which each item gets its target times one
// and the same proportion, or the bound that is in the way. kInvalid: the bounds contradict each
// other or the sum. k8s.io/apiserver/pkg/util/flowcontrol.computeConcurrencyAllocation.
Result<Allocation> ComputeConcurrencyAllocation(int required_sum,
                                                std::span<const AllocProblemItem> items);

}  // namespace apiserver::inline v0::flowcontrol
