#include "apiserver/base/metrics.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "apiserver/base/sync.h"
#include "base/metrics_text.h"

namespace apiserver::v0::metrics {
namespace {

using LabelValues = std::span<const std::string_view>;

// Hash and equality that find a stored row of strings by a row of views, without a copy.
struct RowHash {
  using is_transparent = void;
  template <class Row>
  std::size_t operator()(const Row& row) const {
    std::size_t hash = row.size();
    for (const auto& value : row) {
      hash = hash * 31 + std::hash<std::string_view>{}(std::string_view(value));
    }
    return hash;
  }
};
struct RowEqual {
  using is_transparent = void;
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
};

template <class Metric>
struct Series {
  std::unique_ptr<Metric> metric;
  bool shown = true;
};

constexpr std::string_view TypeOf(const Counter*) { return "counter"; }
constexpr std::string_view TypeOf(const Gauge*) { return "gauge"; }
constexpr std::string_view TypeOf(const Histogram*) { return "histogram"; }

class AnyFamily {
 public:
  virtual ~AnyFamily() = default;
  // Appends the family's lines; none if no series is shown.
  virtual void AppendTo(std::string& out) const = 0;
  virtual void Reset() = 0;
};

template <class Metric>
class FamilyImpl final : public Family<Metric>, public AnyFamily {
 public:
  using Make = UniqueFunction<std::unique_ptr<Metric>()>;

  FamilyImpl(FamilyOptions options, Make make)
      : options_(std::move(options)), make_(std::move(make)) {
    if (options_.labels.empty())
      FamilyImpl::With({});  // A family without labels is shown from the start.
  }

  Metric& With(std::initializer_list<std::string_view> values) override {
    const LabelValues row(values.begin(), values.size());
    auto all = series_.Lock();
    auto found = all->find(row);
    if (found == all->end()) {
      Row key(row.begin(), row.end());
      // A wrong number of values must not break the text format: missing ones become empty, surplus
      // ones are dropped.
      key.resize(options_.labels.size());
      found = all->try_emplace(std::move(key), Series<Metric>{nullptr}).first;
    }
    if (found->second.metric == nullptr) found->second.metric = make_();
    found->second.shown = true;
    return *found->second.metric;
  }

  void Remove(std::initializer_list<std::string_view> values) override {
    auto all = series_.Lock();
    const auto found = all->find(LabelValues(values.begin(), values.size()));
    if (found == all->end()) return;
    // The series is kept, since callers may hold its address.
    found->second.shown = false;
    found->second.metric->Reset();
  }

  void AppendTo(std::string& out) const override {
    std::vector<std::pair<const Row*, const Metric*>> shown;
    {
      const auto all = series_.Lock();
      for (const auto& [values, series] : *all) {
        if (series.shown) shown.emplace_back(&values, series.metric.get());
      }
    }
    // A family without series is not shown, as by Prometheus' Go client.
    if (shown.empty()) return;
    // The map's order is random, and a scrape's should not be.
    std::sort(shown.begin(), shown.end(),
              [](const auto& a, const auto& b) { return *a.first < *b.first; });
    AppendFamilyHead(options_, TypeOf(static_cast<const Metric*>(nullptr)), out);
    // No series is ever taken out of the map, so what was found can be read without its lock.
    for (const auto& [values, metric] : shown) {
      AppendSeries(options_.name, {options_.labels, *values}, *metric, out);
    }
  }

  void Reset() override {
    // Many a gauge is counted up and down, and would be below zero then.
    if constexpr (!std::is_same_v<Metric, Gauge>) {
      const auto all = series_.Lock();
      for (auto& [values, series] : *all) series.metric->Reset();
    }
  }

 private:
  using Row = std::vector<std::string>;

  const FamilyOptions options_;
  Make make_;  // Called with `series_` locked.
  mutable Guarded<std::unordered_map<Row, Series<Metric>, RowHash, RowEqual>> series_;
};

class RegistryImpl final : public Registry {
 public:
  Family<Counter>& Counters(FamilyOptions options) override {
    return Get<Counter>(&Families::counters, std::move(options),
                        [] { return std::make_unique<Counter>(); });
  }
  Family<Gauge>& Gauges(FamilyOptions options) override {
    return Get<Gauge>(&Families::gauges, std::move(options),
                      [] { return std::make_unique<Gauge>(); });
  }
  Family<Histogram>& Histograms(FamilyOptions options, std::vector<double> bounds) override {
    return Get<Histogram>(&Families::histograms, std::move(options), [bounds = std::move(bounds)] {
      return std::make_unique<Histogram>(bounds);
    });
  }

  Context::Registration BeforeSerialize(UniqueFunction<void()> refresh) override {
    auto all = refreshers_->Lock();
    const std::uint64_t id = all->next_id++;
    all->by_id.emplace(id, std::move(refresh));
    return Context::Registration([refreshers = refreshers_, id] {
      UniqueFunction<void()> dropped;  // Destroyed after the lock is given up.
      auto locked = refreshers->Lock();
      const auto found = locked->by_id.find(id);
      dropped = std::move(found->second);
      locked->by_id.erase(found);
    });
  }

