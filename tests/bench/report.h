#pragma once

#include <string>
#include <vector>

namespace bench {

// One figure: the median over all runs of one variant of a workload.
struct Row {
  std::string workload;  // "W8", "W8/c1".
  std::string metric;    // "server_cpu_us_per_op".
  double value = 0;
  std::string unit;
};

double Median(std::vector<double> values);
// The value below which `fraction` of `values` lie.
double Percentile(std::vector<double> values, double fraction);

// Collects rows; prints a table and, if wanted, one JSON object a line.
class Report {
 public:
  // Also tells stderr at once.
  void Add(Row row);
  void Print() const;
  // False when the file cannot be written.
  bool WriteJson(const std::string& path) const;

 private:
  std::vector<Row> rows_;
};

}  // namespace bench
