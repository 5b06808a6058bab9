#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "apiserver/cel/environment.h"
#include "apiserver/cel/type.h"
#include "cel/environment_state.h"
#include "cel/syntax/ast.h"

// The checker's result, from which the planner and the estimator work.
namespace apiserver::inline v0::cel::check {

// The thing that an identifier names.
struct Reference {
  enum class Kind : std::uint8_t {
    kNone,      // The node is no identifier.
    kVariable,  // A variable of the Environment: `index`.
    kLocal,     // The variable of a comprehension around it: found by name, innermost first.
    kType,      // The name of a type, which is a constant: `type`.
    // The name of a type that is no value: google.protobuf.Struct, kubernetes.AdmissionRequest. It
    // checks, but planning fails with "reference to undefined type: NAME".
    kTypeName,
    kZero,  // The only value of an enum: the int 0, which costs nothing at run time.
  };
  Kind kind = Kind::kNone;
  std::uint32_t index = 0;
  Type type = {};
};

// The function that a call names, with the overloads that its arguments match.
struct ResolvedCall {
  // Null: the node is no call, or one of the operators that are no functions of the table.
  const FunctionEntry* function = nullptr;
  std::uint32_t first = 0;  // In CheckedAst::overloads.
  std::uint32_t count = 0;
};

// A tree that has been checked. Member calls of functions with dotted names are free calls in it
// (Ast::RewriteAsFreeCall), and dotted names of variables are identifiers (RewriteAsIdentifier).
// Vectors with one element a node are indexed by NodeId; nodes that the root does not reach have
// empty elements. Uncheckable trees do not come here: the checker returns their Issues instead.
struct CheckedAst {
  // Declares the functions that `calls` and `overloads` point to.
  Environment environment;
  syntax::Ast ast;
  std::vector<Type> types;
  std::vector<Reference> references;
  std::vector<ResolvedCall> calls;
  std::vector<const Overload*> overloads;
  // The type of the root, in which free type variables are dyn.
  Type result_type;

  // Returns all overloads of a call that its argument types match, in declaration order.
  std::span<const Overload* const> MatchesOf(syntax::NodeId call) const {
    return {overloads.data() + calls[call].first, calls[call].count};
  }
  // Returns the overload of a call if it is the only match, which costs depend on. Null: there are
  // several.
  const Overload* OverloadOf(syntax::NodeId call) const {
    return calls[call].count == 1 ? overloads[calls[call].first] : nullptr;
  }
};

}  // namespace apiserver::inline v0::cel::check
