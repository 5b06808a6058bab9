#include "cel/functions/libraries.h"
#include "cel/run/equality.h"
#include "cel/run/size.h"
#include "cel/types/spell.h"

// ext/sets.go of cel-go: lists as sets.
namespace apiserver::v0::cel::functions {
namespace sets_rows {
namespace {

using types::kBool;
using types::kListOf;

constexpr const TypeNode& kListOfT = kListOf<types::kT>;
constexpr std::uint8_t kSince = 29;

bool IsTrue(const Value& value) { return value.is_bool() && value.AsBool(); }

// Tells if `list` has every item of `sublist`: a bool or an error.
Value ContainsAll(const Value& list, const Value& sublist, Arena& arena) {
  for (std::uint32_t i = 0; i < sublist.size(); ++i) {
    const Value contained = ListContains(list, sublist.Item(i, arena), arena);
    if (!IsTrue(contained)) return contained;
  }
  return Value::Bool(true);
}

Value Contains(CallContext& call, std::span<const Value> arguments) {
  return ContainsAll(arguments[0], arguments[1], call.arena());
}

Value Equivalent(CallContext& call, std::span<const Value> arguments) {
  const Value contained = ContainsAll(arguments[0], arguments[1], call.arena());
  return IsTrue(contained) ? ContainsAll(arguments[1], arguments[0], call.arena()) : contained;
}

Value Intersects(CallContext& call, std::span<const Value> arguments) {
  for (std::uint32_t i = 0; i < arguments[0].size(); ++i) {
    const Value item = arguments[0].Item(i, call.arena());
    if (IsTrue(ListContains(arguments[1], item, call.arena()))) return Value::Bool(true);
  }
  return Value::Bool(false);
}

// 1 + the product of the sizes, `factor` times.
template <std::uint64_t factor>
std::optional<std::uint64_t> CostOfProduct(const CostCall& call) {
  return 1 + CostSize(call.arguments[0]) * CostSize(call.arguments[1]) * factor;
}
template <std::uint64_t factor>
std::optional<CallEstimate> EstimateProduct(const EstimateCall& call) {
  // In float64, where large products are rounded.
  return CallEstimate{.cost = CostOf(call.Size(0) * call.Size(1), static_cast<double>(factor)) +
                              CostRange{1, 1}};
}

constexpr Overload kContains[] = {
    {.id = "list_sets_contains_list",
     .signature = Free(kBool, kListOfT, kListOfT),
     .handler = Contains,
     .run_cost = CostOfProduct<1>,
     .estimate = EstimateProduct<1>},
};
constexpr Overload kEquivalent[] = {
    {.id = "list_sets_equivalent_list",
     .signature = Free(kBool, kListOfT, kListOfT),
     .handler = Equivalent,
     .run_cost = CostOfProduct<2>,
     .estimate = EstimateProduct<2>},
};
constexpr Overload kIntersects[] = {
    {.id = "list_sets_intersects_list",
     .signature = Free(kBool, kListOfT, kListOfT),
     .handler = Intersects,
     .run_cost = CostOfProduct<1>,
     .estimate = EstimateProduct<1>},
};

constexpr Function kFunctions[] = {
    {.name = "sets.contains", .overloads = kContains, .since = kSince},
    {.name = "sets.equivalent", .overloads = kEquivalent, .since = kSince},
    {.name = "sets.intersects", .overloads = kIntersects, .since = kSince},
};

}  // namespace
}  // namespace sets_rows

std::span<const Function> Sets() { return sets_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
