#pragma once  // Library-internal: other rooms include this header.

#include "admission/policy/expression.h"
#include "admission/policy/snapshot.h"
#include "apiserver/admission/policy.h"

// Policies in the Common Expression Language: compilePolicy of plugin/policy/validating/plugin.go
// and plugin/policy/mutating/compilation.go, and the checks of policies that are written.
namespace apiserver::inline v0::admission::policy {

// Returns what compiles stored policies.
PolicyCompiler NewPolicyCompiler(PolicyType type);

// Returns what makes a checker for each validation of a policy.
NewExpressionChecker NewPolicyChecker();

}  // namespace apiserver::inline v0::admission::policy
