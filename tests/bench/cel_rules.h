#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "bench/cel_timing.h"

// Single expressions: W16b.
namespace bench {

// Returns the names of the rows, in order.
std::vector<std::string> CelRuleNames();
// Times each expression once: its evaluation, and its compilation. kInvalid: one does not compile,
// or its result is not true.
apiserver::Status TimeCelRules(std::chrono::nanoseconds wanted, CelTimingsByRow& timings);
// Returns the same rows as lines for the program of tests/oracle/cel.
std::string CelRuleLines();

}  // namespace bench
