#pragma once

#include <string_view>

// The names of functions that are no identifiers: common/operators of cel-go. Operators are calls
// of them in a tree, and messages show them.
namespace apiserver::inline v0::cel::syntax::operators {

inline constexpr std::string_view kConditional = "_?_:_";
inline constexpr std::string_view kLogicalAnd = "_&&_";
inline constexpr std::string_view kLogicalOr = "_||_";
inline constexpr std::string_view kLogicalNot = "!_";
inline constexpr std::string_view kEqual = "_==_";
inline constexpr std::string_view kNotEqual = "_!=_";
inline constexpr std::string_view kLess = "_<_";
inline constexpr std::string_view kLessOrEqual = "_<=_";
inline constexpr std::string_view kGreater = "_>_";
inline constexpr std::string_view kGreaterOrEqual = "_>=_";
inline constexpr std::string_view kAdd = "_+_";
inline constexpr std::string_view kSubtract = "_-_";
inline constexpr std::string_view kMultiply = "_*_";
inline constexpr std::string_view kDivide = "_/_";
inline constexpr std::string_view kModulo = "_%_";
inline constexpr std::string_view kNegate = "-_";
inline constexpr std::string_view kIndex = "_[_]";
inline constexpr std::string_view kOptionalIndex = "_[?_]";  // a[?b]
inline constexpr std::string_view kOptionalSelect =
    "_?._";  // a.?b; the field is a string constant.
inline constexpr std::string_view kIn = "@in";
// Made by macros.
inline constexpr std::string_view kNotStrictlyFalse = "@not_strictly_false";
inline constexpr std::string_view kMapInsert = "cel.@mapInsert";
inline constexpr std::string_view kSortByAssociatedKeys = "@sortByAssociatedKeys";

// The name of a comprehension's accumulator, but for the variable of a binding.
inline constexpr std::string_view kAccumulator = "@result";
// The variable of a comprehension that iterates over nothing, to bind its accumulator.
inline constexpr std::string_view kUnusedVariable = "#unused";

}  // namespace apiserver::inline v0::cel::syntax::operators
