#include <algorithm>
#include <vector>

#include "cel/functions/libraries.h"
#include "cel/run/equality.h"
#include "cel/run/order.h"
#include "cel/run/print.h"
#include "cel/run/size.h"
#include "cel/types/spell.h"

// ext/lists.go of cel-go, version 3.
namespace apiserver::v0::cel::functions {
namespace list_extensions_rows {
namespace {

using types::kBool;
using types::kBytes;
using types::kDouble;
using types::kDuration;
using types::kDyn;
using types::kInt;
using types::kListOf;
using types::kString;
using types::kT;
using types::kTimestamp;
using types::kUint;

constexpr const TypeNode& kListOfT = kListOf<kT>;
constexpr std::uint8_t kSince = 34;

// The cost of every call: the call, and the list that it makes.
constexpr std::uint64_t kBaseCost = 1 + kListCost;

// Makes a list of `count` items in the arena. Empty: it would be too large.
std::optional<std::span<Value>> NewItems(CallContext& call, std::uint64_t count) {
  if (count > kUnbounded / sizeof(Value) || !call.CanBuild(count * sizeof(Value))) {
    return std::nullopt;
  }
  return call.arena().New<Value>(count);
}

Value Slice(CallContext& call, std::span<const Value> arguments) {
  const Value& list = arguments[0];
  const std::int64_t start = arguments[1].AsInt();
  const std::int64_t end = arguments[2].AsInt();
  const auto wrong = [&call, start, end](const std::string& why) {
    return call.Error("cannot slice(" + std::to_string(start) + ", " + std::to_string(end) + "), " +
                      why);
  };
  if (start < 0 || end < 0) return wrong("negative indexes not supported");
  if (start > end) return wrong("start index must be less than or equal to end index");
  if (end > std::int64_t{list.size()}) {
    return wrong("list is length " + std::to_string(list.size()));
  }
  const auto first = static_cast<std::size_t>(start);
  const auto items = NewItems(call, static_cast<std::uint64_t>(end - start));
  if (!items.has_value()) return call.OverLimit();
  for (std::size_t i = 0; i < items->size(); ++i) {
    (*items)[i] = list.Item(first + i, call.arena());
  }
  return Value::List(*items);
}

// A list whose items before `next` were visited.
struct OpenList {
  Value list;
  std::uint32_t next = 0;
};

// Opens nested lists down to `depth`. nullopt: the result would be too large.
std::optional<std::vector<Value>> FlatItems(CallContext& call, const Value& list,
                                            std::uint64_t depth) {
  std::vector<Value> flat;
  std::vector<OpenList> open = {{list}};
  while (!open.empty()) {
    OpenList& last = open.back();
    if (last.next == last.list.size()) {
      open.pop_back();
      continue;
    }
    const Value item = last.list.Item(last.next++, call.arena());
    if (item.is_list() && open.size() <= depth) {
      open.push_back({item});
      continue;
    }
    if (!call.CanBuild((flat.size() + 1) * sizeof(Value))) return std::nullopt;
    flat.push_back(item);
  }
  return flat;
}

// Takes any values: Go leaves this check to the handler.
Value Flatten(CallContext& call, std::span<const Value> arguments) {
  const bool has_depth = arguments.size() > 1;
  if (!arguments[0].is_list() || (has_depth && !arguments[1].Is(Value::Kind::kInt))) {
    std::string error = "no such overload: " + PrintTypeOf(arguments[0]) + ".flatten(";
    if (has_depth) error += PrintTypeOf(arguments[1]);
    return call.Error(error + ")");
  }
  const std::int64_t depth = has_depth ? arguments[1].AsInt() : 1;
  if (depth < 0) return Value::Error("level must be non-negative");
  const std::optional<std::vector<Value>> flat =
      FlatItems(call, arguments[0], static_cast<std::uint64_t>(depth));
  if (!flat.has_value()) return call.OverLimit();
  return Value::List(call.arena().Copy<Value>(*flat));
}

Value SortBy(CallContext& call, const Value& list, const Value& keys) {
  if (list.size() != keys.size()) {
    return call.Error(
        "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but "
        "got " +
        std::to_string(list.size()) + " and " + std::to_string(keys.size()) +
        " elements respectively");
  }
  if (list.size() == 0) return list;
  struct Keyed {
    Value key;
    std::uint32_t index;
  };
  std::vector<Keyed> keyed;
  keyed.reserve(keys.size());
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    keyed.push_back({keys.Item(i, call.arena()), i});
  }
  const Value::Kind kind = keyed[0].key.kind();
  if (!IsOrdered(kind)) return Value::Error("list elements must be comparable");
  const bool alike =
      std::ranges::all_of(keyed, [kind](const Keyed& item) { return item.key.Is(kind); });
  if (!alike) return Value::Error("list elements must have the same type");
  // NaN has no order, which a stable sort bears.
  std::ranges::stable_sort(keyed, [](const Keyed& a, const Keyed& b) {
    const Value order = Compare(a.key, b.key);
    return !order.is_error() && order.AsInt() < 0;
  });
  const auto sorted = NewItems(call, keyed.size());
  if (!sorted.has_value()) return call.OverLimit();
  for (std::size_t i = 0; i < keyed.size(); ++i) {
    (*sorted)[i] = list.Item(keyed[i].index, call.arena());
  }
  return Value::List(*sorted);
}

Value Sort(CallContext& call, std::span<const Value> arguments) {
  if (!arguments[0].is_list()) return call.NoSuchOverloadByName(arguments[0]);
  return SortBy(call, arguments[0], arguments[0]);
}

Value SortByKeys(CallContext& call, std::span<const Value> arguments) {
  if (!arguments[0].is_list() || !arguments[1].is_list())
    return call.NoSuchOverloadByName(arguments[0]);
  return SortBy(call, arguments[0], arguments[1]);
}

Value Range(CallContext& call, std::span<const Value> arguments) {
  const std::int64_t count = std::max<std::int64_t>(arguments[0].AsInt(), 0);
  const auto items = NewItems(call, static_cast<std::uint64_t>(count));
  if (!items.has_value()) return call.OverLimit();
  for (std::size_t i = 0; i < items->size(); ++i) {
    (*items)[i] = Value::Int(static_cast<std::int64_t>(i));
  }
  return Value::List(*items);
}

Value Reverse(CallContext& call, std::span<const Value> arguments) {
  const Value& list = arguments[0];
  const auto items = NewItems(call, list.size());
  if (!items.has_value()) return call.OverLimit();
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    (*items)[list.size() - 1 - i] = list.Item(i, call.arena());
  }
  return Value::List(*items);
}

Value Distinct(CallContext& call, std::span<const Value> arguments) {
  const Value& list = arguments[0];
  if (list.size() == 0) return list;
  const auto items = NewItems(call, list.size());
  if (!items.has_value()) return call.OverLimit();
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const Value item = list.Item(i, call.arena());
    const bool seen = std::ranges::any_of(items->first(count), [&call, &item](const Value& other) {
      const Value equal = Equal(item, other, call.arena());
      return equal.is_bool() && equal.AsBool();
    });
    if (!seen) (*items)[count++] = item;
  }
  return Value::List(items->first(count));
}

