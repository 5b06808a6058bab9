#include "apiserver/base/metrics.h"

#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"

namespace apiserver::inline v0::metrics {
namespace {

TEST_CASE("base: counters and gauges are written by name, then by label values", "[base]") {
  const auto registry = NewRegistry();
  auto& requests = registry->Counters({"requests_total", "Requests.", {"verb", "code"}});
  registry->Gauges({"inflight", "Now.", {}}).With({}).Set(2.5);

  requests.With({"LIST", "200"}).Add();
  requests.With({"GET", "404"}).Add(3);
  requests.With({"GET", "200"}).Add();
  requests.With({"GET", "200"}).Add();

  CHECK(registry->Serialize() ==
        "# HELP inflight Now.\n"
        "# TYPE inflight gauge\n"
        "inflight 2.5\n"
        "# HELP requests_total Requests.\n"
        "# TYPE requests_total counter\n"
        "requests_total{verb=\"GET\",code=\"200\"} 2\n"
        "requests_total{verb=\"GET\",code=\"404\"} 3\n"
        "requests_total{verb=\"LIST\",code=\"200\"} 1\n");
}

TEST_CASE("base: a histogram's buckets are cumulative and their bounds inclusive", "[base]") {
  const auto registry = NewRegistry();
  auto& seconds = registry->Histograms({"seconds", "Took.", {}}, {1, 2.5}).With({});

  for (double value : {0.5, 1.0, 2.0, 7.0}) seconds.Observe(value);

  CHECK(registry->Serialize() ==
        "# HELP seconds Took.\n"
        "# TYPE seconds histogram\n"
        "seconds_bucket{le=\"1\"} 2\n"
        "seconds_bucket{le=\"2.5\"} 3\n"
        "seconds_bucket{le=\"+Inf\"} 4\n"
        "seconds_sum 10.5\n"
        "seconds_count 4\n");
}

TEST_CASE("base: values that are added to a histogram's bucket count as if they were observed",
          "[base]") {
  const auto registry = NewRegistry();
  auto& seconds = registry->Histograms({"seconds", "Took.", {}}, {1, 2.5}).With({});

  seconds.AddTo(seconds.BucketOf(2), 3, 5.5);
  seconds.AddTo(seconds.BucketOf(7), 1, 7);

  CHECK(seconds.count(0) == 0);
  CHECK(seconds.count(1) == 3);
  CHECK(seconds.count(2) == 1);
  CHECK(seconds.sum() == 12.5);
}

// Go's strconv.AppendFloat(value, 'g', -1, 64), which github.com/prometheus/common/expfmt uses.
TEST_CASE("base: numbers of metrics are the shortest that read back, as Go writes them", "[base]") {
  const auto registry = NewRegistry();
  Gauge& gauge = registry->Gauges({"g", "", {}}).With({});
  for (const auto& [value, text] : std::vector<std::pair<double, std::string>>{
           {0, "0"},
           {-3, "-3"},
           {0.1, "0.1"},
           {0.005, "0.005"},
           {0.00001, "1e-05"},
           {123456, "123456"},
           {1000000, "1e+06"},
           {40206336, "4.0206336e+07"},
           {1700000000.25, "1.70000000025e+09"},
           {std::numeric_limits<double>::infinity(), "+Inf"},
           {-std::numeric_limits<double>::infinity(), "-Inf"},
           {std::numeric_limits<double>::quiet_NaN(), "NaN"}}) {
    gauge.Set(value);
    CHECK(registry->Serialize() == "# TYPE g gauge\ng " + text + "\n");
  }
}

TEST_CASE("base: a help text of two lines stays one line", "[base]") {
  const auto registry = NewRegistry();

  registry->Counters({"c", "one\ntwo \\ \"three\"", {}});

  CHECK(registry->Serialize() == "# HELP c one\\ntwo \\\\ \"three\"\n# TYPE c counter\nc 0\n");
}

TEST_CASE("base: label values are escaped", "[base]") {
  const auto registry = NewRegistry();

  registry->Gauges({"g", "", {"l"}}).With({"a\"b\\c\nd"}).Set(1);

  CHECK(registry->Serialize().find(R"(g{l="a\"b\\c\nd"} 1)") != std::string::npos);
}

TEST_CASE("base: the same name and labels are the same series", "[base]") {
  const auto registry = NewRegistry();
  Counter& first = registry->Counters({"c", "", {"a", "b"}}).With({"x", ""});

  CHECK(&registry->Counters({"c", "", {"a", "b"}}).With({"x", ""}) == &first);
  CHECK(&registry->Counters({"c", "", {"a", "b"}}).With({"x"}) == &first);
  CHECK(&registry->Counters({"c", "", {"a", "b"}}).With({"", "x"}) != &first);
}

TEST_CASE("base: a family with labels is shown once it has a series, one without always",
          "[base]") {
  const auto registry = NewRegistry();

  registry->Counters({"with_labels", "", {"a"}});
  registry->Counters({"without", "", {}});

  CHECK(registry->Serialize() == "# TYPE without counter\nwithout 0\n");
}

TEST_CASE("base: a removed series is not shown and starts at zero when it comes back", "[base]") {
  const auto registry = NewRegistry();
  auto& objects = registry->Gauges({"objects", "", {"resource"}});
  Gauge& flunders = objects.With({"flunders"});
  flunders.Set(5);

  objects.Remove({"flunders"});
  objects.Remove({"never there"});
  CHECK(registry->Serialize().empty());

  CHECK(&objects.With({"flunders"}) == &flunders);
  CHECK(registry->Serialize().find("objects{resource=\"flunders\"} 0\n") != std::string::npos);
}

TEST_CASE("base: a reset sets counters and histograms to zero and keeps gauges", "[base]") {
  const auto registry = NewRegistry();
  Counter& counter = registry->Counters({"c", "", {}}).With({});
  Histogram& histogram = registry->Histograms({"h", "", {}}, {1}).With({});
  Gauge& gauge = registry->Gauges({"g", "", {}}).With({});
  counter.Add(2);
  histogram.Observe(3);
  gauge.Add(4);

  registry->Reset();
  gauge.Subtract();
  counter.Add();

  CHECK(counter.value() == 1);
  CHECK(histogram.count(1) == 0);
  CHECK(histogram.sum() == 0);
  CHECK(gauge.value() == 3);
}

TEST_CASE("base: counters and gauges add whole numbers and fractions", "[base]") {
  const auto registry = NewRegistry();
  Counter& counter = registry->Counters({"c", "", {}}).With({});
  Gauge& gauge = registry->Gauges({"g", "", {}}).With({});

  for (const double n : {1.0, 0.25, 2e15, 2.0}) counter.Add(n);
  CHECK(counter.value() == 2e15 + 3.25);
  counter.Reset();
  CHECK(counter.value() == 0);

  gauge.Add(5);
  gauge.Subtract(0.5);
  CHECK(gauge.value() == 4.5);
  gauge.Set(-2);
  CHECK(gauge.value() == -2);
  gauge.Add(-1e300);
  CHECK(gauge.value() == -1e300);
  gauge.Set(0);
  gauge.Add(std::numeric_limits<double>::infinity());
  CHECK(gauge.value() == std::numeric_limits<double>::infinity());
}

TEST_CASE("base: a refresher runs before each serialization until it is unregistered", "[base]") {
  const auto registry = NewRegistry();
  Gauge& gauge = registry->Gauges({"g", "", {}}).With({});
  auto refreshing = registry->BeforeSerialize([&] { gauge.Add(); });

  registry->Serialize();
  CHECK(registry->Serialize().find("g 2\n") != std::string::npos);
  refreshing.Reset();
  registry->Serialize();

  CHECK(gauge.value() == 2);
}

TEST_CASE("base: series are counted from many threads at once", "[base]") {
  const auto registry = NewRegistry();
  auto& family = registry->Counters({"c", "", {"n"}});
  auto& histograms = registry->Histograms({"h", "", {}}, LinearBuckets(0, 1, 3));
  {
    std::vector<Thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back("counter", [&] {
        for (int i = 0; i < 1000; ++i) {
          family.With({std::to_string(i % 7)}).Add();
          histograms.With({}).Observe(i % 3);
          if (i % 250 == 0) registry->Serialize();
        }
      });
    }
  }

  double total = 0;
  for (int n = 0; n < 7; ++n) total += family.With({std::to_string(n)}).value();
  CHECK(total == 4000);
  CHECK(histograms.With({}).sum() == 4 * 999);
}

TEST_CASE("base: buckets grow by a factor or a width", "[base]") {
  CHECK(ExponentialBuckets(1, 4, 4) == std::vector<double>{1, 4, 16, 64});
  CHECK(LinearBuckets(1, 2, 3) == std::vector<double>{1, 3, 5});
}

TEST_CASE("base: two registries share nothing", "[base]") {
  const auto one = NewRegistry();
  const auto two = NewRegistry();

  one->Counters({"c", "", {}}).With({}).Add();

  CHECK(two->Serialize().empty());
}

}  // namespace
}  // namespace apiserver::inline v0::metrics
