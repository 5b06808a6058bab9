#pragma once

#include <string>
#include <string_view>
#include <vector>

// Helpers of the tests of functions.
namespace cel_test {

// Compiles and evaluates an expression without variables, as stored text of Kubernetes 1.36 that
// may patch. Returns the value in CEL's notation; else "error: …", or the first line of the issues
// behind "refused: ".
std::string Evaluated(std::string_view expression);

struct Evaluation {
  std::string_view expression;
  std::string_view result;  // As Evaluated() returns it.
};

// Evaluates each. The results, and all costs, are those of k8s.io/apiserver 0.36.0 on cel-go
// 0.26.0.
void EvaluateAll(const std::vector<Evaluation>& rows);

}  // namespace cel_test
