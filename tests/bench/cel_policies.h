#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "bench/cel_timing.h"

// ValidatingAdmissionPolicies through their plugin: W16b.
namespace bench {

// Returns the names of the rows that contain `wanted`, in order.
std::vector<std::string> CelPolicyNames(const std::string& wanted);
// Times one request through the plugin for each of some rows. kInternalError: the answer is not the
// one expected.
apiserver::Status TimeCelPolicies(const std::vector<std::string>& rows,
                                  std::chrono::nanoseconds time, CelTimingsByRow& timings);
// Returns the same rows as lines for the program of tests/oracle/cel.
std::string CelPolicyLines(const std::vector<std::string>& rows);

// The size of the row that measures memory.
struct CelMemorySize {
  int policies = 1'000;
  int bindings = 100;  // Of each policy.
  int validations = 50;
};
// The name of that row.
inline constexpr char kCelMemory[] = "memory";
// Makes the policies and bindings, as an informer holds them and as the plugin compiles them, and
// notes what the process grows by.
apiserver::Status MeasureCelMemory(const CelMemorySize& size, CelTimings& timings);
// Returns the same for the program of tests/oracle/cel.
std::string CelMemoryLine(const CelMemorySize& size);

}  // namespace bench
