#include "flowcontrol/utilization.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/sync.h"
#include "flowcontrol/queue_set.h"
#include "flowcontrol/simulation.h"
#include "flowcontrol/watermark.h"

namespace apiserver::inline v0::flowcontrol {

namespace {

using testing::Simulation;
using namespace std::chrono_literals;

constexpr Clock::Monotonic kBegin(1'600'000'000s);

// The buckets of a histogram of nanoseconds that are not empty: milliseconds by upper bound; 99 is
// the bound of the last.
std::map<double, double> MillisecondsOf(const metrics::Histogram& histogram) {
  std::map<double, double> milliseconds;
  const std::vector<double>& bounds = histogram.upper_bounds();
  for (std::size_t i = 0; i <= bounds.size(); ++i) {
    if (histogram.count(i) == 0) continue;
    milliseconds[i < bounds.size() ? bounds[i] : 99] =
        static_cast<double>(histogram.count(i)) / 1e6;
  }
  return milliseconds;
}
using Milliseconds = std::map<double, double>;

// A level of two queues with room for five each, and four seats.
struct FourSeats {
  FourSeats() { Configure(4); }
  void Configure(int seats) {
    set->Configure({.desired_num_queues = 2, .queue_length_limit = 5, .hand_size = 1},
                   {.concurrency_limit = seats, .concurrency_denominator = seats});
  }
  void Start(FlowRequest& request, int seats, QueueSet::Decision expected) {
    request.metrics = &metrics.Of("level", "schema");
    request.work.initial_seats = seats;
    CHECK(set->Start(request) == expected);
  }
  void Pass(std::chrono::milliseconds time) { simulation.RunUntil(simulation.now() + time); }

  Simulation simulation;
  Metrics metrics{metrics::NewRegistry()};
  const LevelMetrics& level = metrics.Of("level");
  std::shared_ptr<QueueSet> set = std::make_shared<QueueSet>(QueueSetOptions{
      .clock = &simulation, .executor = &simulation, .metrics = &metrics.Of("level")});
};

}  // namespace

TEST_CASE("flowcontrol: a ratio changes with its count and with its limit", "[flowcontrol]") {
  metrics::Histogram histogram({0, 0.5, 1});
  TimingRatio ratio(histogram, kBegin);
  ratio.Set(kBegin + 1ms, 1);
  ratio.SetLimit(kBegin + 3ms, 2);
  ratio.Set(kBegin + 7ms, 3);
  ratio.Show(kBegin + 15ms);
  CHECK(MillisecondsOf(histogram) == Milliseconds{{0, 1}, {1, 2}, {0.5, 4}, {99, 8}});
  CHECK(histogram.sum() == (2 * 1 + 4 * 0.5 + 8 * 1.5) * 1e6);
}

TEST_CASE("flowcontrol: how much of a level is in use is told over time", "[flowcontrol]") {
  FourSeats four;
  FlowRequest wide;
  FlowRequest narrow;
  FlowRequest waiting;
  four.Pass(1ms);
  four.Start(wide, 3, QueueSet::Decision::kExecute);
  four.Pass(2ms);
  four.Start(narrow, 1, QueueSet::Decision::kExecute);
  four.Start(waiting, 2, QueueSet::Decision::kWait);
  four.Pass(4ms);
  // Three of three seats and, for two more, one in line.
  four.set->Finish(narrow);
  four.Pass(8ms);
  four.set->Finish(wide);
  four.Pass(16ms);
  four.set->Finish(waiting);
  four.Pass(32ms);
  CHECK(MillisecondsOf(four.level.seat_utilization).empty());

  four.set->ShowProgress();

  // 0, 3, 4, 3, 2, 0 seats of four.
  CHECK(MillisecondsOf(four.level.seat_utilization) ==
        Milliseconds{{0, 33}, {0.5, 16}, {0.8, 2 + 8}, {1, 4}});
  CHECK(four.level.seat_utilization.sum() == (2 * 0.75 + 4 + 8 * 0.75 + 16 * 0.5) * 1e6);
  // 0, 1, 2, 1, 1, 0 requests of four seats.
  CHECK(MillisecondsOf(four.level.executing_utilization) ==
        Milliseconds{{0, 33}, {0.25, 2 + 8 + 16}, {0.5, 4}});
  // 0, 0, 1, 1, 0, 0 requests of ten places.
  CHECK(MillisecondsOf(four.level.waiting_utilization) == Milliseconds{{0, 51}, {0.1, 12}});
  // 0, 3, 6, 5, 2, 0 seats of four.
  CHECK(MillisecondsOf(four.level.demand_seats) ==
        Milliseconds{{0.2, 33}, {0.6, 16}, {0.8, 2}, {1.4, 8}, {1.7, 4}});
}

TEST_CASE("flowcontrol: seats that linger are in use, and other limits make other shares",
          "[flowcontrol]") {
  FourSeats four;
  FlowRequest write;
  write.work.final_seats = 2;
  write.work.additional_latency = 4ms;
  four.Start(write, 1, QueueSet::Decision::kExecute);
  four.Pass(1ms);
  four.Configure(8);
  four.Pass(2ms);
  four.set->Finish(write);
  four.Pass(8ms);

  four.set->ShowProgress();

  CHECK(MillisecondsOf(four.level.seat_utilization) ==
        Milliseconds{{0.5, 1}, {0.3, 2 + 4}, {0, 4}});
  CHECK(MillisecondsOf(four.level.executing_utilization) == Milliseconds{{0.25, 1 + 2}, {0, 8}});
}

TEST_CASE("flowcontrol: reads and writes are told apart over time", "[flowcontrol]") {
  const auto registry = metrics::NewRegistry();
  Watermarks watermarks(*registry, kBegin);
  watermarks.SetLimits({.waiting = 0, .executing_reads = 10, .executing_mutating = 4}, kBegin);
  watermarks.executing(false).Add(1, kBegin + 1ms);
  watermarks.executing(true).Add(1, kBegin + 1ms);
  watermarks.waiting(true).Add(1, kBegin + 2ms);
  // One of them is late to tell.
  watermarks.executing(true).Add(1, kBegin);

  watermarks.ShowOverTime(kBegin + 5ms);

  const auto of = [&registry](const char* phase, const char* kind) {
    return MillisecondsOf(
        registry->Histograms({"apiserver_flowcontrol_read_vs_write_current_requests", "", {}}, {})
            .With({phase, kind}));
  };
  CHECK(of("executing", "readOnly") == Milliseconds{{0, 1}, {0.1, 4}});
  CHECK(of("executing", "mutating") == Milliseconds{{0, 1}, {0.5, 4}});
  CHECK(of("waiting", "readOnly") == Milliseconds{{0, 5}});
  CHECK(of("waiting", "mutating") == Milliseconds{{0, 2}, {1, 3}});
}

TEST_CASE("flowcontrol: threads that count at once lose no change", "[flowcontrol]") {
  metrics::Histogram histogram({0, 1, 2, 3});
  Watermark watermark(histogram, kBegin);
  {
    std::vector<Thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back("counter", [&watermark, t] {
        for (int i = 1; i <= 20'000; ++i) {
          const auto now = kBegin + std::chrono::nanoseconds(i);
          watermark.Add(1, now);
          if (t > 0 || i < 20'000) watermark.Add(-1, now);
          if (i % 1000 == 0) watermark.ShowOverTime(now);
        }
      });
    }
  }
  std::uint64_t before = 0;
  watermark.ShowOverTime(kBegin + 20us);
  for (std::size_t i = 0; i <= 4; ++i) before += histogram.count(i);
  CHECK(before == 20'000);
  CHECK(histogram.count(4) == 0);
  const std::uint64_t of_one = histogram.count(1);

  watermark.ShowOverTime(kBegin + 1s);

  // One has stayed, and that is known whoever was last.
  CHECK(watermark.count() == 1);
  CHECK(histogram.count(1) - of_one == 999'980'000);
}

}  // namespace apiserver::inline v0::flowcontrol
