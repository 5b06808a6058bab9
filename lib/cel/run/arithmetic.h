#pragma once

#include "apiserver/cel/value.h"

// The operators of arithmetic. Operands are no errors; results may be: overflow, division by zero,
// "no such overload" for operands of different kinds.
namespace apiserver::inline v0::cel {

// Tells if the sum is a list or text that is too large to be built: the evaluation must end.
bool IsTooLargeToAdd(const Value& a, const Value& b);

// Return the result; none for a left operand without this operator: "no such overload: _+_" is then
// for the caller to say. Add() is not for operands that are too large.
std::optional<Value> Add(const Value& a, const Value& b, Arena& arena);
std::optional<Value> Subtract(const Value& a, const Value& b);
std::optional<Value> Multiply(const Value& a, const Value& b);
std::optional<Value> Divide(const Value& a, const Value& b);
std::optional<Value> Modulo(const Value& a, const Value& b);
std::optional<Value> Negate(const Value& a);

// The largest list that "+" makes. cel-go does not copy lists, and charges 1 for any length.
inline constexpr std::uint64_t kAddedItemsMax = 4'000'000;

}  // namespace apiserver::inline v0::cel
