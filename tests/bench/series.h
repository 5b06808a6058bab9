#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/closed_loop.h"
#include "bench/report.h"
#include "bench/server_under_test.h"

namespace bench {

constexpr int kRuns = 5;

// Repeats a closed loop and adds its rows.
class Series {
 public:
  Series(std::string name, const ServerUnderTest& server)
      : name_(std::move(name)), server_(server) {}

  apiserver::Status Run(const Connections& connections,
                        const std::function<LoopOptions(int run)>& options);
  apiserver::Status RunOnce(const Connections& connections, LoopOptions loop);
  // One run that somebody else has timed.
  void Add(const LoopResult& result, double cpu_seconds);
  void AddTo(Report& report) const;
  // Server CPU of an operation, in microseconds; one of each run.
  const std::vector<double>& cpu_us() const { return cpu_us_; }

 private:
  std::string name_;
  const ServerUnderTest& server_;
  std::vector<double> cpu_us_, throughput_, p50_, p99_;
};

}  // namespace bench