// Costs. A result that is an error has size 1 in Go.
std::optional<std::uint64_t> CostOfSlice(const CostCall& call) {
  const Value& list = call.arguments[0];
  const Value& start = call.arguments[1];
  const Value& end = call.arguments[2];
  const bool fits = list.is_list() && start.Is(Value::Kind::kInt) && end.Is(Value::Kind::kInt) &&
                    start.AsInt() >= 0 && start.AsInt() <= end.AsInt() &&
                    end.AsInt() <= std::int64_t{list.size()};
  return kBaseCost + (fits ? static_cast<std::uint64_t>(end.AsInt() - start.AsInt()) : 1);
}

std::optional<std::uint64_t> CostOfRange(const CostCall& call) {
  const Value& count = call.arguments[0];
  if (!count.Is(Value::Kind::kInt)) return kBaseCost + 1;
  return SaturatingAdd(kBaseCost,
                       static_cast<std::uint64_t>(std::max<std::int64_t>(count.AsInt(), 0)));
}

std::optional<std::uint64_t> CostOfReverse(const CostCall& call) {
  // The size of the result, which is an error for a text.
  const Value& list = call.arguments[0];
  return kBaseCost + (list.is_list() ? CostSize(list) : 1);
}

std::optional<std::uint64_t> CostOfFlatten(const CostCall& call) {
  std::int64_t depth = 1;
  if (call.arguments.size() > 1) {
    const Value& given = call.arguments[1];
    depth = given.Is(Value::Kind::kInt) ? given.AsInt() : 0;
  }
  const std::uint64_t size = CostSize(call.arguments[0]);
  if (depth >= 0) {
    return SaturatingAdd(kBaseCost, SaturatingMultiply(size, static_cast<std::uint64_t>(depth)));
  }
  // A negative depth, which is an error, makes the cost less in Go, and below zero 2^64.
  const std::uint64_t less =
      SaturatingMultiply(size, std::uint64_t{0} - static_cast<std::uint64_t>(depth));
  return less <= kBaseCost ? kBaseCost - less : kUnbounded;
}

