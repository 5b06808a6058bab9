#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "cel/declare/range.h"
#include "cel/functions/libraries.h"
#include "cel/run/lossless.h"
#include "cel/run/size.h"
#include "cel/run/time_text.h"
#include "cel/types/spell.h"
#include "text/ascii.h"
#include "text/bool.h"
#include "text/duration.h"
#include "text/utf8.h"

// Conversions between types, as ConvertToType of cel-go's common/types.
namespace apiserver::v0::cel::functions {
namespace conversions_rows {
namespace {

using types::kA;
using types::kBool;
using types::kBytes;
using types::kDouble;
using types::kDuration;
using types::kDyn;
using types::kInt;
using types::kString;
using types::kTimestamp;
using types::kTypeOf;
using types::kUint;

Value IntOverflow() { return Value::Error("integer overflow"); }
Value UintOverflow() { return Value::Error("unsigned integer overflow"); }

// The error of a text that is not of the type.
Value NotConverted(CallContext& call, std::string_view type) {
  return call.Error("type conversion error from 'string' to '" + std::string(type) + "'");
}

Value Identity(CallContext&, std::span<const Value> arguments) { return arguments[0]; }

Value TypeOfValue(CallContext&, std::span<const Value> arguments) {
  return Value::OfType(arguments[0].RuntimeType());
}

Value BoolOfString(CallContext& call, std::span<const Value> arguments) {
  const auto read = text::ParseBool(arguments[0].AsText());
  return read ? Value::Bool(*read) : NotConverted(call, "bool");
}

Value BytesOfString(CallContext&, std::span<const Value> arguments) {
  return Value::Bytes(arguments[0].AsText());
}

Value DoubleOfInt(CallContext&, std::span<const Value> arguments) {
  return Value::Double(static_cast<double>(arguments[0].AsInt()));
}
Value DoubleOfUint(CallContext&, std::span<const Value> arguments) {
  return Value::Double(static_cast<double>(arguments[0].AsUint()));
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameWord(std::string_view text, std::string_view word) {
  if (text.size() != word.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (Lower(text[i]) != word[i]) return false;
  }
  return true;
}

// Checks Go's syntax of hexadecimal floats, which needs an exponent: 0x1.8p3.
bool IsHexFloat(std::string_view digits) {
  const std::size_t p = digits.find_first_of("pP");
  if (p == std::string_view::npos || p + 1 == digits.size()) return false;
  bool any = false;
  bool dot = false;
  for (const char c : digits.substr(0, p)) {
    if (c == '.' && !dot) {
      dot = true;
      continue;
    }
    if (!text::IsDigit(c) && (Lower(c) < 'a' || Lower(c) > 'f')) return false;
    any = true;
  }
  std::string_view exponent = digits.substr(p + 1);
  if (exponent.front() == '+' || exponent.front() == '-') exponent.remove_prefix(1);
  for (const char c : exponent) {
    if (!text::IsDigit(c)) return false;
  }
  return any && !exponent.empty();
}

// Reads a number as Go's strconv.ParseFloat(text, 64). nullopt: it is none, or out of range.
std::optional<double> ParseFloat(std::string_view text) {
  std::string_view rest = text;
  bool negative = false;
  if (rest.starts_with('+') || rest.starts_with('-')) {
    negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  double number = 0;
  if (SameWord(rest, "inf") || SameWord(rest, "infinity")) {
    number = HUGE_VAL;
  } else if (SameWord(text, "nan")) {
    number = std::nan("");
  } else {
    const bool hex = rest.size() > 2 && rest[0] == '0' && Lower(rest[1]) == 'x';
    if (hex) rest.remove_prefix(2);
    if (rest.empty() || (hex && !IsHexFloat(rest))) return std::nullopt;
    if (!hex && !text::IsDigit(rest.front()) && rest.front() != '.') return std::nullopt;
    const auto format = hex ? std::chars_format::hex : std::chars_format::general;
    const auto [end, failure] =
        std::from_chars(rest.data(), rest.data() + rest.size(), number, format);
    if (end != rest.data() + rest.size()) return std::nullopt;
    if (failure == std::errc::result_out_of_range) {
      // Too small numbers are zero, too large ones an error.
      number = std::strtod(((hex ? "0x" : "") + std::string(rest)).c_str(), nullptr);
      if (std::isinf(number)) return std::nullopt;
    } else if (failure != std::errc()) {
      return std::nullopt;
    }
  }
  return negative ? -number : number;
}

Value DoubleOfString(CallContext& call, std::span<const Value> arguments) {
  const std::optional<double> number = ParseFloat(arguments[0].AsText());
  return number.has_value() ? Value::Double(*number) : NotConverted(call, "double");
}

Value DurationOfString(CallContext& call, std::span<const Value> arguments) {
  const auto duration = text::ParseDuration(arguments[0].AsText());
  if (!duration.ok()) return NotConverted(call, "google.protobuf.Duration");
  return Value::Duration(duration->count());
}

// cel-go declares this conversion without an implementation of it.
Value DurationOfInt(CallContext& call, std::span<const Value>) {
  return call.Error("type conversion error from 'int' to 'google.protobuf.Duration'");
}

Value IntOfDouble(CallContext&, std::span<const Value> arguments) {
  const std::optional<std::int64_t> integer = ToInt(arguments[0].AsDouble());
  return integer.has_value() ? Value::Int(*integer) : IntOverflow();
}
Value IntOfDuration(CallContext&, std::span<const Value> arguments) {
  return Value::Int(arguments[0].AsInt());
}
Value IntOfTimestamp(CallContext&, std::span<const Value> arguments) {
  return Value::Int(arguments[0].AsTime().seconds);
}
Value IntOfUint(CallContext&, std::span<const Value> arguments) {
  const std::uint64_t natural = arguments[0].AsUint();
  if (natural >> 63U != 0) return IntOverflow();
  return Value::Int(static_cast<std::int64_t>(natural));
}
Value IntOfString(CallContext& call, std::span<const Value> arguments) {
  std::string_view text = arguments[0].AsText();
  if (text.starts_with('+')) text.remove_prefix(text.starts_with("+-") ? 0 : 1);
  std::int64_t integer = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), integer);
  if (failure != std::errc() || end != text.data() + text.size()) return NotConverted(call, "int");
  return Value::Int(integer);
}

Value UintOfDouble(CallContext&, std::span<const Value> arguments) {
  const std::optional<std::uint64_t> natural = ToUint(arguments[0].AsDouble());
  return natural.has_value() ? Value::Uint(*natural) : UintOverflow();
}
Value UintOfInt(CallContext&, std::span<const Value> arguments) {
  if (arguments[0].AsInt() < 0) return UintOverflow();
  return Value::Uint(arguments[0].AsUint());
}
Value UintOfString(CallContext& call, std::span<const Value> arguments) {
  const std::string_view text = arguments[0].AsText();
  std::uint64_t natural = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), natural);
  if (failure != std::errc() || end != text.data() + text.size()) return NotConverted(call, "uint");
  return Value::Uint(natural);
}

Value StringOf(CallContext& call, std::string_view text) {
  return Value::String(call.arena().Copy(text));
}
Value StringOfBool(CallContext&, std::span<const Value> arguments) {
  return Value::String(arguments[0].AsBool() ? "true" : "false");
}
Value StringOfBytes(CallContext&, std::span<const Value> arguments) {
  if (!text::ValidUtf8(arguments[0].AsText())) {
    return Value::Error("invalid UTF-8 in bytes, cannot convert to string");
  }
  return Value::String(arguments[0].AsText());
}
Value StringOfDouble(CallContext& call, std::span<const Value> arguments) {
  return StringOf(call, FormatDouble(arguments[0].AsDouble()));
}
Value StringOfDuration(CallContext& call, std::span<const Value> arguments) {
  return StringOf(call, FormatSeconds(arguments[0].AsInt()));
}
Value StringOfInt(CallContext& call, std::span<const Value> arguments) {
  return StringOf(call, std::to_string(arguments[0].AsInt()));
}
Value StringOfTimestamp(CallContext& call, std::span<const Value> arguments) {
  return StringOf(call, FormatRfc3339(arguments[0].AsTime()));
}
Value StringOfUint(CallContext& call, std::span<const Value> arguments) {
  return StringOf(call, std::to_string(arguments[0].AsUint()));
}

Value TimestampOfInt(CallContext&, std::span<const Value> arguments) {
  const std::int64_t seconds = arguments[0].AsInt();
  if (seconds < kMinUnixTime || seconds > kMaxUnixTime) return Value::Error("timestamp overflow");
  return Value::Timestamp({seconds, 0, 0});
}
Value TimestampOfString(CallContext& call, std::span<const Value> arguments) {
  std::string error;
  const std::optional<Time> time = ParseRfc3339(arguments[0].AsText(), error);
  if (!time.has_value()) return NotConverted(call, "google.protobuf.Timestamp");
  if (time->seconds < kMinUnixTime || time->seconds > kMaxUnixTime) {
    return Value::Error("timestamp overflow");
  }
  return Value::Timestamp(*time);
}

std::optional<std::uint64_t> CostOfTraversal(const CostCall& call) {
  return TraversalCost(call.arguments[0]);
}
// A code point becomes up to four bytes, and four bytes one code point.
std::optional<CallEstimate> EstimateToBytes(const EstimateCall& call) {
  const SizeRange size = call.Size(0);
  return CallEstimate{CostOf(size, kStringTraversal), SizeRange{size.min, size.max * 4}};
}
std::optional<CallEstimate> EstimateToString(const EstimateCall& call) {
  const SizeRange size = call.Size(0);
  return CallEstimate{CostOf(size, kStringTraversal), SizeRange{size.min / 4, size.max}};
}

constexpr Overload kType[] = {{.id = "type", .signature = Free(kTypeOf<kA>, kA)}};
constexpr Overload kToBool[] = {
    {.id = "bool_to_bool", .signature = Free(kBool, kBool), .handler = Identity},
    {.id = "string_to_bool", .signature = Free(kBool, kString), .handler = BoolOfString},
};
constexpr Overload kToBytes[] = {
    {.id = "bytes_to_bytes", .signature = Free(kBytes, kBytes), .handler = Identity},
    {.id = "string_to_bytes",
     .signature = Free(kBytes, kString),
     .handler = BytesOfString,
     .run_cost = CostOfTraversal,
     .estimate = EstimateToBytes},
};
constexpr Overload kToDouble[] = {
    {.id = "double_to_double", .signature = Free(kDouble, kDouble), .handler = Identity},
    {.id = "int64_to_double", .signature = Free(kDouble, kInt), .handler = DoubleOfInt},
    {.id = "string_to_double", .signature = Free(kDouble, kString), .handler = DoubleOfString},
    {.id = "uint64_to_double", .signature = Free(kDouble, kUint), .handler = DoubleOfUint},
};
constexpr Overload kToDuration[] = {
    {.id = "duration_to_duration", .signature = Free(kDuration, kDuration), .handler = Identity},
    {.id = "int64_to_duration", .signature = Free(kDuration, kInt), .handler = DurationOfInt},
    {.id = "string_to_duration",
     .signature = Free(kDuration, kString),
     .handler = DurationOfString},
};
constexpr Overload kToDyn[] = {{.id = "to_dyn", .signature = Free(kDyn, kA)}};
constexpr Overload kToInt[] = {
    {.id = "int64_to_int64", .signature = Free(kInt, kInt), .handler = Identity},
    {.id = "double_to_int64", .signature = Free(kInt, kDouble), .handler = IntOfDouble},
    {.id = "duration_to_int64", .signature = Free(kInt, kDuration), .handler = IntOfDuration},
    {.id = "string_to_int64", .signature = Free(kInt, kString), .handler = IntOfString},
    {.id = "timestamp_to_int64", .signature = Free(kInt, kTimestamp), .handler = IntOfTimestamp},
    {.id = "uint64_to_int64", .signature = Free(kInt, kUint), .handler = IntOfUint},
};
constexpr Overload kToString[] = {
    {.id = "string_to_string", .signature = Free(kString, kString), .handler = Identity},
    {.id = "bool_to_string", .signature = Free(kString, kBool), .handler = StringOfBool},
    {.id = "bytes_to_string",
     .signature = Free(kString, kBytes),
     .handler = StringOfBytes,
     .run_cost = CostOfTraversal,
     .estimate = EstimateToString},
    {.id = "double_to_string", .signature = Free(kString, kDouble), .handler = StringOfDouble},
    {.id = "duration_to_string",
     .signature = Free(kString, kDuration),
     .handler = StringOfDuration},
    {.id = "int64_to_string", .signature = Free(kString, kInt), .handler = StringOfInt},
    {.id = "timestamp_to_string",
     .signature = Free(kString, kTimestamp),
     .handler = StringOfTimestamp},
    {.id = "uint64_to_string", .signature = Free(kString, kUint), .handler = StringOfUint},
};
constexpr Overload kToTimestamp[] = {
    {.id = "timestamp_to_timestamp",
     .signature = Free(kTimestamp, kTimestamp),
     .handler = Identity},
    {.id = "int64_to_timestamp", .signature = Free(kTimestamp, kInt), .handler = TimestampOfInt},
    {.id = "string_to_timestamp",
     .signature = Free(kTimestamp, kString),
     .handler = TimestampOfString},
};
constexpr Overload kToUint[] = {
    {.id = "uint64_to_uint64", .signature = Free(kUint, kUint), .handler = Identity},
    {.id = "double_to_uint64", .signature = Free(kUint, kDouble), .handler = UintOfDouble},
    {.id = "int64_to_uint64", .signature = Free(kUint, kInt), .handler = UintOfInt},
    {.id = "string_to_uint64", .signature = Free(kUint, kString), .handler = UintOfString},
};

constexpr Function kFunctions[] = {
    {.name = "type", .overloads = kType, .handler = TypeOfValue},
    {.name = "bool", .overloads = kToBool},
    {.name = "bytes", .overloads = kToBytes},
    {.name = "double", .overloads = kToDouble},
    {.name = "duration", .overloads = kToDuration},
    {.name = "dyn", .overloads = kToDyn, .handler = Identity},
    {.name = "int", .overloads = kToInt},
    {.name = "string", .overloads = kToString},
    {.name = "timestamp", .overloads = kToTimestamp},
    {.name = "uint", .overloads = kToUint},
};

}  // namespace
}  // namespace conversions_rows

std::span<const Function> Conversions() { return conversions_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
