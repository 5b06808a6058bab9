#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/cel/program.h"

// Programs without a type checker, so that the machine's answers do not depend on it.
namespace apiserver::testing {

// Plans an expression in which everything is dyn: calls match all overloads of their function with
// the right number of arguments. Fails the test if it does not parse, or returns why it cannot be
// planned.
apiserver::Result<cel::Program> PlanDyn(std::string_view text, std::vector<std::string> variables);

}  // namespace apiserver::testing