  std::string Serialize() override {
    {
      auto all = refreshers_->Lock();
      for (auto& [id, refresh] : all->by_id) refresh();
    }
    std::string text;
    const auto families = families_.Lock();
    for (const auto& [name, family] : families->shown) family->AppendTo(text);
    return text;
  }

  void Reset() override {
    const auto families = families_.Lock();
    for (const auto& [name, family] : families->shown) family->Reset();
  }

 private:
  template <class Metric>
  using ByName = std::map<std::string, std::unique_ptr<FamilyImpl<Metric>>>;
  struct Families {
    ByName<Counter> counters;
    ByName<Gauge> gauges;
    ByName<Histogram> histograms;
    std::map<std::string, AnyFamily*> shown;
  };
  struct Refreshers {
    std::map<std::uint64_t, UniqueFunction<void()>> by_id;
    std::uint64_t next_id = 0;
  };

  template <class Metric>
  Family<Metric>& Get(ByName<Metric> Families::*kind, FamilyOptions options,
                      typename FamilyImpl<Metric>::Make make) {
    auto families = families_.Lock();
    auto& family = ((*families).*kind)[options.name];
    if (family == nullptr) {
      const std::string name = options.name;
      family = std::make_unique<FamilyImpl<Metric>>(std::move(options), std::move(make));
      // If the name is one of another type's family already, that one is shown.
      families->shown.try_emplace(name, family.get());
    }
    return *family;
  }

  mutable Guarded<Families> families_;
  // Called with the lock held, so that unregistering waits for a call. Shared with the
  // registrations.
  const std::shared_ptr<Guarded<Refreshers>> refreshers_ = std::make_shared<Guarded<Refreshers>>();
};

}  // namespace

Histogram::Histogram(std::vector<double> upper_bounds)
    : upper_bounds_(std::move(upper_bounds)), counts_(upper_bounds_.size() + 1) {}

std::size_t Histogram::BucketOf(double value) const {
  // Most requests are faster, and most answers smaller, than the first bound.
  if (!upper_bounds_.empty() && value <= upper_bounds_.front()) return 0;
  const auto bound = std::lower_bound(upper_bounds_.begin(), upper_bounds_.end(), value);
  return static_cast<std::size_t>(bound - upper_bounds_.begin());
}

void Histogram::Observe(double value) {
  counts_[BucketOf(value)].fetch_add(1, std::memory_order_relaxed);
  if (value != 0) sum_.fetch_add(value, std::memory_order_relaxed);
}

void Histogram::AddTo(std::size_t i, std::uint64_t count, double sum) {
  counts_[i].fetch_add(count, std::memory_order_relaxed);
  sum_.fetch_add(sum, std::memory_order_relaxed);
}

void Histogram::Add(const std::vector<std::uint64_t>& counts, double sum) {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    counts_[i].fetch_add(counts[i], std::memory_order_relaxed);
  }
  sum_.fetch_add(sum, std::memory_order_relaxed);
}

void Histogram::Reset() {
  for (auto& count : counts_) count.store(0, std::memory_order_relaxed);
  sum_.store(0, std::memory_order_relaxed);
}

TimingHistogram::TimingHistogram(Histogram& histogram, Clock::Monotonic now, double value)
    : histogram_(histogram),
      last_(now),
      value_(value),
      bucket_(histogram.BucketOf(value)),
      nanoseconds_(histogram.upper_bounds().size() + 1) {}

void TimingHistogram::AdvanceTo(Clock::Monotonic now) {
  const auto passed = std::chrono::nanoseconds(now - last_).count();
  if (passed <= 0) return;
  last_ = now;
  nanoseconds_[bucket_] += static_cast<std::uint64_t>(passed);
  integral_ += static_cast<double>(passed) * value_;
}

void TimingHistogram::Set(Clock::Monotonic now, double value) {
  if (value == value_) return;
  AdvanceTo(now);
  value_ = value;
  // Most changes are small, so the new bucket is at hand.
  const std::vector<double>& bounds = histogram_.upper_bounds();
  while (bucket_ > 0 && value <= bounds[bucket_ - 1]) --bucket_;
  while (bucket_ < bounds.size() && value > bounds[bucket_]) ++bucket_;
}

void TimingHistogram::Show(Clock::Monotonic now) {
  AdvanceTo(now);
  histogram_.Add(nanoseconds_, integral_);
  std::fill(nanoseconds_.begin(), nanoseconds_.end(), 0);
  integral_ = 0;
}

std::vector<double> ExponentialBuckets(double start, double factor, std::size_t count) {
  std::vector<double> bounds;
  for (; bounds.size() < count; start *= factor) bounds.push_back(start);
  return bounds;
}

std::vector<double> LinearBuckets(double start, double width, std::size_t count) {
  std::vector<double> bounds;
  for (; bounds.size() < count; start += width) bounds.push_back(start);
  return bounds;
}

std::unique_ptr<Registry> NewRegistry() { return std::make_unique<RegistryImpl>(); }

}  // namespace apiserver::v0::metrics
