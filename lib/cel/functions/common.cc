#include "cel/functions/common.h"

#include <vector>

#include "cel/run/map.h"
#include "cel/run/size.h"

namespace apiserver::v0::cel::functions {
namespace {

// A list or map of which the parts before `next` were counted.
struct Counted {
  Value value;
  std::uint32_t next = 0;
};

// Parts that one call counts. Values that share parts may have exponentially many: the cost is then
// over every limit.
constexpr std::uint64_t kCountedPartsMax = std::uint64_t{1} << 24U;

// Counts a value without parts. Go counts bytes here, rounded down, not code points.
std::uint64_t ShallowTraversal(const Value& value) {
  if (!value.is_string() && !value.Is(Value::Kind::kBytes)) return 1;
  return static_cast<std::uint64_t>(static_cast<double>(value.size()) * kStringTraversal);
}

// Counts a value, or keeps it for later if it has parts.
std::uint64_t CountOrPush(const Value& value, std::vector<Counted>& open) {
  if (!value.is_list() && !value.is_map()) return ShallowTraversal(value);
  open.push_back({value});
  return 0;
}

// Makes a list of texts that are copied first.
template <class Text>
Value MakeList(CallContext& call, std::span<const Text> texts) {
  std::uint64_t bytes = 0;
  for (const Text& text : texts) bytes += sizeof(Value) + text.size();
  if (!call.CanBuild(bytes)) return call.OverLimit();
  const std::span<Value> items = call.arena().New<Value>(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    items[i] = Value::String(call.arena().Copy(texts[i]));
  }
  return Value::List(items);
}

}  // namespace

std::string NotTakenOut(std::string_view go_type, std::string_view text) {
  std::string error = "unsupported conversion to ref.Val: (";
  return error.append(go_type).append(")").append(text);
}

Value MakeString(CallContext& call, std::string_view text) {
  if (!call.CanBuild(text.size())) return call.OverLimit();
  return Value::String(call.arena().Copy(text));
}

Value MakeStrings(CallContext& call, std::span<const std::string_view> texts) {
  return MakeList(call, texts);
}

Value MakeStrings(CallContext& call, std::span<const std::string> texts) {
  return MakeList(call, texts);
}

std::optional<std::uint64_t> CostOne(const CostCall&) { return 1; }

std::optional<std::uint64_t> CostTraversal(const CostCall& call) {
  if (call.arguments.empty()) return std::nullopt;
  return TraversalCost(call.arguments[0]);
}

std::optional<std::uint64_t> CostTwoTraversals(const CostCall& call) {
  if (call.arguments.empty()) return std::nullopt;
  return TraversalCost(call.arguments[0], 2 * kStringTraversal);
}

std::optional<std::uint64_t> CostRegex(const CostCall& call) {
  if (call.arguments.size() < 2) return std::nullopt;
  const std::uint64_t text = CostSize(call.arguments[0]) + 1;
  return MultiplyByFactor(text, kStringTraversal) * TraversalCost(call.arguments[1], kRegexLength);
}

std::optional<std::uint64_t> CostDeepTraversal(const CostCall& call) {
  if (call.arguments.empty()) return 0;
  Arena arena;
  std::vector<Counted> open;
  std::uint64_t cost = CountOrPush(call.arguments[0], open);
  for (std::uint64_t parts = 0; !open.empty(); ++parts) {
    if (parts > kCountedPartsMax) return kUnbounded;
    Counted& last = open.back();
    if (last.next == last.value.size()) {
      open.pop_back();
      continue;
    }
    const Value whole = last.value;
    const std::uint32_t index = last.next++;
    if (whole.is_list()) {
      cost += CountOrPush(whole.Item(index, arena), open);
    } else if (const std::optional<Value> key = MapKeyAt(whole, index, arena)) {
      cost += ShallowTraversal(*key) + CountOrPush(MapValueAt(whole, index, arena), open);
    }
  }
  return cost;
}

std::optional<CallEstimate> EstimateOne(const EstimateCall&) {
  return CallEstimate{.cost = {1, 1}};
}

std::optional<CallEstimate> EstimateTraversal(const EstimateCall& call) {
  return CallEstimate{.cost = CostOf(call.Size(0), kStringTraversal)};
}

std::optional<CallEstimate> EstimateTraversalAndCopy(const EstimateCall& call) {
  const SizeRange size = call.Size(0);
  return CallEstimate{.cost = CostOf(size, kStringTraversal), .result_size = size};
}

std::optional<CallEstimate> EstimateTwoTraversals(const EstimateCall& call) {
  return CallEstimate{.cost = CostOf(call.Size(0), 2 * kStringTraversal)};
}

CostRange EstimateRegex(SizeRange text, SizeRange pattern) {
  return CostOf(text + SizeRange{1, 1}, kStringTraversal) * CostOf(pattern, kRegexLength);
}

std::optional<CallEstimate> EstimateElements(const EstimateCall& call) {
  const std::optional<Type> element = call.ElementType(0);
  if (!element.has_value()) return EstimateTraversal(call);
  CostRange each = {1, 1};
  if (element->kind() == TypeKind::kString || element->kind() == TypeKind::kBytes) {
    each = each + CostOf(call.ElementSize(0).value_or(SizeRange{}), kStringTraversal);
  }
  return CallEstimate{.cost = CostOf(call.Size(0), each)};
}

}  // namespace apiserver::v0::cel::functions