// 2 × n², and for texts 2.1 × n².
std::uint64_t CostOfComparing(const Value& list) {
  constexpr double kEach = 2;
  if (!list.is_list() || list.size() == 0) return kBaseCost;
  Arena arena;
  const Value first = list.Item(0, arena);
  const bool texts = first.is_string() || first.Is(Value::Kind::kBytes);
  const auto size = static_cast<double>(list.size());
  const double factor = kEach + (texts ? kStringTraversal : 0);
  return kBaseCost + static_cast<std::uint64_t>(size * size * factor);
}

std::optional<std::uint64_t> CostOfSort(const CostCall& call) {
  return CostOfComparing(call.arguments[0]);
}
std::optional<std::uint64_t> CostOfSortBy(const CostCall& call) {
  return CostOfComparing(call.arguments[1]);
}

CallEstimate EstimateList(double factor, SizeRange size) {
  return {.cost = CostOf(size, factor) + CostRange{kBaseCost, kBaseCost}, .result_size = size};
}

// Returns the value of an int literal, 0 for a negative one, and `otherwise` for all else.
std::uint64_t LiteralOr(const EstimateCall& call, std::size_t argument, std::uint64_t otherwise) {
  const std::optional<std::int64_t> literal = call.IntLiteral(argument);
  if (!literal.has_value()) return otherwise;
  return *literal < 0 ? 0 : static_cast<std::uint64_t>(*literal);
}

std::optional<CallEstimate> EstimateSlice(const EstimateCall& call) {
  // Wraps around for an end before the start, as in Go.
  const std::uint64_t size = LiteralOr(call, 2, call.Size(0).max) - LiteralOr(call, 1, 0);
  return EstimateList(1, {size, size});
}
std::optional<CallEstimate> EstimateRange(const EstimateCall& call) {
  const std::uint64_t size = LiteralOr(call, 0, kUnbounded);
  return EstimateList(1, {size, size});
}
std::optional<CallEstimate> EstimateReverse(const EstimateCall& call) {
  return EstimateList(1, call.Size(0));
}
std::optional<CallEstimate> EstimateFlatten(const EstimateCall& call) {
  const std::uint64_t depth = call.argument_count() > 1 ? LiteralOr(call, 1, kUnbounded) : 1;
  return EstimateList(static_cast<double>(depth), call.Size(0));
}
std::optional<CallEstimate> EstimateDistinct(const EstimateCall& call) {
  return EstimateList(2, call.Size(0) * call.Size(0));
}
// Sorts by the keys in an argument; `texts`: they are strings or bytes.
template <std::size_t keys, bool texts>
std::optional<CallEstimate> EstimateSort(const EstimateCall& call) {
  const SizeRange size = call.Size(keys);
  return EstimateList(texts ? 2 + kStringTraversal : 2, size * size);
}

