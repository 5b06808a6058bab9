#pragma once

#include "cel/check/checked.h"
#include "cel/syntax/source.h"

// The check of format strings: the validator in ext/formatting.go of cel-go, which version 2 of
// ext.Strings uses.
namespace apiserver::inline v0::cel::check {

// Refuses a call 'text'.format([arguments]) whose clauses are wrong, or do not fit the number or
// the types of the arguments. Calls of other functions, and those whose text or arguments are no
// literals, are left alone.
void CheckFormatCall(const CheckedAst& checked, syntax::NodeId call, syntax::Issues& issues);

}  // namespace apiserver::inline v0::cel::check
