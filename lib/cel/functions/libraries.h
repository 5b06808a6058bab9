#pragma once

#include <span>

#include "cel/function.h"

// The tables of functions, one for each library. The FunctionTable puts them together.
namespace apiserver::inline v0::cel::functions {

// Parts of cel-go's common/stdlib.
// Operators by their internal names.
std::span<const Function> Operators();
// int, string, timestamp, type, dyn, ….
std::span<const Function> Conversions();
// size, contains, startsWith, endsWith.
std::span<const Function> Standard();

}  // namespace apiserver::inline v0::cel::functions
