#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/function.h"

// The metrics of one server, in Prometheus' text format. A server has a Registry of its own;
// nothing is counted globally.
namespace apiserver::inline v0::metrics {

// The sum of numbers that threads add. Whole numbers, which most are, are summed apart: a processor
// adds them in one step, which takes half the time of a comparison and exchange.
class AtomicSum final {
 public:
  // Adds `n`, which may be negative. Any thread, no lock.
  void Add(double n) {
    if (n < kWholeMax && n > -kWholeMax) {
      const auto whole = static_cast<std::int64_t>(n);
      if (static_cast<double>(whole) == n) {
        whole_.fetch_add(whole, std::memory_order_relaxed);
        return;
      }
    }
    rest_.fetch_add(n, std::memory_order_relaxed);
  }
  // Replaces the sum. What is added meanwhile is not lost.
  void Set(double value) {
    const auto whole = static_cast<double>(whole_.load(std::memory_order_relaxed));
    rest_.store(value - whole, std::memory_order_relaxed);
  }
  double value() const {
    return static_cast<double>(whole_.load(std::memory_order_relaxed)) +
           rest_.load(std::memory_order_relaxed);
  }

 private:
  static constexpr double kWholeMax = 1e15;  // Greater ones might overflow, or are not exact.

  std::atomic<std::int64_t> whole_{0};
  std::atomic<double> rest_{0};
};

// A number that only grows. Any thread, no lock.
class Counter final {
 public:
  // `n` must not be negative.
  void Add(double n = 1) { sum_.Add(n); }
  double value() const { return sum_.value(); }
  // Sets it to zero, for Registry::Reset().
  void Reset() { sum_.Set(0); }

 private:
  AtomicSum sum_;
};

// A number that goes up and down. Any thread, no lock.
class Gauge final {
 public:
  // Replaces the value.
  void Set(double value) { sum_.Set(value); }
  // Adds `n`, which may be negative.
  void Add(double n = 1) { sum_.Add(n); }
  // Subtracts `n`.
  void Subtract(double n = 1) { Add(-n); }
  double value() const { return sum_.value(); }
  // Sets it to zero.
  void Reset() { Set(0); }

 private:
  AtomicSum sum_;
};

// Counts values by buckets. Any thread, no lock.
class Histogram final {
 public:
  // `upper_bounds` are ascending and inclusive; a last bucket for all greater values is added.
  explicit Histogram(std::vector<double> upper_bounds);

  // Counts `value` in its bucket.
  void Observe(double value);
  // Returns the index of the bucket that `value` falls into.
  std::size_t BucketOf(double value) const;
  // Adds `count` values of bucket `i`, which BucketOf() has returned, and their sum.
  void AddTo(std::size_t i, std::uint64_t count, double sum);
  // Adds many values at once: the number in each bucket, the last one included, and their sum.
  void Add(const std::vector<std::uint64_t>& counts, double sum);
  const std::vector<double>& upper_bounds() const { return upper_bounds_; }
  // Returns the number of values in bucket `i` alone; upper_bounds().size() is the last bucket.
  std::uint64_t count(std::size_t i) const { return counts_[i].load(std::memory_order_relaxed); }
  double sum() const { return sum_.load(std::memory_order_relaxed); }
  // Sets it to zero, for Registry::Reset().
  void Reset();

 private:
  const std::vector<double> upper_bounds_;
  std::vector<std::atomic<std::uint64_t>> counts_;
  std::atomic<double> sum_{0};
};

// Measures for how long a value has been in each bucket of a histogram, which counts nanoseconds:
// as if the value were observed at the end of each. Its sum is the value's integral over them. As
// component-base/metrics/prometheusextension.TimingHistogram. Not thread-safe: its owner has a
// lock, and knows the time, already. Costs no more than a few additions each time the value
// changes; the histogram itself changes in Show().
class TimingHistogram final {
 public:
  // Starts with `value` at `now`. `histogram` must outlive this.
  TimingHistogram(Histogram& histogram, Clock::Monotonic now, double value = 0);
  TimingHistogram(const TimingHistogram&) = delete;
  TimingHistogram& operator=(const TimingHistogram&) = delete;

  // Sets the value from `now` on. A `now` before an earlier one counts as that one.
  void Set(Clock::Monotonic now, double value);
  // Brings the histogram up to date before it is written. Time that has not been shown is not in
  // it, and Registry::Reset() cannot take it away.
  void Show(Clock::Monotonic now);

 private:
  void AdvanceTo(Clock::Monotonic now);

  Histogram& histogram_;
  Clock::Monotonic last_;
  double value_;
  std::size_t bucket_;
  // Since the last Show(). Being short, it loses nothing to rounding.
  std::vector<std::uint64_t> nanoseconds_;
  double integral_ = 0;
};

// Returns `count` bounds: start, start*factor, start*factor², …
std::vector<double> ExponentialBuckets(double start, double factor, std::size_t count);
// Returns `count` bounds: start, start+width, …
std::vector<double> LinearBuckets(double start, double width, std::size_t count);

// The name and labels of a Family.
struct FamilyOptions {
  std::string name;                 // "apiserver_request_total".
  std::string help;                 // With Kubernetes' "[STABLE] " in front where it has one.
  std::vector<std::string> labels;  // Names, in the order in which With() takes the values.
};

// All series of one name. Lives as long as its Registry. All methods may be called from any thread,
// loops included: they do not block.
template <class Metric>
class Family {
 public:
  virtual ~Family() = default;

  // Returns the series with these label values, made on first use. It lives as long as the
  // Registry, so callers on a hot path should keep its address. A missing value counts as "".
  virtual Metric& With(std::initializer_list<std::string_view> values) = 0;
  // Hides a series and sets it to zero; With() brings it back.
  virtual void Remove(std::initializer_list<std::string_view> values) = 0;
};

// The set of one server's metrics. All methods may be called from any thread.
class Registry {
 public:
  virtual ~Registry() = default;

  // Returns the family of this name. The first call makes it; options of later ones are ignored.
  // One name for two types of metric is a bug: only the first is shown.
  virtual Family<Counter>& Counters(FamilyOptions options) = 0;
  // The same as Counters(), for gauges.
  virtual Family<Gauge>& Gauges(FamilyOptions options) = 0;
  // The same as Counters(), for histograms with these bounds.
  virtual Family<Histogram>& Histograms(FamilyOptions options,
                                        std::vector<double> upper_bounds) = 0;

  // Calls `refresh` before each Serialize(), on its thread, which is a loop for a server's
  // /metrics: it must not block. For values that are cheaper to look up than to keep. Destroying
  // the registration waits for a call in progress. `refresh` must not call Serialize() or
  // BeforeSerialize().
  virtual Context::Registration BeforeSerialize(UniqueFunction<void()> refresh) = 0;

  // Returns all metrics in text exposition format 0.0.4, families by name, series by label values.
  virtual std::string Serialize() = 0;
  // Sets counters and histograms to zero; gauges keep their value, which describes the present.
  virtual void Reset() = 0;
};

inline constexpr std::string_view kTextContentType = "text/plain; version=0.0.4; charset=utf-8";

// An empty registry in memory.
std::unique_ptr<Registry> NewRegistry();

}  // namespace apiserver::inline v0::metrics
