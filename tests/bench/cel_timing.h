#pragma once

#include <chrono>
#include <cstddef>
#include <ctime>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codec/counted_new.h"

namespace bench {

// The figures of one row of one program; each time is that of one round.
struct CelTimings {
  std::vector<double> compile_ns;
  std::vector<double> evaluate_ns;
  double compile_allocations = 0;
  double evaluate_allocations = 0;
  double memory_bytes = 0;  // The growth of the process; only of rows that ask for it.
};
using CelTimingsByRow = std::map<std::string, CelTimings, std::less<>>;

// Returns the CPU time of this process: other processes may want the CPU too.
inline std::chrono::nanoseconds ProcessCpuTime() {
  timespec used{};
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

// Runs `work` for about the given CPU time. Returns nanoseconds of CPU and allocations of one run.
template <class Work>
std::pair<double, double> TimeCpu(std::chrono::nanoseconds wanted, const Work& work) {
  for (std::size_t runs = 1;; runs *= 2) {
    const std::size_t before = counted_new::Allocations();
    const std::chrono::nanoseconds start = ProcessCpuTime();
    for (std::size_t i = 0; i < runs; ++i) work();
    const std::chrono::nanoseconds took = ProcessCpuTime() - start;
    if (took < wanted / 2) continue;
    const auto count = static_cast<double>(runs);
    return {static_cast<double>(took.count()) / count,
            static_cast<double>(counted_new::Allocations() - before) / count};
  }
}

}  // namespace bench
