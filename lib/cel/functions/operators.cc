#include "cel/declare/range.h"
#include "cel/functions/libraries.h"
#include "cel/run/arithmetic.h"
#include "cel/run/equality.h"
#include "cel/run/map.h"
#include "cel/run/order.h"
#include "cel/run/size.h"
#include "cel/types/spell.h"

// The operators of the language by their internal names. The planner turns && || ?: == != and
// indexes into instructions of their own; those rows have no handler.
namespace apiserver::v0::cel::functions {
namespace operators_rows {
namespace {

using types::kA;
using types::kB;
using types::kBool;
using types::kBytes;
using types::kDouble;
using types::kDuration;
using types::kDyn;
using types::kInt;
using types::kListOf;
using types::kMapOf;
using types::kOptionalOf;
using types::kString;
using types::kTimestamp;
using types::kUint;

constexpr const TypeNode& kListOfA = kListOf<kA>;
constexpr const TypeNode& kMapOfAToB = kMapOf<kA, kB>;

// ⌈the smaller size × 0.1⌉: comparing stops there. Scalars have size 1.
std::optional<std::uint64_t> CostOfSmaller(const CostCall& call) {
  return MultiplyByFactor(std::min(CostSize(call.arguments[0]), CostSize(call.arguments[1])),
                          kStringTraversal);
}
std::optional<CallEstimate> EstimateSmaller(const EstimateCall& call) {
  const std::uint64_t max = std::min(call.Size(0).max, call.Size(1).max);
  return CallEstimate{CostOf(SizeRange{max > 0 ? 1U : 0U, max}, kStringTraversal)};
}

// ⌈both sizes × 0.1⌉: the result is copied.
std::optional<std::uint64_t> CostOfBoth(const CostCall& call) {
  return MultiplyByFactor(CostSize(call.arguments[0]) + CostSize(call.arguments[1]),
                          kStringTraversal);
}
std::optional<CallEstimate> EstimateBoth(const EstimateCall& call) {
  const SizeRange size = call.Size(0) + call.Size(1);
  return CallEstimate{CostOf(size, kStringTraversal), size};
}
std::optional<CallEstimate> EstimateAddedList(const EstimateCall& call) {
  return CallEstimate{{1, 1}, call.Size(0) + call.Size(1)};
}

std::optional<std::uint64_t> CostOfList(const CostCall& call) {
  return CostSize(call.arguments[1]);
}
std::optional<CallEstimate> EstimateList(const EstimateCall& call) {
  return CallEstimate{CostOf(call.Size(1), 1.0)};
}

// Makes a handler of an arithmetic operator.
template <std::optional<Value> (*operation)(const Value&, const Value&)>
Value Binary(CallContext& call, std::span<const Value> arguments) {
  const std::optional<Value> result = operation(arguments[0], arguments[1]);
  return result.has_value() ? *result : call.NoSuchOverloadByName(arguments[0]);
}

Value HandleAdd(CallContext& call, std::span<const Value> arguments) {
  if (IsTooLargeToAdd(arguments[0], arguments[1])) return call.OverLimit();
  const std::optional<Value> result = Add(arguments[0], arguments[1], call.arena());
  return result.has_value() ? *result : call.NoSuchOverloadByName(arguments[0]);
}

Value HandleNegate(CallContext& call, std::span<const Value> arguments) {
  const std::optional<Value> result = Negate(arguments[0]);
  return result.has_value() ? *result : call.NoSuchOverloadByName(arguments[0]);
}

Value HandleNot(CallContext&, std::span<const Value> arguments) {
  if (!arguments[0].is_bool()) return CallContext::NoSuchOverload(arguments);
  return Value::Bool(!arguments[0].AsBool());
}

Value HandleNotStrictlyFalse(CallContext&, std::span<const Value> arguments) {
  return Value::Bool(!arguments[0].is_bool() || arguments[0].AsBool());
}

// The relations, as tests of the order's sign.
constexpr bool IsLess(std::int64_t sign) { return sign < 0; }
constexpr bool IsLessOrEqual(std::int64_t sign) { return sign <= 0; }
constexpr bool IsGreater(std::int64_t sign) { return sign > 0; }
constexpr bool IsGreaterOrEqual(std::int64_t sign) { return sign >= 0; }

template <bool (*holds)(std::int64_t)>
Value Relation(CallContext& call, std::span<const Value> arguments) {
  if (!IsOrdered(arguments[0].kind())) return call.NoSuchOverloadByName(arguments[0]);
  const Value order = Compare(arguments[0], arguments[1]);
  return order.is_error() ? order : Value::Bool(holds(order.AsInt()));
}

Value HandleIn(CallContext& call, std::span<const Value> arguments) {
  const Value& container = arguments[1];
  if (container.is_list()) return ListContains(container, arguments[0], call.arena());
  if (!container.is_map()) return CallContext::NoSuchOverload(arguments);
  const std::optional<Value> found = FindInMap(container, arguments[0], call.arena());
  if (found.has_value() && found->is_error()) return *found;
  return Value::Bool(found.has_value());
}

constexpr Overload kConditional[] = {{.id = "conditional", .signature = Free(kA, kBool, kA, kA)}};
constexpr Overload kLogicalAnd[] = {{.id = "logical_and", .signature = Free(kBool, kBool, kBool)}};
constexpr Overload kLogicalOr[] = {{.id = "logical_or", .signature = Free(kBool, kBool, kBool)}};
constexpr Overload kLogicalNot[] = {{.id = "logical_not", .signature = Free(kBool, kBool)}};
constexpr Overload kNotStrictlyFalse[] = {
    {.id = "not_strictly_false", .signature = Free(kBool, kBool)}};
// The estimator knows these two itself: values of some types are compared at a fixed cost.
constexpr Overload kEquals[] = {
    {.id = "equals", .signature = Free(kBool, kA, kA), .run_cost = CostOfSmaller}};
constexpr Overload kNotEquals[] = {
    {.id = "not_equals", .signature = Free(kBool, kA, kA), .run_cost = CostOfSmaller}};

constexpr Overload kAdd[] = {
    {.id = "add_bytes",
     .signature = Free(kBytes, kBytes, kBytes),
     .run_cost = CostOfBoth,
     .estimate = EstimateBoth},
    {.id = "add_double", .signature = Free(kDouble, kDouble, kDouble)},
    {.id = "add_duration_duration", .signature = Free(kDuration, kDuration, kDuration)},
    {.id = "add_duration_timestamp", .signature = Free(kTimestamp, kDuration, kTimestamp)},
    {.id = "add_timestamp_duration", .signature = Free(kTimestamp, kTimestamp, kDuration)},
    {.id = "add_int64", .signature = Free(kInt, kInt, kInt)},
    {.id = "add_list",
     .signature = Free(kListOfA, kListOfA, kListOfA),
     .estimate = EstimateAddedList},
    {.id = "add_string",
     .signature = Free(kString, kString, kString),
     .run_cost = CostOfBoth,
     .estimate = EstimateBoth},
    {.id = "add_uint64", .signature = Free(kUint, kUint, kUint)},
};
constexpr Overload kDivide[] = {
    {.id = "divide_double", .signature = Free(kDouble, kDouble, kDouble)},
    {.id = "divide_int64", .signature = Free(kInt, kInt, kInt)},
    {.id = "divide_uint64", .signature = Free(kUint, kUint, kUint)},
};
constexpr Overload kModulo[] = {
    {.id = "modulo_int64", .signature = Free(kInt, kInt, kInt)},
    {.id = "modulo_uint64", .signature = Free(kUint, kUint, kUint)},
};
constexpr Overload kMultiply[] = {
    {.id = "multiply_double", .signature = Free(kDouble, kDouble, kDouble)},
    {.id = "multiply_int64", .signature = Free(kInt, kInt, kInt)},
    {.id = "multiply_uint64", .signature = Free(kUint, kUint, kUint)},
};
constexpr Overload kNegate[] = {
    {.id = "negate_double", .signature = Free(kDouble, kDouble)},
    {.id = "negate_int64", .signature = Free(kInt, kInt)},
};
constexpr Overload kSubtract[] = {
    {.id = "subtract_double", .signature = Free(kDouble, kDouble, kDouble)},
    {.id = "subtract_duration_duration", .signature = Free(kDuration, kDuration, kDuration)},
    {.id = "subtract_int64", .signature = Free(kInt, kInt, kInt)},
    {.id = "subtract_timestamp_duration", .signature = Free(kTimestamp, kTimestamp, kDuration)},
    {.id = "subtract_timestamp_timestamp", .signature = Free(kDuration, kTimestamp, kTimestamp)},
    {.id = "subtract_uint64", .signature = Free(kUint, kUint, kUint)},
};

constexpr Overload kLess[] = {
    {.id = "less_bool", .signature = Free(kBool, kBool, kBool)},
    {.id = "less_int64", .signature = Free(kBool, kInt, kInt)},
    {.id = "less_int64_double", .signature = Free(kBool, kInt, kDouble), .since = 28},
    {.id = "less_int64_uint64", .signature = Free(kBool, kInt, kUint), .since = 28},
    {.id = "less_uint64", .signature = Free(kBool, kUint, kUint)},
    {.id = "less_uint64_double", .signature = Free(kBool, kUint, kDouble), .since = 28},
    {.id = "less_uint64_int64", .signature = Free(kBool, kUint, kInt), .since = 28},
    {.id = "less_double", .signature = Free(kBool, kDouble, kDouble)},
    {.id = "less_double_int64", .signature = Free(kBool, kDouble, kInt), .since = 28},
    {.id = "less_double_uint64", .signature = Free(kBool, kDouble, kUint), .since = 28},
    {.id = "less_string",
     .signature = Free(kBool, kString, kString),
     .run_cost = CostOfSmaller,
     .estimate = EstimateSmaller},
    {.id = "less_bytes",
     .signature = Free(kBool, kBytes, kBytes),
     .run_cost = CostOfSmaller,
     .estimate = EstimateSmaller},
    {.id = "less_timestamp", .signature = Free(kBool, kTimestamp, kTimestamp)},
    {.id = "less_duration", .signature = Free(kBool, kDuration, kDuration)},
};
constexpr Overload kLessEquals[] = {
    {.id = "less_equals_bool", .signature = Free(kBool, kBool, kBool)},
    {.id = "less_equals_int64", .signature = Free(kBool, kInt, kInt)},
    {.id = "less_equals_int64_double", .signature = Free(kBool, kInt, kDouble), .since = 28},
    {.id = "less_equals_int64_uint64", .signature = Free(kBool, kInt, kUint), .since = 28},
    {.id = "less_equals_uint64", .signature = Free(kBool, kUint, kUint)},
    {.id = "less_equals_uint64_double", .signature = Free(kBool, kUint, kDouble), .since = 28},
    {.id = "less_equals_uint64_int64", .signature = Free(kBool, kUint, kInt), .since = 28},
    {.id = "less_equals_double", .signature = Free(kBool, kDouble, kDouble)},
    {.id = "less_equals_double_int64", .signature = Free(kBool, kDouble, kInt), .since = 28},
    {.id = "less_equals_double_uint64", .signature = Free(kBool, kDouble, kUint), .since = 28},
    {.id = "less_equals_string",
     .signature = Free(kBool, kString, kString),
     .run_cost = CostOfSmaller,
     .estimate = EstimateSmaller},
    {.id = "less_equals_bytes",
     .signature = Free(kBool, kBytes, kBytes),
     .run_cost = CostOfSmaller,
     .estimate = EstimateSmaller},
    {.id = "less_equals_timestamp", .signature = Free(kBool, kTimestamp, kTimestamp)},
    {.id = "less_equals_duration", .signature = Free(kBool, kDuration, kDuration)},
};
constexpr Overload kGreater[] = {
    {.id = "greater_bool", .signature = Free(kBool, kBool, kBool)},
    {.id = "greater_int64", .signature = Free(kBool, kInt, kInt)},
    {.id = "greater_int64_double", .signature = Free(kBool, kInt, kDouble), .since = 28},
    {.id = "greater_int64_uint64", .signature = Free(kBool, kInt, kUint), .since = 28},
    {.id = "greater_uint64", .signature = Free(kBool, kUint, kUint)},
    {.id = "greater_uint64_double", .signature = Free(kBool, kUint, kDouble), .since = 28},
    {.id = "greater_uint64_int64", .signature = Free(kBool, kUint, kInt), .since = 28},
    {.id = "greater_double", .signature = Free(kBool, kDouble, kDouble)},
    {.id = "greater_double_int64", .signature = Free(kBool, kDouble, kInt), .since = 28},
    {.id = "greater_double_uint64", .signature = Free(kBool, kDouble, kUint), .since = 28},
    {.id = "greater_string",
     .signature = Free(kBool, kString, kString),
     .run_cost = CostOfSmaller,
     .estimate = EstimateSmaller},
    {.id = "greater_bytes",
     .signature = Free(kBool, kBytes, kBytes),
     .run_cost = CostOfSmaller,
     .estimate = EstimateSmaller},
    {.id = "greater_timestamp", .signature = Free(kBool, kTimestamp, kTimestamp)},
    {.id = "greater_duration", .signature = Free(kBool, kDuration, kDuration)},
};
constexpr Overload kGreaterEquals[] = {
    {.id = "greater_equals_bool", .signature = Free(kBool, kBool, kBool)},
    {.id = "greater_equals_int64", .signature = Free(kBool, kInt, kInt)},
    {.id = "greater_equals_int64_double", .signature = Free(kBool, kInt, kDouble), .since = 28},
    {.id = "greater_equals_int64_uint64", .signature = Free(kBool, kInt, kUint), .since = 28},
    {.id = "greater_equals_uint64", .signature = Free(kBool, kUint, kUint)},
    {.id = "greater_equals_uint64_double", .signature = Free(kBool, kUint, kDouble), .since = 28},
    {.id = "greater_equals_uint64_int64", .signature = Free(kBool, kUint, kInt), .since = 28},
    {.id = "greater_equals_double", .signature = Free(kBool, kDouble, kDouble)},
    {.id = "greater_equals_double_int64", .signature = Free(kBool, kDouble, kInt), .since = 28},
    {.id = "greater_equals_double_uint64", .signature = Free(kBool, kDouble, kUint), .since = 28},
    {.id = "greater_equals_string",
     .signature = Free(kBool, kString, kString),
     .run_cost = CostOfSmaller,
     .estimate = EstimateSmaller},
    {.id = "greater_equals_bytes",
     .signature = Free(kBool, kBytes, kBytes),
     .run_cost = CostOfSmaller,
     .estimate = EstimateSmaller},
    {.id = "greater_equals_timestamp", .signature = Free(kBool, kTimestamp, kTimestamp)},
    {.id = "greater_equals_duration", .signature = Free(kBool, kDuration, kDuration)},
};

constexpr Overload kIndex[] = {
    {.id = "index_list", .signature = Free(kA, kListOfA, kInt)},
    {.id = "index_map", .signature = Free(kB, kMapOfAToB, kA)},
    {.id = "optional_list_index_int",
     .signature = Free(kOptionalOf<kA>, kOptionalOf<kListOfA>, kInt),
     .since = 28},
    {.id = "optional_map_index_value",
     .signature = Free(kOptionalOf<kB>, kOptionalOf<kMapOfAToB>, kA),
     .since = 28},
};
constexpr Overload kIn[] = {
    {.id = "in_list",
     .signature = Free(kBool, kA, kListOfA),
     .run_cost = CostOfList,
     .estimate = EstimateList},
    {.id = "in_map", .signature = Free(kBool, kA, kMapOfAToB)},
};
constexpr Overload kOptionalSelect[] = {
    {.id = "select_optional_field", .signature = Free(kOptionalOf<kA>, kDyn, kString)},
};
constexpr Overload kOptionalIndex[] = {
    {.id = "list_optindex_optional_int", .signature = Free(kOptionalOf<kA>, kListOfA, kInt)},
    {.id = "optional_list_optindex_optional_int",
     .signature = Free(kOptionalOf<kA>, kOptionalOf<kListOfA>, kInt)},
    {.id = "map_optindex_optional_value", .signature = Free(kOptionalOf<kB>, kMapOfAToB, kA)},
    {.id = "optional_map_optindex_optional_value",
     .signature = Free(kOptionalOf<kB>, kOptionalOf<kMapOfAToB>, kA)},
};

// Steps of transformMap and transformMapEntry of ext.TwoVarComprehensions.
constexpr Overload kMapInsert[] = {
    {.id = "@mapInsert_map_key_value", .signature = Free(kMapOfAToB, kMapOfAToB, kA, kB)},
    {.id = "@mapInsert_map_map", .signature = Free(kMapOfAToB, kMapOfAToB, kMapOfAToB)},
};

constexpr Function kFunctions[] = {
    {.name = "_?_:_", .overloads = kConditional},
    {.name = "_&&_", .overloads = kLogicalAnd},
    {.name = "_||_", .overloads = kLogicalOr},
    {.name = "!_", .overloads = kLogicalNot, .handler = HandleNot},
    {.name = "@not_strictly_false",
     .overloads = kNotStrictlyFalse,
     .handler = HandleNotStrictlyFalse,
     .non_strict = true},
    {.name = "_==_", .overloads = kEquals},
    {.name = "_!=_", .overloads = kNotEquals},
    {.name = "_+_", .overloads = kAdd, .handler = HandleAdd},
    {.name = "_/_", .overloads = kDivide, .handler = Binary<Divide>},
    {.name = "_%_", .overloads = kModulo, .handler = Binary<Modulo>},
    {.name = "_*_", .overloads = kMultiply, .handler = Binary<Multiply>},
    {.name = "-_", .overloads = kNegate, .handler = HandleNegate},
    {.name = "_-_", .overloads = kSubtract, .handler = Binary<Subtract>},
    {.name = "_<_", .overloads = kLess, .handler = Relation<IsLess>},
    {.name = "_<=_", .overloads = kLessEquals, .handler = Relation<IsLessOrEqual>},
    {.name = "_>_", .overloads = kGreater, .handler = Relation<IsGreater>},
    {.name = "_>=_", .overloads = kGreaterEquals, .handler = Relation<IsGreaterOrEqual>},
    {.name = "_[_]", .overloads = kIndex},
    {.name = "@in", .overloads = kIn, .handler = HandleIn},
    {.name = "_?._", .overloads = kOptionalSelect, .since = 28},
    {.name = "_[?_]", .overloads = kOptionalIndex, .since = 28},
    {.name = "cel.@mapInsert", .overloads = kMapInsert, .since = 32},
};

}  // namespace
}  // namespace operators_rows

std::span<const Function> Operators() { return operators_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
