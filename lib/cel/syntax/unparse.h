#pragma once

#include <string>

#include "cel/syntax/ast.h"

namespace apiserver::inline v0::cel::syntax {

// Writes a tree as an expression that parses to the same tree, with macros as they were called. For
// debugging and tests: parentheses stand where the tree needs them, not where the source had them.
// Empty for a tree without a root.
std::string Unparse(const Ast& ast);

}  // namespace apiserver::inline v0::cel::syntax
