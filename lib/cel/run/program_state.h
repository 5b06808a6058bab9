#pragma once

#include <vector>

#include "apiserver/cel/environment.h"
#include "apiserver/cel/program.h"
#include "cel/run/instructions.h"
#include "cel/run/lookup.h"

namespace apiserver::inline v0::cel {

// The content of a Program. Immutable once planned.
class ProgramState {
 public:
  explicit ProgramState(Environment declared) : environment(std::move(declared)) {}

  // Declares the functions that callees point to.
  Environment environment;
  std::vector<plan::Instruction> code;
  std::vector<Value> constants;
  std::vector<FieldName> names;
  std::vector<plan::Callee> callees;
  std::vector<Type> types;  // The types of constants and messages.
  std::uint32_t register_count = 0;

  Type result_type;
  std::vector<bool> uses;  // By variable.
  CostRange estimate;

  // Memory of constants and of the texts of names. Small, since servers keep many programs.
  Arena arena{64};
};

}  // namespace apiserver::inline v0::cel
