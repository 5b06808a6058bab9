#include "cel/functions/libraries.h"
#include "cel/run/size.h"
#include "cel/types/spell.h"
#include "text/same.h"

namespace apiserver::v0::cel::functions {
namespace standard_rows {
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
      return call.NoSuchOverloadByName(value);
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

// Makes a handler of a test of two strings.
template <bool (*test)(std::string_view, std::string_view)>
Value TestStrings(CallContext&, std::span<const Value> arguments) {
  if (!arguments[0].is_string() || !arguments[1].is_string()) {
    return CallContext::NoSuchOverload(arguments);
  }
  return Value::Bool(test(arguments[0].AsText(), arguments[1].AsText()));
}
bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
bool StartsWith(std::string_view text, std::string_view part) {
  return text.size() >= part.size() && text::SameName(text.substr(0, part.size()), part);
}
bool EndsWith(std::string_view text, std::string_view part) { return text.ends_with(part); }

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
     .run_cost = CostOfContains,
     .estimate = EstimateContains},
};
constexpr Overload kEndsWith[] = {
    {.id = "ends_with_string",
     .signature = Member(kBool, kString, kString),
     .run_cost = CostOfTarget,
     .estimate = EstimateArgument},
};
constexpr Overload kStartsWith[] = {
    {.id = "starts_with_string",
     .signature = Member(kBool, kString, kString),
     .run_cost = CostOfTarget,
     .estimate = EstimateArgument},
};

constexpr Function kFunctions[] = {
    {.name = "size", .overloads = kSize, .handler = Size},
    {.name = "contains", .overloads = kContains, .handler = TestStrings<Contains>},
    {.name = "endsWith", .overloads = kEndsWith, .handler = TestStrings<EndsWith>},
    {.name = "startsWith", .overloads = kStartsWith, .handler = TestStrings<StartsWith>},
};

}  // namespace
}  // namespace standard_rows

std::span<const Function> Standard() { return standard_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
