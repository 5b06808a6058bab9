#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "bench/cel_timing.h"

// Single expressions: W16b.
namespace bench {

// Returns the names of the rows that contain `wanted`, in order.
std::vector<std::string> CelRuleNames(const std::string& wanted);
// Times the expressions of some rows once: evaluation and compilation. kInvalid: one does not
// compile, or its result is not true.
apiserver::Status TimeCelRules(const std::vector<std::string>& rows, std::chrono::nanoseconds time,
                               CelTimingsByRow& timings);
// Returns the same rows as lines for the program of tests/oracle/cel.
std::string CelRuleLines(const std::vector<std::string>& rows);

}  // namespace bench
