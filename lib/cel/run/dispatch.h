#pragma once

#include <cstdint>
#include <span>

#include "cel/plan/instructions.h"

// Calls of functions.
namespace apiserver::inline v0::cel {

// Tells if a value fits a declared type at run time: the kind, or the name of an opaque type; for
// lists and maps also that of the first element (cel-go's IsAssignableRuntimeType).
bool FitsAtRunTime(const Value& value, const TypeNode& type, Arena& arena);

// Resolves how a call is run, from the function and the overload that the checker found alone (or
// null).
plan::Callee MakeCallee(const FunctionEntry& function, const Overload* overload);

// Runs a call; the first argument that is an error is the result.
Value Call(const plan::Callee& callee, CallContext::Shared& shared,
           std::span<const Value> arguments);

// Returns the run-time cost of a call. `result` may be null if callee.cost_before_call.
std::uint64_t CostOfCall(const plan::Callee& callee, std::span<const Value> arguments,
                         const Value* result);

}  // namespace apiserver::inline v0::cel
