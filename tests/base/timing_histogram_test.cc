#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "apiserver/base/metrics.h"

namespace apiserver::inline v0::metrics {
namespace {

using namespace std::chrono_literals;

constexpr Clock::Monotonic kStart(1'600'000'000s);

std::vector<std::uint64_t> CountsOf(const Histogram& histogram) {
  std::vector<std::uint64_t> counts;
  for (std::size_t i = 0; i <= histogram.upper_bounds().size(); ++i) {
    counts.push_back(histogram.count(i));
  }
  return counts;
}

}  // namespace

// timing_histogram_test.go: TestTimeIntegrationDirect.
TEST_CASE("base: a timing histogram counts the nanoseconds of each value", "[base]") {
  Histogram histogram({0, 0.5, 1});
  Clock::Monotonic now = kStart;
  TimingHistogram timing(histogram, now, 0.25);
  timing.Set(now += 1ns, 0.75);
  timing.Set(now += 1us, 1.25);
  for (int i = 0; i < 1'000'000; ++i) timing.Set(now += 1ns, 1.25);
  timing.Set(now, 0.65);
  now += 1s;

  timing.Show(now);

  CHECK(CountsOf(histogram) == std::vector<std::uint64_t>{0, 1, 1'000'001'000, 1'000'000});
  CHECK(histogram.sum() == 0.25 + 750 + 1'250'000 + 650'000'000);
}

// timing_ratio_histogram_test.go: exerciseTimingRatioHistogram.
TEST_CASE("base: time that goes back stands still for a timing histogram", "[base]") {
  std::mt19937 random(42);
  std::uniform_int_distribution<int> step(-50, 249);
  Histogram histogram({0, 1});
  TimingHistogram timing(histogram, kStart, 1);
  Clock::Monotonic now = kStart;
  Clock::Monotonic latest = kStart;
  for (int i = 0; i < 100; ++i) {
    now += step(random) * 10us;
    latest = std::max(latest, now);
    timing.Set(now, 1);
    timing.Set(now, 2);
    timing.Set(now, 1);
    timing.Show(now);
    CAPTURE(i);
    CHECK(histogram.count(1) == static_cast<std::uint64_t>((latest - kStart).count()));
    CHECK(histogram.count(2) == 0);
  }
  REQUIRE(latest > kStart);
}

// weighted_histogram_test.go: TestOneWeightedHistogram, its literal cases: the bounds, and values
// between, below and above them, for up to 2^39 ns each.
TEST_CASE("base: a timing histogram's sum is precise, however unlike its parts are", "[base]") {
  const std::vector<std::vector<double>> cases = {{0.07}, {0.07, 0.13}, {0.07, 0.13, 1e6}};
  for (const std::vector<double>& bounds : cases) {
    CAPTURE(bounds.size());
    std::vector<double> values;
    for (const double bound : bounds) {
      values.push_back(values.empty() ? bound - 0.03 : (values.back() + bound) / 2);
      values.push_back(bound);
    }
    values.push_back(bounds.back() + 1);
    std::mt19937 random(7);
    Histogram histogram(bounds);
    TimingHistogram timing(histogram, kStart, values[0]);
    Clock::Monotonic now = kStart;
    std::vector<std::uint64_t> counts(bounds.size() + 1);
    long double sum = 0;
    for (int i = 0; i < 300; ++i) {
      const std::size_t which = random() % values.size();
      const std::chrono::nanoseconds lasted(std::int64_t{1} << (random() % 40));
      timing.Set(now, values[which]);
      now += lasted;
      counts[which / 2] += static_cast<std::uint64_t>(lasted.count());
      sum += static_cast<long double>(values[which]) * static_cast<long double>(lasted.count());
      if (i % 50 == 0) timing.Show(now);
    }
    timing.Show(now);
    CHECK(CountsOf(histogram) == counts);
    CHECK(std::abs(histogram.sum() - static_cast<double>(sum)) <= 1e-13 * static_cast<double>(sum));
  }
}

TEST_CASE("base: a histogram changes when a timing histogram is shown, and forgets on reset",
          "[base]") {
  const auto registry = NewRegistry();
  Histogram& histogram = registry->Histograms({"h", "", {}}, {0}).With({});
  TimingHistogram timing(histogram, kStart);
  timing.Set(kStart + 1s, 2);
  CHECK(CountsOf(histogram) == std::vector<std::uint64_t>{0, 0});
  timing.Show(kStart + 3s);
  CHECK(CountsOf(histogram) == std::vector<std::uint64_t>{1'000'000'000, 2'000'000'000});
  timing.Show(kStart + 3s);
  CHECK(histogram.sum() == 4e9);

  registry->Reset();
  timing.Show(kStart + 4s);

  CHECK(registry->Serialize() ==
        "# TYPE h histogram\nh_bucket{le=\"0\"} 0\nh_bucket{le=\"+Inf\"} 1000000000\n"
        "h_sum 2e+09\nh_count 1000000000\n");
}

}  // namespace apiserver::inline v0::metrics
