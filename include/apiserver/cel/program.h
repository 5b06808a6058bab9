#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "apiserver/cel/type.h"

// A compiled expression.
namespace apiserver::inline v0::cel {

// A range of estimated costs. Saturates at 2^64 − 1.
struct CostRange {
  std::uint64_t min = 0;
  std::uint64_t max = 0;

  friend bool operator==(const CostRange&, const CostRange&) = default;
};

class ProgramState;  // Private: cel/run/program_state.h.

// An expression that was parsed, checked and planned. Immutable and shared: copies are cheap and
// may be evaluated by many threads at once.
class Program {
 public:
  explicit Program(std::shared_ptr<const ProgramState> state) : state_(std::move(state)) {}

  // The static type of the result.
  const Type& result_type() const;
  // Tells if the expression reads the variable.
  bool Uses(std::string_view variable) const;
  // Tells if the expression selects or tests a field of that name, as it spells it.
  bool UsesField(std::string_view name) const;
  // The bounds of the run-time cost, from the sizes that the variables' schemas allow.
  CostRange estimate() const;

  const ProgramState& state() const { return *state_; }

 private:
  std::shared_ptr<const ProgramState> state_;
};

}  // namespace apiserver::inline v0::cel
