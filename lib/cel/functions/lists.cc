#include "cel/functions/common.h"
#include "cel/functions/libraries.h"
#include "cel/run/arithmetic.h"
#include "cel/run/equality.h"
#include "cel/run/order.h"
#include "cel/types/spell.h"

// k8s.io/apiserver/pkg/cel/library/lists.go.
namespace apiserver::v0::cel::functions {
namespace lists_rows {
namespace {

using types::kA;
using types::kBool;
using types::kBytes;
using types::kDouble;
using types::kDuration;
using types::kInt;
using types::kListOf;
using types::kString;
using types::kTimestamp;
using types::kUint;

// Compares two items: −1, 0, 1, or 2 where they have no order (NaN, different kinds).
int OrderOf(const Value& a, const Value& b) {
  constexpr int kUnordered = 2;
  const Value order = Compare(a, b);
  return order.is_error() ? kUnordered : static_cast<int>(order.AsInt());
}

Value Unordered(const Value& item) {
  return item.is_error() ? item : CallContext::NoSuchOverload({});
}

Value IsSorted(CallContext& call, std::span<const Value> arguments) {
  const Value& list = arguments[0];
  Value previous;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const Value item = list.Item(i, call.arena());
    if (!IsOrdered(item.kind())) return Unordered(item);
    if (i > 0 && OrderOf(previous, item) == 1) return Value::Bool(false);
    previous = item;
  }
  return Value::Bool(true);
}

// Returns the item that no other precedes: for `sign` 1 the smallest, for −1 the largest.
template <int sign>
Value Extreme(CallContext& call, std::span<const Value> arguments) {
  const Value& list = arguments[0];
  if (list.size() == 0) return call.Error(std::string(call.function()) + " called on empty list");
  Value extreme;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const Value item = list.Item(i, call.arena());
    if (!IsOrdered(item.kind())) return Unordered(item);
    if (i == 0 || OrderOf(extreme, item) == sign) extreme = item;
  }
  return extreme;
}

Value SumFrom(CallContext& call, const Value& zero, const Value& list) {
  Value sum = zero;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const Value item = list.Item(i, call.arena());
    if (item.is_error()) return item;
    const std::optional<Value> next = Add(sum, item, call.arena());
    if (!next.has_value()) return CallContext::NoSuchOverload({});
    if (next->is_error()) return *next;
    sum = *next;
  }
  return sum;
}

Value SumInts(CallContext& call, std::span<const Value> arguments) {
  return SumFrom(call, Value::Int(0), arguments[0]);
}
Value SumUints(CallContext& call, std::span<const Value> arguments) {
  return SumFrom(call, Value::Uint(0), arguments[0]);
}
Value SumDoubles(CallContext& call, std::span<const Value> arguments) {
  return SumFrom(call, Value::Double(0), arguments[0]);
}
Value SumDurations(CallContext& call, std::span<const Value> arguments) {
  return SumFrom(call, Value::Duration(0), arguments[0]);
}

bool ItemEquals(CallContext& call, const Value& list, std::uint32_t index, const Value& item) {
  const Value equal = Equal(list.Item(index, call.arena()), item, call.arena());
  return equal.is_bool() && equal.AsBool();
}

Value IndexOf(CallContext& call, std::span<const Value> arguments) {
  for (std::uint32_t i = 0; i < arguments[0].size(); ++i) {
    if (ItemEquals(call, arguments[0], i, arguments[1])) return Value::Int(i);
  }
  return Value::Int(-1);
}

Value LastIndexOf(CallContext& call, std::span<const Value> arguments) {
  for (std::uint32_t i = arguments[0].size(); i-- > 0;) {
    if (ItemEquals(call, arguments[0], i, arguments[1])) return Value::Int(i);
  }
  return Value::Int(-1);
}

