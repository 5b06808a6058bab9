#include "flowcontrol/conc_alloc.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace apiserver::inline v0::flowcontrol {

namespace {

constexpr double kSlack = 1e-10;

double RelativeDifference(double a, double b) {
  const double larger = std::max(std::abs(a), std::abs(b));
  return larger == 0 ? 0 : std::abs(a - b) / larger;
}

// A problem as conc_alloc_test.go's test1ConcAlloc makes them.
class Problem {
 public:
  explicit Problem(std::mt19937_64& random) : random_(random) {
    const int sizes[] = {0, 1, 2, 3, 4, 6, 9};
    items.resize(static_cast<std::size_t>(sizes[Below(7)]));
    if (!items.empty()) Fill();
    while (Real() < 0.25) {
      AllocProblemItem item{.upper_bound = Real() + 0.00001};
      high += item.upper_bound;
      items.push_back(item);
      if (items.size() > 2) {
        std::swap(items.back(),
                  items[static_cast<std::size_t>(Below(static_cast<int>(items.size()) - 1))]);
      }
    }
  }

  std::vector<AllocProblemItem> items;
  int required = 0;
  double low = 0;
  double high = 0;

 private:
  double Real() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  std::vector<double> Partition(double sum) {
    std::vector<double> cuts(items.size() - 1);
    for (double& cut : cuts) cut = Real();
    std::sort(cuts.begin(), cuts.end());
    cuts.push_back(1);
    std::vector<double> parts;
    double last = 0;
    for (const double cut : cuts) parts.push_back((cut - std::exchange(last, cut)) * sum);
    return parts;
  }

  void Fill() {
    const int size = static_cast<int>(items.size());
    const int style = Below(20);
    if (style == 0) required = Below(size * 3);
    if (style == 1) required = Below(size * 3) + 1;
    const std::vector<double> parts = Partition(required);
    for (std::size_t i = 0; i < items.size(); ++i) {
      AllocProblemItem& item = items[i];
      if (style == 1) {
        item.upper_bound = parts[i];
        item.lower_bound = parts[i] * std::max(0.0, 1.25 * Real() - 1);
        item.target = item.lower_bound + Real();
      } else {
        item.lower_bound = style == 0 ? parts[i] : std::max(0.0, Real() * 5 - 1);
        item.target = item.lower_bound + 2 * Real();
        item.upper_bound = item.lower_bound + 3 * Real();
      }
      low += item.lower_bound;
      high += item.upper_bound;
    }
    if (style > 1) required = static_cast<int>(std::round(low + (high - low) * Real()));
  }

  std::mt19937_64& random_;
};

// Whether each item has its share, or the bound that is in the way.
bool IsFair(const Problem& problem, const Allocation& solution) {
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    const AllocProblemItem& item = problem.items[i];
    const double share = solution.fair_proportion * std::max(item.target, kTargetMin);
    const double got = solution.seats[i];
    if (share <= item.lower_bound) {
      if (got != item.lower_bound) return false;
    } else if (share >= item.upper_bound) {
      if (got != item.upper_bound) return false;
    } else if (RelativeDifference(share, got) > kSlack) {
      return false;
    }
  }
  return true;
}

}  // namespace

// conc_alloc_test.go: TestConcAlloc, 10,000 problems.
TEST_CASE("flowcontrol: seats are shared out by target within bounds", "[flowcontrol]") {
  std::mt19937_64 random(1234567890);
  int solved = 0;
  for (int i = 0; i < 10000; ++i) {
    CAPTURE(i);
    const Problem problem(random);
    const auto solution = ComputeConcurrencyAllocation(problem.required, problem.items);
    const double required = problem.required;
    const bool impossible = problem.low - required > kSlack || required - problem.high > kSlack;
    if (!solution.ok()) {
      REQUIRE(impossible);
      continue;
    }
    REQUIRE_FALSE(impossible);
    ++solved;
    double sum = 0;
    for (const double seats : solution->seats) sum += seats;
    REQUIRE(RelativeDifference(required, sum) <= kSlack);
    REQUIRE(IsFair(problem, *solution));
  }
  CHECK(solved > 8000);
}

TEST_CASE("flowcontrol: bounds that contradict are refused", "[flowcontrol]") {
  const auto reason = [](int required, std::vector<AllocProblemItem> items) {
    return ComputeConcurrencyAllocation(required, items).status().reason();
  };
  CHECK(reason(-1, {}) == Reason::kInvalid);
  CHECK(reason(1, {{.target = 1, .lower_bound = -1, .upper_bound = 2}}) == Reason::kInvalid);
  CHECK(reason(1, {{.target = 1, .lower_bound = 2, .upper_bound = 3}}) == Reason::kInvalid);
  CHECK(reason(1, {{.target = 2, .lower_bound = 2, .upper_bound = 1}}) == Reason::kInvalid);
  CHECK(reason(1, {{.target = 2, .lower_bound = 2, .upper_bound = 3}}) == Reason::kInvalid);
  CHECK(reason(4, {{.target = 2, .lower_bound = 2, .upper_bound = 3}}) == Reason::kInvalid);
}

TEST_CASE("flowcontrol: who needs less than its share leaves the rest to others", "[flowcontrol]") {
  const auto solution = ComputeConcurrencyAllocation(
      30, std::vector<AllocProblemItem>{{.target = 4, .lower_bound = 2, .upper_bound = 4},
                                        {.target = 10, .lower_bound = 0, .upper_bound = 100},
                                        {.target = 3, .lower_bound = 1, .upper_bound = 100}});
  REQUIRE(solution.ok());
  CHECK(solution->fair_proportion == Approx(2));
  CHECK(solution->seats == std::vector<double>{4, 20, 6});
}

}  // namespace apiserver::inline v0::flowcontrol
