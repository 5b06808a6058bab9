#include "flowcontrol/conc_alloc.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/status_macros.h"

namespace apiserver::v0::flowcontrol {

namespace {

constexpr double kEpsilon = 0.0000001;

// An item with its bounds as proportions of its target, which is never zero.
struct RelativeItem {
  double target;
  double lower;
  double upper;
};

// Minimums and maximums start at bounds that the first item replaces.
struct Sums {
  double low = 0;
  double high = 0;
  double target = 0;
  double lower_min = std::numeric_limits<float>::max();
  double lower_max = 0;
  double upper_min = std::numeric_limits<float>::max();
  double upper_max = 0;
};

// Violations are errors of the caller; no input from clients reaches this.
Status CheckItem(std::size_t index, const AllocProblemItem& item) {
  const std::string which = std::to_string(index) + " is ";
  if (item.lower_bound < 0) {
    return {Reason::kInvalid, "lower bound " + which + std::to_string(item.lower_bound) +
                                  " but negative lower bounds are not allowed"};
  }
  if (item.target < item.lower_bound) {
    return {Reason::kInvalid, "target " + which + std::to_string(item.target) +
                                  ", which is below its lower bound of " +
                                  std::to_string(item.lower_bound)};
  }
  if (item.upper_bound < item.lower_bound) {
    return {Reason::kInvalid, "upper bound " + which + std::to_string(item.upper_bound) +
                                  " but should not be less than the lower bound " +
                                  std::to_string(item.lower_bound)};
  }
  return {};
}

// One bound of one item: the proportion at which the item begins or ceases to grow.
struct Bound {
  double proportion;
  double target;  // Negative for an upper bound: the item no longer grows.
};

// Finds the fair proportion under all bounds: raises it from bound to bound until the items that
// still grow add up to `required`.
Result<double> FairProportion(double required, const Sums& sums,
                              std::span<const RelativeItem> items) {
  std::vector<Bound> bounds;
  bounds.reserve(items.size() * 2);
  for (const RelativeItem& item : items) {
    bounds.push_back({item.lower, item.target});
    bounds.push_back({item.upper, -item.target});
  }
  // O(n log n) for the sort; each bound is then passed once.
  std::sort(bounds.begin(), bounds.end(),
            [](const Bound& a, const Bound& b) { return a.proportion < b.proportion; });
  double proportion = sums.lower_min;
  double sum = sums.low;
  double growing = 0;  // The targets of the items that grow with the proportion.
  int growing_items = 0;
  for (std::size_t next = 0; sum < required;) {
    while (next < bounds.size() && bounds[next].proportion <= proportion) {
      growing += bounds[next].target;
      growing_items += bounds[next].target > 0 ? 1 : -1;
      ++next;
    }
    if (next >= bounds.size()) {
      return Status(Reason::kInternalError,
                    "impossible: ran out of bounds to consider in bound-constrained problem");
    }
    const double next_bound = bounds[next].proportion;
    if (growing_items > 0) {
      const double enough = proportion + (required - sum) / growing;
      if (enough <= next_bound) return enough;
      sum += (next_bound - proportion) * growing;
    }
    proportion = next_bound;
  }
  return proportion;
}

// Proportions of items of different size become comparable, and sums are needed before the search.
Result<Sums> SumUp(std::span<const AllocProblemItem> items, std::vector<RelativeItem>& relative) {
  Sums sums;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const AllocProblemItem& item = items[i];
    RETURN_IF_ERROR(CheckItem(i, item));
    // A target of zero has no proportion, so it counts as a very small one.
    const double target = std::max(item.target, kTargetMin);
    relative.push_back({target, item.lower_bound / target, item.upper_bound / target});
    sums.low += item.lower_bound;
    sums.high += item.upper_bound;
    sums.target += target;
    sums.lower_min = std::min(sums.lower_min, relative.back().lower);
    sums.lower_max = std::max(sums.lower_max, relative.back().lower);
    sums.upper_min = std::min(sums.upper_min, relative.back().upper);
    sums.upper_max = std::max(sums.upper_max, relative.back().upper);
  }
  return sums;
}

}  // namespace

// Follows computeConcurrencyAllocation of conc_alloc.go: finds one proportion of all targets whose
// amounts, cut to each item's bounds, add up to the required sum.
Result<Allocation> ComputeConcurrencyAllocation(int required_sum,
                                                std::span<const AllocProblemItem> items) {
  if (required_sum < 0) return Status(Reason::kInvalid, "negative sums are not supported");
  const double required = required_sum;
  std::vector<RelativeItem> relative;
  ASSIGN_OR_RETURN(const Sums sums, SumUp(items, relative));
  // The sums are floating point: differences below kEpsilon are rounding.
  if (sums.low - required > kEpsilon) {
    return Status(Reason::kInvalid, "lower bounds sum to " + std::to_string(sums.low) +
                                        ", which is higher than the required sum of " +
                                        std::to_string(required_sum));
  }
  if (required - sums.high > kEpsilon) {
    return Status(Reason::kInvalid, "upper bounds sum to " + std::to_string(sums.high) +
                                        ", which is lower than the required sum of " +
                                        std::to_string(required_sum));
  }
  Allocation result{.seats = std::vector<double>(items.size())};
  if (required_sum == 0) return result;
  if (sums.low - required > -kEpsilon) {
    for (std::size_t i = 0; i < items.size(); ++i) result.seats[i] = items[i].lower_bound;
    result.fair_proportion = sums.lower_min;
    return result;
  }
  if (required - sums.high > -kEpsilon) {
    for (std::size_t i = 0; i < items.size(); ++i) result.seats[i] = items[i].upper_bound;
    result.fair_proportion = sums.upper_max;
    return result;
  }
  result.fair_proportion = required / sums.target;
  // Only if the plain proportion meets a bound is the search needed.
  if (sums.lower_max > result.fair_proportion || result.fair_proportion > sums.upper_min) {
    ASSIGN_OR_RETURN(result.fair_proportion, FairProportion(required, sums, relative));
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    result.seats[i] = std::clamp(result.fair_proportion * relative[i].target, items[i].lower_bound,
                                 items[i].upper_bound);
  }
  return result;
}

}  // namespace apiserver::v0::flowcontrol
