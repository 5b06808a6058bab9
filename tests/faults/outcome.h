#pragma once

#include <cstddef>
#include <string>

namespace apiserver::inline v0::faults {

// What a harness has seen.
struct Outcome {
  std::size_t rounds = 0;
  std::size_t acknowledged = 0;
  std::size_t violations = 0;
  std::string first_violation;  // With what replays it.

  void Violated(const std::string& what) {
    if (violations++ == 0) first_violation = what;
  }
};

}  // namespace apiserver::inline v0::faults
