#include "runtime/scalar.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "apiserver/runtime/quantity.h"
#include "apiserver/runtime/time.h"
#include "text/base64.h"

namespace apiserver::v0::runtime {

namespace {

constexpr double kTwo63 = 9223372036854775808.0;

bool FitsInt32(std::int64_t number) {
  return number >= std::numeric_limits<std::int32_t>::min() &&
         number <= std::numeric_limits<std::int32_t>::max();
}

// Returns a number as a person would write it; Go keeps the original text instead.
std::string NumberText(const Value& value) {
  return value.type() == Value::Type::kInt ? std::to_string(value.AsInt())
                                           : DoubleText(value.AsDouble());
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

Result<Quantity> QuantityOf(const Value& value) {
  if (value.is_string()) return Quantity::Parse(Trim(value.AsString()));
  return Quantity::Parse(value.is_number() ? NumberText(value) : "");
}

// A float64 is a float64: what is whole is kept as an integer, as it will be when read back.
void NormalizeNumber(Value& value, bool& changed) {
  if (value.type() == Value::Type::kInt) {
    const double number = static_cast<double>(value.AsInt());
    if (number < kTwo63 && static_cast<std::int64_t>(number) == value.AsInt()) return;
    value = number < kTwo63 ? Value::Int(static_cast<std::int64_t>(number)) : Value::Double(number);
    changed = true;
    return;
  }
  const double number = value.AsDouble();
  const bool whole = std::trunc(number) == number && std::fabs(number) < kTwo63;
  if (!whole || (number == 0 && std::signbit(number))) return;
  value = Value::Int(static_cast<std::int64_t>(number));
  changed = true;
}

bool NormalizeBytes(Value& value, Arena& arena) {
  if (value.is_string()) {
    const std::string_view digits = value.AsString();
    auto* const room = static_cast<char*>(arena.Allocate(text::Base64BytesMax(digits.size()), 1));
    const std::optional<std::size_t> size = text::DecodeBase64To(digits, room, nullptr);
    if (size) value = Value::Bytes({room, *size});
    return size.has_value();
  }
  if (!value.is_list()) return false;
  // Go accepts a list of numbers for a []uint8.
  std::string bytes;
  for (const Value& item : value.items()) {
    const bool fits = item.is_null() || (item.type() == Value::Type::kInt && item.AsInt() >= 0 &&
                                         item.AsInt() <= std::numeric_limits<std::uint8_t>::max());
    if (!fits) return false;
    bytes += static_cast<char>(item.AsInt());
  }
  value = Value::Bytes(arena.Copy(bytes));
  return true;
}

bool NormalizeTime(const Schema& schema, Value& value, Arena& arena, bool& changed) {
  if (value.type() == Value::Type::kRaw && value.AsString() == "null") {
    value = Value();  // A pointer to a zero time was encoded here.
    changed = true;
    return true;
  }
  if (!value.is_string()) return false;
  const bool micro = schema.type == SchemaType::kMicroTime;
  const std::string_view text = value.AsString();
  const Result<UnixTime> time = micro ? ParseMicroTime(text) : ParseTime(text);
  if (!time.ok()) return false;
  if (time->is_zero()) {
    value = Value();
    changed = true;
    return true;
  }
  // A text of this length that could be parsed has two digits in every part and no other zone.
  constexpr std::size_t kSecondsSize = 20;
  constexpr std::size_t kMicrosSize = 27;
  const bool canonical = text.size() == (micro ? kMicrosSize : kSecondsSize) &&
                         text.back() == 'Z' && (!micro || text[kSecondsSize - 1] == '.');
  if (canonical) return true;
  value = Value::String(arena.Copy(micro ? FormatMicroTime(*time) : FormatTime(*time)));
  changed = true;
  return true;
}

bool ReplaceText(Value& value, const std::string& text, Arena& arena, bool& changed) {
  if (value.is_string() && value.AsString() == text) return true;
  value = Value::String(arena.Copy(text));
  changed = true;
  return true;
}

}  // namespace

std::string DoubleText(double number) {
  std::array<char, 400> buffer;  // More than the digits of the largest double.
  const bool plain = std::fabs(number) < 1e21;
  const auto result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                    plain ? std::chars_format::fixed : std::chars_format::scientific);
  return std::string(buffer.data(), result.ptr);
}

bool IsContainer(SchemaType type) {
  return type == SchemaType::kStruct || type == SchemaType::kMap || type == SchemaType::kList;
}

Value ZeroOf(const Schema& schema) {
  switch (schema.type) {
    case SchemaType::kBoolean:
      return Value::Bool(false);
    case SchemaType::kInteger:
    case SchemaType::kNumber:
    case SchemaType::kIntOrString:
      return Value::Int(0);
    case SchemaType::kString:
      return Value::String("");
    case SchemaType::kDuration:
      return Value::String("0s");
    case SchemaType::kQuantity:
      return Value::String("0");
    case SchemaType::kStruct:
      return Value::Map({});
    default:
      return Value();
  }
}

bool IsEmpty(const Schema& schema, const Value& value) {
  switch (schema.type) {
    case SchemaType::kBoolean:
      return !value.AsBool();
    case SchemaType::kInteger:
    case SchemaType::kNumber:
      return value.AsDouble() == 0;
    case SchemaType::kString:
    case SchemaType::kBytes:
    case SchemaType::kMap:
    case SchemaType::kList:
      return value.size() == 0;
    case SchemaType::kAny:
      return value.is_null();
    default:
      return false;
  }
}

bool IsZero(const Schema& schema, const Value& value) {
  switch (schema.type) {
    case SchemaType::kDuration:
      return value.AsString() == "0s";
    case SchemaType::kQuantity: {
      const Result<Quantity> quantity = QuantityOf(value);
      return quantity.ok() && quantity->is_zero();
    }
    case SchemaType::kIntOrString:
      return value.type() == Value::Type::kInt && value.AsInt() == 0;
    case SchemaType::kBytes:
    case SchemaType::kMap:
    case SchemaType::kList:
    case SchemaType::kTime:
    case SchemaType::kMicroTime:
    case SchemaType::kRaw:
      return value.is_null();
    default:
      return IsEmpty(schema, value);
  }
}

bool NormalizeScalar(const Schema& schema, Value& value, Arena& arena, bool& changed) {
  if (value.is_null() && schema.type != SchemaType::kDuration) {
    value = ZeroOf(schema);
    changed |= !value.is_null();
    return true;
  }
  switch (schema.type) {
    case SchemaType::kBoolean:
      return value.type() == Value::Type::kBool;
    case SchemaType::kInteger:
      return value.type() == Value::Type::kInt && (schema.bits != 32 || FitsInt32(value.AsInt()));
    case SchemaType::kNumber:
      if (!value.is_number()) return false;
      NormalizeNumber(value, changed);
      return true;
    case SchemaType::kString:
      return value.is_string();
    case SchemaType::kBytes:
      if (value.type() == Value::Type::kBytes) return true;
      changed = true;
      return NormalizeBytes(value, arena);
    case SchemaType::kTime:
    case SchemaType::kMicroTime:
      return NormalizeTime(schema, value, arena, changed);
    case SchemaType::kDuration: {
      const auto duration = ParseDuration(value.AsString());
      return duration.ok() && ReplaceText(value, FormatDuration(*duration), arena, changed);
    }
    case SchemaType::kQuantity: {
      const auto quantity = QuantityOf(value);
      return quantity.ok() && ReplaceText(value, quantity->ToString(), arena, changed);
    }
    case SchemaType::kIntOrString:
      return value.is_string() || (value.type() == Value::Type::kInt && FitsInt32(value.AsInt()));
    default:
      return true;
  }
}

std::string_view GoTypeOf(const Value& value) {
  switch (value.type()) {
    case Value::Type::kNull:
      return "<nil>";
    case Value::Type::kBool:
      return "bool";
    case Value::Type::kInt:
      return "int64";
    case Value::Type::kDouble:
      return "float64";
    case Value::Type::kList:
      return "[]interface {}";
    case Value::Type::kMap:
      return "map[string]interface {}";
    default:
      return "string";
  }
}

}  // namespace apiserver::v0::runtime