constexpr Overload kIsSorted[] = {
    {.id = "list_int_is_sorted_bool",
     .signature = Member(kBool, kListOf<kInt>),
     .handler = IsSorted},
    {.id = "list_uint_is_sorted_bool",
     .signature = Member(kBool, kListOf<kUint>),
     .handler = IsSorted},
    {.id = "list_double_is_sorted_bool",
     .signature = Member(kBool, kListOf<kDouble>),
     .handler = IsSorted},
    {.id = "list_bool_is_sorted_bool",
     .signature = Member(kBool, kListOf<kBool>),
     .handler = IsSorted},
    {.id = "list_duration_is_sorted_bool",
     .signature = Member(kBool, kListOf<kDuration>),
     .handler = IsSorted},
    {.id = "list_timestamp_is_sorted_bool",
     .signature = Member(kBool, kListOf<kTimestamp>),
     .handler = IsSorted},
    {.id = "list_string_is_sorted_bool",
     .signature = Member(kBool, kListOf<kString>),
     .handler = IsSorted},
    {.id = "list_bytes_is_sorted_bool",
     .signature = Member(kBool, kListOf<kBytes>),
     .handler = IsSorted},
};
constexpr Overload kMax[] = {
    {.id = "list_int_max_int", .signature = Member(kInt, kListOf<kInt>), .handler = Extreme<-1>},
    {.id = "list_uint_max_uint",
     .signature = Member(kUint, kListOf<kUint>),
     .handler = Extreme<-1>},
    {.id = "list_double_max_double",
     .signature = Member(kDouble, kListOf<kDouble>),
     .handler = Extreme<-1>},
    {.id = "list_bool_max_bool",
     .signature = Member(kBool, kListOf<kBool>),
     .handler = Extreme<-1>},
    {.id = "list_duration_max_duration",
     .signature = Member(kDuration, kListOf<kDuration>),
     .handler = Extreme<-1>},
    {.id = "list_timestamp_max_timestamp",
     .signature = Member(kTimestamp, kListOf<kTimestamp>),
     .handler = Extreme<-1>},
    {.id = "list_string_max_string",
     .signature = Member(kString, kListOf<kString>),
     .handler = Extreme<-1>},
    {.id = "list_bytes_max_bytes",
     .signature = Member(kBytes, kListOf<kBytes>),
     .handler = Extreme<-1>},
};
constexpr Overload kMin[] = {
    {.id = "list_int_min_int", .signature = Member(kInt, kListOf<kInt>), .handler = Extreme<1>},
    {.id = "list_uint_min_uint", .signature = Member(kUint, kListOf<kUint>), .handler = Extreme<1>},
    {.id = "list_double_min_double",
     .signature = Member(kDouble, kListOf<kDouble>),
     .handler = Extreme<1>},
    {.id = "list_bool_min_bool", .signature = Member(kBool, kListOf<kBool>), .handler = Extreme<1>},
    {.id = "list_duration_min_duration",
     .signature = Member(kDuration, kListOf<kDuration>),
     .handler = Extreme<1>},
    {.id = "list_timestamp_min_timestamp",
     .signature = Member(kTimestamp, kListOf<kTimestamp>),
     .handler = Extreme<1>},
    {.id = "list_string_min_string",
     .signature = Member(kString, kListOf<kString>),
     .handler = Extreme<1>},
    {.id = "list_bytes_min_bytes",
     .signature = Member(kBytes, kListOf<kBytes>),
     .handler = Extreme<1>},
};
constexpr Overload kSum[] = {
    {.id = "list_int_sum_int", .signature = Member(kInt, kListOf<kInt>), .handler = SumInts},
    {.id = "list_uint_sum_uint", .signature = Member(kUint, kListOf<kUint>), .handler = SumUints},
    {.id = "list_double_sum_double",
     .signature = Member(kDouble, kListOf<kDouble>),
     .handler = SumDoubles},
    {.id = "list_duration_sum_duration",
     .signature = Member(kDuration, kListOf<kDuration>),
     .handler = SumDurations},
};
constexpr Overload kIndexOf[] = {
    {.id = "list_a_index_of_int", .signature = Member(kInt, kListOf<kA>, kA), .handler = IndexOf},
};
constexpr Overload kLastIndexOf[] = {
    {.id = "list_a_last_index_of_int",
     .signature = Member(kInt, kListOf<kA>, kA),
     .handler = LastIndexOf},
};

constexpr Function Row(std::string_view name, std::span<const Overload> overloads) {
  return {.name = name,
          .overloads = overloads,
          .run_cost = CostDeepTraversal,
          .estimate = EstimateElements};
}

constexpr Function kFunctions[] = {
    Row("isSorted", kIsSorted), Row("max", kMax),         Row("min", kMin),
    Row("sum", kSum),           Row("indexOf", kIndexOf), Row("lastIndexOf", kLastIndexOf),
};

}  // namespace
}  // namespace lists_rows

std::span<const Function> Lists() { return lists_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
