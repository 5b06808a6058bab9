#include <algorithm>
#include <cmath>

#include "cel/functions/common.h"
#include "cel/functions/find_text.h"
#include "cel/functions/format_text.h"
#include "cel/functions/libraries.h"
#include "cel/run/lossless.h"
#include "cel/run/print.h"
#include "cel/run/size.h"
#include "cel/types/spell.h"
#include "text/trim.h"

// ext/strings.go of cel-go, version 2; version 0 up to Kubernetes 1.28 has fewer functions.
namespace apiserver::v0::cel::functions {
namespace strings_rows {
namespace {

using types::kInt;
using types::kListOf;
using types::kString;

constexpr const TypeNode& kStrings = kListOf<kString>;
// The minor version of Kubernetes that brought version 2.
constexpr std::uint8_t kVersion2 = 29;

Value IndexOutOfRange(CallContext& call, std::int64_t index) {
  return call.Error("index out of range: " + std::to_string(index));
}

// Returns the position of code point `index` in bytes; nullopt: there is no such index.
std::optional<std::size_t> ByteOfIndex(std::string_view text, std::int64_t index) {
  return index < 0 ? std::nullopt : ByteOf(text, static_cast<std::size_t>(index));
}

Value CodePointsBefore(std::string_view text, std::size_t at) {
  if (at == std::string_view::npos) return Value::Int(-1);
  return Value::Int(static_cast<std::int64_t>(CodePoints(text.substr(0, at))));
}

Value CharAt(CallContext& call, std::span<const Value> arguments) {
  const std::string_view text = arguments[0].AsText();
  const std::optional<std::size_t> at = ByteOfIndex(text, arguments[1].AsInt());
  if (!at.has_value()) return IndexOutOfRange(call, arguments[1].AsInt());
  const std::string_view rest = text.substr(*at);
  return Value::String(rest.substr(0, ByteOf(rest, 1).value_or(0)));
}

// An offset beyond the end finds nothing, but an empty needle is found at every offset.
Value IndexOf(CallContext& call, std::span<const Value> arguments) {
  const std::string_view text = arguments[0].AsText();
  const std::string_view needle = arguments[1].AsText();
  const std::int64_t offset = arguments.size() > 2 ? arguments[2].AsInt() : 0;
  if (needle.empty()) return Value::Int(offset);
  if (offset < 0) return IndexOutOfRange(call, offset);
  const std::optional<std::size_t> begin = ByteOfIndex(text, offset);
  if (!begin.has_value()) return Value::Int(-1);
  const std::size_t found = FindFirst(text.substr(*begin), needle);
  return CodePointsBefore(text, found == std::string_view::npos ? found : *begin + found);
}

Value LastIndexOf(CallContext&, std::span<const Value> arguments) {
  const std::string_view text = arguments[0].AsText();
  const std::string_view needle = arguments[1].AsText();
  if (needle.empty()) return CodePointsBefore(text, text.size());
  return CodePointsBefore(text, FindLast(text, needle));
}

Value LastIndexOfOffset(CallContext& call, std::span<const Value> arguments) {
  const std::string_view text = arguments[0].AsText();
  const std::string_view needle = arguments[1].AsText();
  const std::int64_t offset = arguments[2].AsInt();
  if (needle.empty()) return Value::Int(offset);
  if (offset < 0) return IndexOutOfRange(call, offset);
  const std::optional<std::size_t> begin = ByteOfIndex(text, offset);
  if (!begin.has_value() || *begin == text.size()) return Value::Int(-1);
  const std::size_t end = ByteOf(text.substr(*begin), CodePoints(needle)).value_or(text.size());
  return CodePointsBefore(text, FindLast(text.substr(0, *begin + end), needle));
}

// Copies a text and changes its ASCII letters between `first` and `last` to the other case.
Value ChangeCase(CallContext& call, std::string_view text, char first, char last) {
  if (!call.CanBuild(text.size())) return call.OverLimit();
  constexpr char kOtherCase = 'a' ^ 'A';
  const std::span<char> changed = call.arena().New<char>(text.size());
  std::ranges::transform(text, changed.begin(), [first, last](char c) {
    return c >= first && c <= last ? static_cast<char>(c ^ kOtherCase) : c;
  });
  return Value::String({changed.data(), changed.size()});
}

Value LowerAscii(CallContext& call, std::span<const Value> arguments) {
  return ChangeCase(call, arguments[0].AsText(), 'A', 'Z');
}

Value UpperAscii(CallContext& call, std::span<const Value> arguments) {
  return ChangeCase(call, arguments[0].AsText(), 'a', 'z');
}

// Counts the places where `old` would be replaced: all around characters if it is empty.
std::uint64_t CountOf(std::string_view text, std::string_view old) {
  if (old.empty()) return CodePoints(text) + 1;
  std::uint64_t count = 0;
  while (true) {
    const std::size_t at = FindFirst(text, old);
    if (at == std::string_view::npos) return count;
    text.remove_prefix(at + old.size());
    ++count;
  }
}

Value Replace(CallContext& call, std::span<const Value> arguments) {
  std::string_view rest = arguments[0].AsText();
  const std::string_view old = arguments[1].AsText();
  const std::string_view with = arguments[2].AsText();
  const std::int64_t most = arguments.size() > 3 ? arguments[3].AsInt() : -1;
  std::uint64_t count = most == 0 || old == with ? 0 : CountOf(rest, old);
  if (most > 0) count = std::min(count, static_cast<std::uint64_t>(most));
  if (count == 0) return arguments[0];
  const std::uint64_t size = rest.size() - count * old.size() + count * with.size();
  if (!call.CanBuild(size)) return call.OverLimit();
  const std::span<char> replaced = call.arena().New<char>(size);
  char* out = replaced.data();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::size_t at =
        old.empty() ? (i == 0 ? 0 : ByteOf(rest, 1).value_or(0)) : FindFirst(rest, old);
    out = std::ranges::copy(rest.substr(0, at), out).out;
    out = std::ranges::copy(with, out).out;
    rest.remove_prefix(at + old.size());
  }
  std::ranges::copy(rest, out);
  return Value::String({replaced.data(), replaced.size()});
}

// Splits into at most `most` parts, which borrow from the text. Go's strings.SplitN.
Value Split(CallContext& call, std::span<const Value> arguments) {
  std::string_view rest = arguments[0].AsText();
  const std::string_view separator = arguments[1].AsText();
  const std::int64_t most = arguments.size() > 2 ? arguments[2].AsInt() : -1;
  if (most == 0) return Value::List({});
  // An empty separator stands between all characters, but not around them.
  std::uint64_t count = separator.empty() ? CodePoints(rest) : CountOf(rest, separator) + 1;
  if (most > 0) count = std::min(count, static_cast<std::uint64_t>(most));
  if (count == 0) return Value::List({});
  if (!call.CanBuild(count * sizeof(Value))) return call.OverLimit();
  const std::span<Value> parts = call.arena().New<Value>(count);
  for (std::uint64_t i = 0; i + 1 < count; ++i) {
    const std::size_t at =
        separator.empty() ? ByteOf(rest, 1).value_or(0) : FindFirst(rest, separator);
    parts[i] = Value::String(rest.substr(0, at));
    rest.remove_prefix(at + separator.size());
  }
  parts[count - 1] = Value::String(rest);
  return Value::List(parts);
}

Value SubstringFrom(CallContext& call, std::span<const Value> arguments) {
  const std::string_view text = arguments[0].AsText();
  const std::optional<std::size_t> begin = ByteOfIndex(text, arguments[1].AsInt());
  if (!begin.has_value()) return IndexOutOfRange(call, arguments[1].AsInt());
  return Value::String(text.substr(*begin));
}

Value Substring(CallContext& call, std::span<const Value> arguments) {
  const std::string_view text = arguments[0].AsText();
  const std::int64_t start = arguments[1].AsInt();
  const std::int64_t end = arguments[2].AsInt();
  if (start > end) {
    return call.Error("invalid substring range. start: " + std::to_string(start) +
                      ", end: " + std::to_string(end));
  }
  const std::optional<std::size_t> begin = ByteOfIndex(text, start);
  if (!begin.has_value()) return IndexOutOfRange(call, start);
  const std::string_view rest = text.substr(*begin);
  const std::optional<std::size_t> size = ByteOfIndex(rest, end - start);
  if (!size.has_value()) return IndexOutOfRange(call, end);
  return Value::String(rest.substr(0, *size));
}

Value Trim(CallContext&, std::span<const Value> arguments) {
  return Value::String(text::TrimSpace(arguments[0].AsText()));
}

// The letter that stands for a character behind a backslash. 0: the character stands for itself.
char EscapeOf(char c) {
  switch (c) {
    case '\a':
      return 'a';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\v':
      return 'v';
    case '\\':
    case '"':
      return c;
    default:
      return 0;
  }
}

Value QuoteString(CallContext& call, std::span<const Value> arguments) {
  const std::string_view text = arguments[0].AsText();
  if (!call.CanBuild(text.size() * 2 + 2)) return call.OverLimit();
  std::string quoted = "\"";
  for (const char c : text) {
    const char escape = EscapeOf(c);
    if (escape != 0) quoted += '\\';
    quoted += escape != 0 ? escape : c;
  }
  return MakeString(call, quoted + '"');
}

Value JoinBy(CallContext& call, const Value& list, std::string_view separator) {
  std::string joined;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const Value item = list.Item(i, call.arena());
    if (!item.is_string()) {
      return call.Error("join: invalid input: " + PrintValue(item, call.arena()));
    }
    // Charged by the size of the result, so that a shorter text is known to be affordable.
    if (!call.CanBuild(joined.size() + separator.size() + item.size())) return call.OverLimit();
    if (i > 0) joined += separator;
    joined += item.AsText();
  }
  return MakeString(call, joined);
}

Value Join(CallContext& call, std::span<const Value> arguments) {
  return JoinBy(call, arguments[0], arguments.size() > 1 ? arguments[1].AsText() : "");
}

// ⌈size of the result × 0.2⌉.
std::optional<std::uint64_t> CostOfJoin(const CostCall& call) {
  if (call.result == nullptr) return std::nullopt;
  return TraversalCost(*call.result, 2 * kStringTraversal);
}

std::optional<CallEstimate> EstimateJoin(const EstimateCall& call) {
  const SizeRange items = call.Size(0);
  SizeRange size = {0, 0};
  if (call.ElementType(0).has_value()) {
    size = items * call.ElementSize(0).value_or(SizeRange{});
  }
  if (call.argument_count() > 1) {
    const auto between = [](std::uint64_t count) { return count > 0 ? count - 1 : 0; };
    size = size + call.Size(1) * SizeRange{between(items.min), between(items.max)};
  }
  return CallEstimate{.cost = CostOf(size, kStringTraversal), .result_size = size};
}

// Returns ⌈a ÷ b⌉ as Go computes it in float64.
std::uint64_t CeilDivide(std::uint64_t a, std::uint64_t b) {
  const double quotient = std::ceil(static_cast<double>(a) / static_cast<double>(b));
  return quotient >= kTwoTo64 ? kUnbounded : static_cast<std::uint64_t>(quotient);
}

// The number of replacements that make the longest result, and the characters of the text that are
// counted beside them. cost.go's case "replace".
SizeRange LargestReplaced(SizeRange text, SizeRange old, SizeRange with) {
  if (old.min == 0) return {SaturatingAdd(text.max, 1), text.max};
  if (with.max <= old.min) return {0, text.max};
  return {CeilDivide(text.max, old.min), 0};
}
SizeRange SmallestReplaced(SizeRange text, SizeRange old, SizeRange with) {
  if (old.max == 0) return {SaturatingAdd(text.min, 1), text.min};
  if (old.max <= with.min) return {0, text.min};
  return {CeilDivide(text.min, old.max), 0};
}

std::optional<CallEstimate> EstimateReplace(const EstimateCall& call) {
  const SizeRange text = call.Size(0);
  const SizeRange old = call.Size(1);
  const SizeRange with = call.Size(2);
  const auto [least_count, least_kept] = SmallestReplaced(text, old, with);
  const auto [most_count, most_kept] = LargestReplaced(text, old, with);
  const SizeRange size =
      SizeRange{least_count, most_count} * with + SizeRange{least_kept, most_kept};
  return CallEstimate{.cost = CostOf(text, 2 * kStringTraversal), .result_size = size};
}

std::optional<CallEstimate> EstimateSplit(const EstimateCall& call) {
  const SizeRange text = call.Size(0);
  std::uint64_t most = text.max;
  if (call.argument_count() > 2) {
    // As in Go, −1 is 2^64 − 1.
    const std::optional<std::int64_t> literal = call.IntLiteral(2);
    if (literal.has_value()) most = static_cast<std::uint64_t>(*literal);
  }
  return CallEstimate{.cost = CostOf(text, 2 * kStringTraversal),
                      .result_size = SizeRange{0, most}};
}

// The size of the result overflows as in Go: of a text of unknown size it is at most 0.
std::optional<CallEstimate> EstimateQuote(const EstimateCall& call) {
  const SizeRange text = call.Size(0);
  return CallEstimate{.cost = CostOf(text, kStringTraversal),
                      .result_size = SizeRange{text.min + 2, text.max * 2 + 2}};
}

constexpr Overload kCharAt[] = {
    {.id = "string_char_at_int", .signature = Member(kString, kString, kInt), .handler = CharAt},
};
constexpr Overload kIndexOf[] = {
    {.id = "string_index_of_string",
     .signature = Member(kInt, kString, kString),
     .handler = IndexOf},
    {.id = "string_index_of_string_int",
     .signature = Member(kInt, kString, kString, kInt),
     .handler = IndexOf},
};
constexpr Overload kLastIndexOf[] = {
    {.id = "string_last_index_of_string",
     .signature = Member(kInt, kString, kString),
     .handler = LastIndexOf},
    {.id = "string_last_index_of_string_int",
     .signature = Member(kInt, kString, kString, kInt),
     .handler = LastIndexOfOffset},
};
constexpr Overload kLowerAscii[] = {
    {.id = "string_lower_ascii", .signature = Member(kString, kString), .handler = LowerAscii},
};
constexpr Overload kUpperAscii[] = {
    {.id = "string_upper_ascii", .signature = Member(kString, kString), .handler = UpperAscii},
};
constexpr Overload kReplace[] = {
    {.id = "string_replace_string_string",
     .signature = Member(kString, kString, kString, kString),
     .handler = Replace},
    {.id = "string_replace_string_string_int",
     .signature = Member(kString, kString, kString, kString, kInt),
     .handler = Replace},
};
constexpr Overload kSplit[] = {
    {.id = "string_split_string",
     .signature = Member(kStrings, kString, kString),
     .handler = Split},
    {.id = "string_split_string_int",
     .signature = Member(kStrings, kString, kString, kInt),
     .handler = Split},
};
constexpr Overload kSubstring[] = {
    {.id = "string_substring_int",
     .signature = Member(kString, kString, kInt),
     .handler = SubstringFrom},
    {.id = "string_substring_int_int",
     .signature = Member(kString, kString, kInt, kInt),
     .handler = Substring},
};
constexpr Overload kTrim[] = {
    {.id = "string_trim", .signature = Member(kString, kString), .handler = Trim},
};
// Its cost counts by the overload: cel-go's, not Kubernetes'.
constexpr Overload kQuote[] = {
    {.id = "strings_quote",
     .signature = Free(kString, kString),
     .handler = QuoteString,
     .run_cost = CostTraversal,
     .estimate = EstimateQuote},
};

constexpr Overload kJoin[] = {
    {.id = "list_join", .signature = Member(kString, kStrings), .handler = Join},
    {.id = "list_join_string", .signature = Member(kString, kStrings, kString), .handler = Join},
};
constexpr Overload kFormat[] = {
    {.id = "string_format",
     .signature = Member(kString, kString, kListOf<types::kDyn>),
     .handler = FormatString,
     .run_cost = CostTraversal,
     .estimate = EstimateTraversal},
};

constexpr Function kFunctions[] = {
    {.name = "charAt", .overloads = kCharAt},
    {.name = "indexOf",
     .overloads = kIndexOf,
     .run_cost = CostDeepTraversal,
     .estimate = EstimateElements},
    {.name = "lastIndexOf",
     .overloads = kLastIndexOf,
     .run_cost = CostDeepTraversal,
     .estimate = EstimateElements},
    {.name = "lowerAscii",
     .overloads = kLowerAscii,
     .run_cost = CostTraversal,
     .estimate = EstimateTraversalAndCopy},
    {.name = "upperAscii",
     .overloads = kUpperAscii,
     .run_cost = CostTraversal,
     .estimate = EstimateTraversalAndCopy},
    {.name = "replace",
     .overloads = kReplace,
     .run_cost = CostTwoTraversals,
     .estimate = EstimateReplace},
    {.name = "split",
     .overloads = kSplit,
     .run_cost = CostTwoTraversals,
     .estimate = EstimateSplit},
    {.name = "substring",
     .overloads = kSubstring,
     .run_cost = CostTraversal,
     .estimate = EstimateTraversalAndCopy},
    {.name = "trim",
     .overloads = kTrim,
     .run_cost = CostTraversal,
     .estimate = EstimateTraversalAndCopy},
    {.name = "join",
     .overloads = kJoin,
     .run_cost = CostOfJoin,
     .estimate = EstimateJoin,
     .cost_before_call = false},
    {.name = "format", .overloads = kFormat, .since = kVersion2},
    {.name = "strings.quote", .overloads = kQuote, .since = kVersion2},
};

}  // namespace
}  // namespace strings_rows

std::span<const Function> Strings() { return strings_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
