#pragma once

#include <cstdint>
#include <span>

#include "cel/run/instructions.h"

// Calls of functions.
namespace apiserver::inline v0::cel {

// Tells if a value fits a declared type at run time: the kind, or the name of an opaque type; for
// lists and maps also that of the first element (cel-go's IsAssignableRuntimeType).
bool FitsAtRunTime(const Value& value, const TypeNode& type, Arena& arena);

// Resolves how a call is run, from the function and the overload that the checker found alone (or
// null).
plan::Callee MakeCallee(const FunctionEntry& function, const Overload* overload);

// Runs a call that Call() cannot hand to the handler at once.
Value CallChecked(const plan::Callee& callee, CallContext& call, std::span<const Value> arguments);

// Runs a call; the first argument that is an error is the result.
inline Value Call(const plan::Callee& callee, CallContext::Shared& shared,
                  std::span<const Value> arguments) {
  if (!callee.non_strict) {
    for (const Value& argument : arguments) {
      if (argument.is_error()) return argument;
    }
  }
  CallContext call(shared, callee.function->name, callee.prepared.get());
  if (callee.handler == nullptr || callee.guarded) return CallChecked(callee, call, arguments);
  return callee.handler(call, arguments);
}

// Returns the run-time cost of a call. `result` may be null if callee.cost_before_call.
inline std::uint64_t CostOfCall(const plan::Callee& callee, std::span<const Value> arguments,
                                const Value* result) {
  const CostCall call{.arguments = arguments, .overload = callee.overload, .result = result};
  if (callee.cost_by_name != nullptr) {
    if (const std::optional<std::uint64_t> cost = callee.cost_by_name(call)) return *cost;
  }
  if (callee.cost_by_overload != nullptr) {
    if (const std::optional<std::uint64_t> cost = callee.cost_by_overload(call)) return *cost;
  }
  return 1;
}

}  // namespace apiserver::inline v0::cel
