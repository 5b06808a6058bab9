#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cel/declare/function.h"

// Pieces that several tables of functions share.
namespace apiserver::inline v0::cel::functions {

// Makes a string or a list of strings in the arena, or ends the evaluation if it is too large.
Value MakeString(CallContext& call, std::string_view text);
Value MakeStrings(CallContext& call, std::span<const std::string_view> texts);
Value MakeStrings(CallContext& call, std::span<const std::string> texts);

// The error of an object whose Go type cel-go does not know: "unsupported conversion to ref.Val:
// (netip.Addr)10.0.0.1".
std::string NotTakenOut(std::string_view go_type, std::string_view text);

// Run-time costs: one; ⌈size of the first argument × 0.1⌉, and twice that.
std::optional<std::uint64_t> CostOne(const CostCall& call);
std::optional<std::uint64_t> CostTraversal(const CostCall& call);
std::optional<std::uint64_t> CostTwoTraversals(const CostCall& call);
// ⌈(size of the first argument + 1) × 0.1⌉ × ⌈size of the second × 0.25⌉: a text and a pattern.
std::optional<std::uint64_t> CostRegex(const CostCall& call);
// The cost of looking at every part of the first argument: a scalar 1, a text a tenth of its bytes,
// rounded down. cost.go's traversalCost.
std::optional<std::uint64_t> CostDeepTraversal(const CostCall& call);

// The same as estimates.
std::optional<CallEstimate> EstimateOne(const EstimateCall& call);
std::optional<CallEstimate> EstimateTraversal(const EstimateCall& call);
// And the result has the size of the first argument.
std::optional<CallEstimate> EstimateTraversalAndCopy(const EstimateCall& call);
std::optional<CallEstimate> EstimateTwoTraversals(const EstimateCall& call);
// The cost of matching a text of that size.
CostRange EstimateRegex(SizeRange text, SizeRange pattern);
// Looks at each element of a list, or at a text.
std::optional<CallEstimate> EstimateElements(const EstimateCall& call);

// The row of a function whose every call costs one.
constexpr Function UnitCostRow(std::string_view name, std::span<const Overload> overloads,
                               std::uint8_t since = kStart) {
  return {.name = name,
          .overloads = overloads,
          .run_cost = CostOne,
          .estimate = EstimateOne,
          .since = since};
}

// The row of a function that reads its first argument once.
constexpr Function TraversalRow(std::string_view name, std::span<const Overload> overloads,
                                std::uint8_t since = kStart) {
  return {.name = name,
          .overloads = overloads,
          .run_cost = CostTraversal,
          .estimate = EstimateTraversal,
          .since = since};
}

}  // namespace apiserver::inline v0::cel::functions
