#pragma once

#include <deque>
#include <set>
#include <string>
#include <vector>

#include "apiserver/cel/environment.h"
#include "apiserver/cel/program.h"
#include "cel/plan/instructions.h"
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
  std::vector<Type> types;  // Of constants and messages.
  std::uint32_t register_count = 0;

  Type result_type;
  std::vector<bool> uses;  // By variable.
  std::set<std::string, std::less<>> field_names;
  CostRange estimate;

  // Memory of constants, and texts of names.
  Arena arena;
  std::deque<std::string> texts;
};

}  // namespace apiserver::inline v0::cel
