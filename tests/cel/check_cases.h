#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/cel/environment.h"

// What tests of the checker share.
namespace cel_test {

// The environment without variables: stored text for 36, new text for older minor versions.
apiserver::cel::Environment Base(int minor = 36);

// Returns the type of an expression's result; or, for what is refused, the issues without "ERROR:
// <input>:1:" and without the lines that show the place.
std::string TypeOf(const apiserver::cel::Environment& environment, std::string_view text);

struct Case {
  std::string_view text;
  std::string_view expected;  // As TypeOf() returns it.
};

// Checks the type of each. The expectations are what k8s.io/apiserver 0.36.0 on cel-go 0.26.0 says.
void CheckAll(const apiserver::cel::Environment& environment, const std::vector<Case>& cases);

}  // namespace cel_test
