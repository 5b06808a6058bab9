#include "cel/functions/libraries.h"
#include "cel/run/size.h"
#include "cel/types/spell.h"

namespace apiserver::inline v0::cel::functions {
namespace {

using types::kA;
using types::kBool;
using types::kBytes;
using types::kInt;
using types::kListOf;
using types::kMapOf;
using types::kString;

Value Size(CallContext& call, std::span<const Value> arguments) {
  const Value& value = arguments[0];
  switch (value.kind()) {
    case Value::Kind::kString:
    case Value::Kind::kBytes:
    case Value::Kind::kList:
    case Value::Kind::kMap:
      return Value::Int(static_cast<std::int64_t>(CostSize(value)));
    default:
      return call.NoSuchOverloadByName();
  }
}

constexpr const TypeNode& kListOfA = kListOf<kA>;
constexpr const TypeNode& kMapOfAToB = kMapOf<kA, types::kB>;

constexpr Overload kSize[] = {
    {.id = "size_bytes", .signature = Free(kInt, kBytes)},
    {.id = "bytes_size", .signature = Member(kInt, kBytes)},
    {.id = "size_list", .signature = Free(kInt, kListOfA)},
    {.id = "list_size", .signature = Member(kInt, kListOfA)},
    {.id = "size_map", .signature = Free(kInt, kMapOfAToB)},
    {.id = "map_size", .signature = Member(kInt, kMapOfAToB)},
    {.id = "size_string", .signature = Free(kInt, kString)},
    {.id = "string_size", .signature = Member(kInt, kString)},
};

Value Contains(CallContext&, std::span<const Value> arguments) {
  return Value::Bool(arguments[0].AsText().find(arguments[1].AsText()) != std::string_view::npos);
}

Value StartsWith(CallContext&, std::span<const Value> arguments) {
  return Value::Bool(arguments[0].AsText().starts_with(arguments[1].AsText()));
}

Value EndsWith(CallContext&, std::span<const Value> arguments) {
  return Value::Bool(arguments[0].AsText().ends_with(arguments[1].AsText()));
}

// ⌈target × 0.1⌉ × ⌈argument × 0.1⌉.
std::optional<std::uint64_t> CostOfContains(const CostCall& call) {
  return TraversalCost(call.arguments[0]) * TraversalCost(call.arguments[1]);
}
std::optional<CallEstimate> EstimateContains(const EstimateCall& call) {
  return CallEstimate{CostOf(call.Size(0), kStringTraversal) *
                      CostOf(call.Size(1), kStringTraversal)};
}

// The run-time cost counts the target, while the estimate counts the argument: cel-go's quirk.
std::optional<std::uint64_t> CostOfTarget(const CostCall& call) {
  return TraversalCost(call.arguments[0]);
}
std::optional<CallEstimate> EstimateArgument(const EstimateCall& call) {
  return CallEstimate{CostOf(call.Size(1), kStringTraversal)};
}

constexpr Overload kContains[] = {
    {.id = "contains_string",
     .signature = Member(kBool, kString, kString),
     .handler = Contains,
     .run_cost = CostOfContains,
     .estimate = EstimateContains},
};
constexpr Overload kEndsWith[] = {
    {.id = "ends_with_string",
     .signature = Member(kBool, kString, kString),
     .handler = EndsWith,
     .run_cost = CostOfTarget,
     .estimate = EstimateArgument},
};
constexpr Overload kStartsWith[] = {
    {.id = "starts_with_string",
     .signature = Member(kBool, kString, kString),
     .handler = StartsWith,
     .run_cost = CostOfTarget,
     .estimate = EstimateArgument},
};

constexpr Function kFunctions[] = {
    {.name = "size", .overloads = kSize, .handler = Size},
    {.name = "contains", .overloads = kContains},
    {.name = "endsWith", .overloads = kEndsWith},
    {.name = "startsWith", .overloads = kStartsWith},
};

}  // namespace

std::span<const Function> Standard() { return kFunctions; }

}  // namespace apiserver::inline v0::cel::functions
