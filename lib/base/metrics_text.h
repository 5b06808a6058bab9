#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/metrics.h"

// Prometheus' text exposition format 0.0.4, as github.com/prometheus/common/expfmt writes it.
namespace apiserver::inline v0::metrics {

// The name and the values of the labels of one series, in one order.
struct SeriesLabels {
  std::span<const std::string> names;
  std::span<const std::string> values;  // Missing ones count as "".
};

// Appends the HELP and TYPE lines of a family. `type` is "counter", "gauge" or "histogram".
void AppendFamilyHead(const FamilyOptions& options, std::string_view type, std::string& out);

// Append the lines of one series of the family `name`.
void AppendSeries(std::string_view name, const SeriesLabels& labels, const Counter& counter,
                  std::string& out);
void AppendSeries(std::string_view name, const SeriesLabels& labels, const Gauge& gauge,
                  std::string& out);
void AppendSeries(std::string_view name, const SeriesLabels& labels, const Histogram& histogram,
                  std::string& out);

// Appends the shortest text that reads back as `value`, in Go's form: "1e+06", "0.25", "+Inf".
void AppendNumber(double value, std::string& out);

}  // namespace apiserver::inline v0::metrics
