#include "apiserver/runtime/quantity.h"

#include <array>
#include <charconv>
#include <cmath>

#include "cel/functions/common.h"
#include "cel/functions/libraries.h"
#include "cel/types/spell.h"
#include "text/ascii.h"

// k8s.io/apiserver/pkg/cel/library/quantity.go.
namespace apiserver::v0::cel::functions {
namespace quantity_rows {
namespace {

using types::kBool;
using types::kDouble;
using types::kInt;
using types::kString;

constexpr TypeNode kQuantity = types::Object("kubernetes.Quantity");
constexpr std::uint8_t kSince = 28;

// The quantity of a value. Go keeps small ones as an int64 and a power of ten, and isInteger()
// and asInteger() know only these.
struct Amount {
  bool small = false;
  std::int64_t value = 0;
  std::int32_t scale = 0;
  std::string_view text = {};  // Not small: a text that reads back as the number.
};

runtime::Quantity QuantityOf(const Amount& amount) {
  if (amount.small) return runtime::Quantity(amount.value, amount.scale);
  Result<runtime::Quantity> read = runtime::Quantity::Parse(amount.text);
  return read.ok() ? *std::move(read) : runtime::Quantity();
}

int CompareAmounts(const Amount& a, const Amount& b) {
  if (a.small && b.small && a.scale == b.scale) {
    return a.value < b.value ? -1 : (a.value > b.value ? 1 : 0);
  }
  return Compare(QuantityOf(a), QuantityOf(b));
}

bool EqualAmounts(const void* a, const void* b) {
  return CompareAmounts(*static_cast<const Amount*>(a), *static_cast<const Amount*>(b)) == 0;
}

// The text is not always that of Go, which keeps the suffix.
std::string TakeOutQuantity(const void* object) {
  return NotTakenOut("*resource.Quantity",
                     QuantityOf(*static_cast<const Amount*>(object)).ToString());
}

constexpr OpaqueKind kQuantityKind = {.type = &kQuantity,
                                      .equal = EqualAmounts,
                                      .go_type = "cel.Quantity",
                                      .error_taken_out = TakeOutQuantity};

const Amount& AmountOf(const Value& value) { return value.AsOpaque<Amount>(); }

// The parts of a text that is a quantity.
struct Parts {
  bool negative = false;
  std::string_view whole;     // Without leading zeros.
  std::string_view fraction;  // As written.
  std::string_view suffix;
};

// Takes the digits from the front of a text.
std::string_view TakeDigits(std::string_view& rest) {
  std::size_t count = 0;
  while (count < rest.size() && text::IsDigit(rest[count])) ++count;
  const std::string_view digits = rest.substr(0, count);
  rest.remove_prefix(count);
  return digits;
}

Parts Split(std::string_view rest) {
  Parts parts;
  parts.negative = rest.starts_with('-');
  if (rest.starts_with('-') || rest.starts_with('+')) rest.remove_prefix(1);
  while (rest.starts_with('0')) rest.remove_prefix(1);
  parts.whole = TakeDigits(rest);
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    parts.fraction = TakeDigits(rest);
  }
  if (parts.whole.empty()) parts.whole = "0";
  parts.suffix = rest;
  return parts;
}

// The number that a suffix stands for: base^exponent.
struct Suffix {
  int base = 10;
  std::int64_t exponent = 0;
};

Suffix ReadSuffix(std::string_view suffix) {
  struct Row {
    std::string_view text;
    Suffix suffix;
  };
  static constexpr Row kRows[] = {
      {"n", {10, -9}}, {"u", {10, -6}}, {"m", {10, -3}}, {"", {10, 0}},
      {"k", {10, 3}},  {"M", {10, 6}},  {"G", {10, 9}},  {"T", {10, 12}},
      {"P", {10, 15}}, {"E", {10, 18}}, {"Ki", {2, 10}}, {"Mi", {2, 20}},
      {"Gi", {2, 30}}, {"Ti", {2, 40}}, {"Pi", {2, 50}}, {"Ei", {2, 60}}};
  for (const Row& row : kRows) {
    if (row.text == suffix) return row.suffix;
  }
  std::string_view digits = suffix.substr(1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  Suffix exponent;
  std::from_chars(digits.data(), digits.data() + digits.size(), exponent.exponent);
  return exponent;
}

// Reads a quantity as ParseQuantity's fast path does. Not small: it does not take this path.
Amount ReadSmall(std::string_view text) {
  constexpr std::int64_t kDecimalDigitsMax = 18;
  constexpr std::int64_t kBinaryDigitsMax = 14;
  constexpr std::int64_t kNano = -9;
  constexpr std::int64_t kScaleMax = 1'000;
  const Parts parts = Split(text);
  const Suffix suffix = ReadSuffix(parts.suffix);
  const auto digits = static_cast<std::int64_t>(parts.whole.size() + parts.fraction.size());
  std::int64_t scale = 0;
  std::int64_t factor = 1;
  if (suffix.base == 10) {
    if (digits > kDecimalDigitsMax) return {};
    scale = suffix.exponent - static_cast<std::int64_t>(parts.fraction.size());
  } else {
    const auto factor_digits =
        static_cast<std::int64_t>(static_cast<float>(suffix.exponent) * 3 / 10);
    if (!parts.fraction.empty() || digits > kBinaryDigitsMax - factor_digits) return {};
    factor = std::int64_t{1} << static_cast<unsigned>(suffix.exponent);
  }
  if (scale < kNano || scale > kScaleMax) return {};
  std::int64_t value = 0;
  for (const std::string_view part : {parts.whole, parts.fraction}) {
    for (const char digit : part) value = value * 10 + (digit - '0');
  }
  if (__builtin_mul_overflow(value, factor, &value)) return {};
  return {.small = true,
          .value = parts.negative ? -value : value,
          .scale = static_cast<std::int32_t>(scale)};
}

Value MakeQuantity(CallContext& call, const Amount& amount) {
  return Value::Opaque(kQuantityKind, &call.arena().Make(amount));
}

Value MakeLarge(CallContext& call, const runtime::Quantity& quantity) {
  using runtime::Quantity;
  // Reading caps what has a binary suffix: a sum is kept with a decimal one.
  Quantity decimal = quantity;
  if (std::isfinite(quantity.AsDouble())) {
    decimal = Quantity(1, 0, Quantity::Format::kDecimalExponent);
    decimal.Add(quantity);
    decimal.Subtract(Quantity(1));
  }
  const std::string text = decimal.ToString();
  if (!call.CanBuild(text.size())) return call.OverLimit();
  return MakeQuantity(call, {.text = call.arena().Copy(text)});
}

Value FromString(CallContext& call, std::span<const Value> arguments) {
  const std::string_view text = arguments[0].AsText();
  const Result<runtime::Quantity> read = runtime::Quantity::Parse(text);
  if (!read.ok()) return call.Error(read.status().message());
  const Amount small = ReadSmall(text);
  return small.small ? MakeQuantity(call, small) : MakeLarge(call, *read);
}

Value IsQuantity(CallContext&, std::span<const Value> arguments) {
  return Value::Bool(runtime::Quantity::Parse(arguments[0].AsText()).ok());
}

Value Sign(CallContext&, std::span<const Value> arguments) {
  return Value::Int(CompareAmounts(AmountOf(arguments[0]), {.small = true}));
}

// Returns value × 10^scale if it fits.
std::optional<std::int64_t> Scaled(std::int64_t value, std::int64_t scale) {
  for (; scale > 0 && value != 0; --scale) {
    if (__builtin_mul_overflow(value, 10, &value)) return std::nullopt;
  }
  return value;
}

// Go's AsInt64: also an integer that is written with a fraction or a small suffix is none.
std::optional<std::int64_t> IntegerOf(const Amount& amount) {
  if (!amount.small || amount.scale < 0) return std::nullopt;
  return Scaled(amount.value, amount.scale);
}

// 2^63 − 1 is an integer, and 2^63 is none.
Value IsInteger(CallContext&, std::span<const Value> arguments) {
  return Value::Bool(IntegerOf(AmountOf(arguments[0])).has_value());
}

Value AsInteger(CallContext&, std::span<const Value> arguments) {
  const std::optional<std::int64_t> integer = IntegerOf(AmountOf(arguments[0]));
  return integer.has_value() ? Value::Int(*integer)
                             : Value::Error("cannot convert value to integer");
}

Value AsApproximateFloat(CallContext&, std::span<const Value> arguments) {
  const Amount& amount = AmountOf(arguments[0]);
  if (!amount.small) return Value::Double(QuantityOf(amount).AsDouble());
  const auto value = static_cast<double>(amount.value);
  // As Go's math.Pow10, the power is rounded before it is used.
  if (amount.scale < 0) return Value::Double(value * (1 / std::pow(10.0, -amount.scale)));
  return Value::Double(amount.scale == 0 ? value : value * std::pow(10.0, amount.scale));
}

Value CompareTo(CallContext&, std::span<const Value> arguments) {
  return Value::Int(CompareAmounts(AmountOf(arguments[0]), AmountOf(arguments[1])));
}
Value IsGreaterThan(CallContext&, std::span<const Value> arguments) {
  return Value::Bool(CompareAmounts(AmountOf(arguments[0]), AmountOf(arguments[1])) > 0);
}
Value IsLessThan(CallContext&, std::span<const Value> arguments) {
  return Value::Bool(CompareAmounts(AmountOf(arguments[0]), AmountOf(arguments[1])) < 0);
}

// Adds as Go's int64Amount. nullopt: the sum does not fit.
std::optional<Amount> AddSmall(const Amount& a, const Amount& b) {
  if (!a.small || !b.small) return std::nullopt;
  if (b.value == 0) return a;
  if (a.value == 0) return b;
  const std::int32_t scale = std::min(a.scale, b.scale);
  const std::optional<std::int64_t> left = Scaled(a.value, a.scale - scale);
  const std::optional<std::int64_t> right = Scaled(b.value, b.scale - scale);
  Amount sum = {.small = true, .scale = scale};
  if (!left.has_value() || !right.has_value() ||
      __builtin_add_overflow(*left, *right, &sum.value)) {
    return std::nullopt;
  }
  return sum;
}

Value AddAmounts(CallContext& call, const Amount& a, const Amount& b, bool negate) {
  Amount addend = b;
  // The negative of the smallest number is that number, as in Go.
  if (negate) addend.value = static_cast<std::int64_t>(-static_cast<std::uint64_t>(b.value));
  if (const std::optional<Amount> sum = AddSmall(a, addend)) return MakeQuantity(call, *sum);
  runtime::Quantity sum = QuantityOf(a);
  runtime::Quantity other = QuantityOf(b);
  if (negate) other.Negate();
  // All digits between the two numbers would be made.
  if (std::isinf(sum.AsDouble()) || std::isinf(other.AsDouble())) return call.OverLimit();
  sum.Add(other);
  return MakeLarge(call, sum);
}

Value Add(CallContext& call, std::span<const Value> arguments) {
  return AddAmounts(call, AmountOf(arguments[0]), AmountOf(arguments[1]), false);
}
Value AddInt(CallContext& call, std::span<const Value> arguments) {
  return AddAmounts(call, AmountOf(arguments[0]), {.small = true, .value = arguments[1].AsInt()},
                    false);
}
Value Subtract(CallContext& call, std::span<const Value> arguments) {
  return AddAmounts(call, AmountOf(arguments[0]), AmountOf(arguments[1]), true);
}
Value SubtractInt(CallContext& call, std::span<const Value> arguments) {
  return AddAmounts(call, AmountOf(arguments[0]), {.small = true, .value = arguments[1].AsInt()},
                    true);
}

constexpr Overload kFromString[] = {
    {.id = "string_to_quantity", .signature = Free(kQuantity, kString), .handler = FromString},
};
constexpr Overload kIsQuantity[] = {
    {.id = "is_quantity_string", .signature = Free(kBool, kString), .handler = IsQuantity},
};
// A free function, unlike all others.
constexpr Overload kSign[] = {
    {.id = "quantity_sign", .signature = Free(kInt, kQuantity), .handler = Sign},
};
constexpr Overload kIsGreaterThan[] = {
    {.id = "quantity_is_greater_than",
     .signature = Member(kBool, kQuantity, kQuantity),
     .handler = IsGreaterThan},
};
constexpr Overload kIsLessThan[] = {
    {.id = "quantity_is_less_than",
     .signature = Member(kBool, kQuantity, kQuantity),
     .handler = IsLessThan},
};
constexpr Overload kCompareTo[] = {
    {.id = "quantity_compare_to",
     .signature = Member(kInt, kQuantity, kQuantity),
     .handler = CompareTo},
};
constexpr Overload kAsApproximateFloat[] = {
    {.id = "quantity_get_float",
     .signature = Member(kDouble, kQuantity),
     .handler = AsApproximateFloat},
};
constexpr Overload kAsInteger[] = {
    {.id = "quantity_get_int", .signature = Member(kInt, kQuantity), .handler = AsInteger},
};
constexpr Overload kIsInteger[] = {
    {.id = "quantity_is_integer", .signature = Member(kBool, kQuantity), .handler = IsInteger},
};
constexpr Overload kAdd[] = {
    {.id = "quantity_add", .signature = Member(kQuantity, kQuantity, kQuantity), .handler = Add},
    {.id = "quantity_add_int", .signature = Member(kQuantity, kQuantity, kInt), .handler = AddInt},
};
constexpr Overload kSub[] = {
    {.id = "quantity_sub",
     .signature = Member(kQuantity, kQuantity, kQuantity),
     .handler = Subtract},
    {.id = "quantity_sub_int",
     .signature = Member(kQuantity, kQuantity, kInt),
     .handler = SubtractInt},
};

constexpr Function kFunctions[] = {
    TraversalRow("quantity", kFromString, kSince),
    TraversalRow("isQuantity", kIsQuantity, kSince),
    UnitCostRow("sign", kSign, kSince),
    UnitCostRow("isGreaterThan", kIsGreaterThan, kSince),
    UnitCostRow("isLessThan", kIsLessThan, kSince),
    UnitCostRow("compareTo", kCompareTo, kSince),
    UnitCostRow("asApproximateFloat", kAsApproximateFloat, kSince),
    UnitCostRow("asInteger", kAsInteger, kSince),
    UnitCostRow("isInteger", kIsInteger, kSince),
    UnitCostRow("add", kAdd, kSince),
    UnitCostRow("sub", kSub, kSince),
};

}  // namespace
}  // namespace quantity_rows

std::span<const Function> Quantities() { return quantity_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
