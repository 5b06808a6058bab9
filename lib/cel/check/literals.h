#pragma once

#include "cel/check/checked.h"
#include "cel/syntax/source.h"

// The checks of literals that follow a clean check: cel/validator.go of cel-go.
namespace apiserver::inline v0::cel::check {

// Refuses lists and maps of several types, and literal arguments of duration, timestamp and matches
// that the functions would refuse, and calls of format (format_calls.h).
void CheckLiterals(const CheckedAst& checked, syntax::Issues& issues);

}  // namespace apiserver::inline v0::cel::check