constexpr Overload kSlice[] = {
    {.id = "list_slice",
     .signature = Member(kListOfT, kListOfT, kInt, kInt),
     .handler = Slice,
     .run_cost = CostOfSlice,
     .estimate = EstimateSlice},
};
constexpr Overload kFlatten[] = {
    {.id = "list_flatten",
     .signature = Member(kListOfT, kListOf<kListOfT>),
     .run_cost = CostOfFlatten,
     .estimate = EstimateFlatten},
    {.id = "list_flatten_int",
     .signature = Member(kListOf<kDyn>, kListOf<kDyn>, kInt),
     .run_cost = CostOfFlatten,
     .estimate = EstimateFlatten},
};
constexpr Overload kRange[] = {
    {.id = "lists_range",
     .signature = Free(kListOf<kInt>, kInt),
     .handler = Range,
     .run_cost = CostOfRange,
     .estimate = EstimateRange},
};
constexpr Overload kReverse[] = {
    {.id = "list_reverse",
     .signature = Member(kListOfT, kListOfT),
     .handler = Reverse,
     .run_cost = CostOfReverse,
     .estimate = EstimateReverse},
};
constexpr Overload kDistinct[] = {
    {.id = "list_distinct",
     .signature = Member(kListOfT, kListOfT),
     .handler = Distinct,
     .run_cost = CostOfSort,
     .estimate = EstimateDistinct},
};

template <const TypeNode& item>
constexpr Overload SortOf(std::string_view id) {
  constexpr bool kTexts = item.kind == TypeKind::kString || item.kind == TypeKind::kBytes;
  return {.id = id,
          .signature = Member(kListOf<item>, kListOf<item>),
          .run_cost = CostOfSort,
          .estimate = EstimateSort<0, kTexts>};
}
template <const TypeNode& key>
constexpr Overload SortByOf(std::string_view id) {
  constexpr bool kTexts = key.kind == TypeKind::kString || key.kind == TypeKind::kBytes;
  return {.id = id,
          .signature = Member(kListOfT, kListOfT, kListOf<key>),
          .run_cost = CostOfSortBy,
          .estimate = EstimateSort<1, kTexts>};
}
constexpr Overload kSort[] = {
    SortOf<kInt>("list_int_sort"),
    SortOf<kUint>("list_uint_sort"),
    SortOf<kDouble>("list_double_sort"),
    SortOf<kBool>("list_bool_sort"),
    SortOf<kDuration>("list_google.protobuf.Duration_sort"),
    SortOf<kTimestamp>("list_google.protobuf.Timestamp_sort"),
    SortOf<kString>("list_string_sort"),
    SortOf<kBytes>("list_bytes_sort"),
};
// The macro sortBy calls it with the list and the keys of its items.
constexpr Overload kSortBy[] = {
    SortByOf<kInt>("list_int_sortByAssociatedKeys"),
    SortByOf<kUint>("list_uint_sortByAssociatedKeys"),
    SortByOf<kDouble>("list_double_sortByAssociatedKeys"),
    SortByOf<kBool>("list_bool_sortByAssociatedKeys"),
    SortByOf<kDuration>("list_google.protobuf.Duration_sortByAssociatedKeys"),
    SortByOf<kTimestamp>("list_google.protobuf.Timestamp_sortByAssociatedKeys"),
    SortByOf<kString>("list_string_sortByAssociatedKeys"),
    SortByOf<kBytes>("list_bytes_sortByAssociatedKeys"),
};

constexpr Function kFunctions[] = {
    {.name = "slice", .overloads = kSlice, .since = kSince},
    {.name = "flatten", .overloads = kFlatten, .handler = Flatten, .since = kSince},
    {.name = "sort", .overloads = kSort, .handler = Sort, .since = kSince},
    {.name = "@sortByAssociatedKeys", .overloads = kSortBy, .handler = SortByKeys, .since = kSince},
    {.name = "lists.range", .overloads = kRange, .since = kSince},
    {.name = "reverse", .overloads = kReverse, .since = kSince},
    {.name = "distinct", .overloads = kDistinct, .since = kSince},
};

}  // namespace
}  // namespace list_extensions_rows

std::span<const Function> ListExtensions() { return list_extensions_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
