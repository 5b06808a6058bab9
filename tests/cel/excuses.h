#pragma once

#include <string_view>
#include <vector>

#include "cel/judge.h"

namespace cel_test {

// Returns the reason for which our answer to an expression may differ from Go's, one of the list in
// docs/cel.md. Empty: it may not.
std::string_view ExcuseFor(std::string_view expression, const std::vector<Difference>& differences);

}  // namespace cel_test
