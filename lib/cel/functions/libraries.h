#pragma once

#include <span>

#include "cel/function.h"

// The tables of functions, one for each library. The FunctionTable puts them together.
namespace apiserver::inline v0::cel::functions {

// Operators, conversions, size, contains, startsWith, endsWith, matches: cel-go's common/stdlib.
std::span<const Function> Standard();

}  // namespace apiserver::inline v0::cel::functions
