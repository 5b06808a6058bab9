#pragma once

#include <optional>

#include "apiserver/cel/environment.h"
#include "cel/check/checked.h"
#include "cel/syntax/ast.h"
#include "cel/syntax/source.h"

// The type checker: checker/checker.go of cel-go.
namespace apiserver::inline v0::cel::check {

// Finds what each name of the expression means, the type of each node and the overloads that each
// call may run, and then looks at literals (literals.h). nullopt: the expression is refused;
// `issues` says why, with all reasons that one pass finds. Needs constant stack, and time that the
// size of the tree bounds.
std::optional<CheckedAst> Check(const Environment& environment, syntax::Ast ast,
                                syntax::Issues& issues);

}  // namespace apiserver::inline v0::cel::check
