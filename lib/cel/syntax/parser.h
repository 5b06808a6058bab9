#pragma once  // Library-internal: other rooms include this header.

#include "cel/syntax/ast.h"
#include "cel/syntax/macros.h"
#include "cel/syntax/source.h"

namespace apiserver::inline v0::cel::syntax {

// Longer expressions are refused, in code points.
inline constexpr std::uint32_t kExpressionSizeMax = 100'000;
// Deeper nesting is refused, of one grammar rule in itself while parsing and of operators,
// selections, indexes and member calls in each other afterwards.
inline constexpr std::uint32_t kDepthMax = 250;

// The syntax of an environment. The defaults are those of Kubernetes 1.34 to 1.36.
struct ParseOptions {
  bool optional_syntax = true;  // a.?b, a[?b], [?a], {?a: b}; Kubernetes 1.28.
  bool quoted_fields = false;   // a.`b-c`; in no Kubernetes up to 1.36.
  MacroOptions macros;
};

// Parses an expression and expands its macros, as cel-go's parser does. What is wrong goes to
// `issues`, and then the tree has no root. A syntax error has ANTLR's words. cel-go goes on after
// errors that no single token repairs and may report more of them; here the first one of those is
// the last.
Ast Parse(const SourceText& source, const ParseOptions& options, Issues& issues);

}  // namespace apiserver::inline v0::cel::syntax
