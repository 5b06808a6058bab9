#include "bench/report.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace bench {

double Median(std::vector<double> values) { return Percentile(std::move(values), 0.5); }

double Percentile(std::vector<double> values, double fraction) {
  if (values.empty()) return 0;
  const auto index = static_cast<std::size_t>(fraction * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index),
                   values.end());
  return values[index];
}

void Report::Add(Row row) {
  std::fprintf(stderr, "  %s %s %.2f %s\n", row.workload.c_str(), row.metric.c_str(), row.value,
               row.unit.c_str());
  rows_.push_back(std::move(row));
}

void Report::Print() const {
  std::printf("%-10s %-28s %14s %s\n", "workload", "metric", "value", "unit");
  for (const Row& row : rows_) {
    std::printf("%-10s %-28s %14.2f %s\n", row.workload.c_str(), row.metric.c_str(), row.value,
                row.unit.c_str());
  }
}

bool Report::WriteJson(const std::string& path) const {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (!file) return false;
  for (const Row& row : rows_) {
    std::fprintf(file, "{\"workload\":\"%s\",\"metric\":\"%s\",\"value\":%.3f,\"unit\":\"%s\"}\n",
                 row.workload.c_str(), row.metric.c_str(), row.value, row.unit.c_str());
  }
  return std::fclose(file) == 0;
}

}  // namespace bench
