#include "cel/run/message.h"

#include <array>
#include <limits>
#include <string>

#include "cel/run/map.h"
#include "cel/run/print.h"
#include "cel/run/time_text.h"

namespace apiserver::inline v0::cel {
namespace {

using Kind = Value::Kind;

constexpr std::string_view kPrefix = "google.protobuf.";

Value FieldOf(const Value& message, std::string_view name, const Value& fallback) {
  const Value* const found = FindExactly(message.built_map(), Value::String(name));
  return found == nullptr || found->is_null() ? fallback : *found;
}

// The wrappers of scalars, with the value of an empty one.
struct Wrapper {
  std::string_view type;
  Value empty;
};
constexpr std::array<Wrapper, 9> kWrappers = {{{"BoolValue", Value::Bool(false)},
                                               {"BytesValue", Value::Bytes("")},
                                               {"DoubleValue", Value::Double(0)},
                                               {"FloatValue", Value::Double(0)},
                                               {"Int32Value", Value::Int(0)},
                                               {"Int64Value", Value::Int(0)},
                                               {"StringValue", Value::String("")},
                                               {"UInt32Value", Value::Uint(0)},
                                               {"UInt64Value", Value::Uint(0)}}};

// Checks and narrows the value of a wrapper.
Value Wrapped(const Wrapper& wrapper, const Value& value, Arena& arena) {
  if (value.kind() != wrapper.empty.kind()) {
    return Value::Error(arena.Copy("unsupported field type for google.protobuf." +
                                   std::string(wrapper.type) + ".value: " + PrintTypeOf(value)));
  }
  if (wrapper.type == "Int32Value") {
    const bool fits = value.AsInt() >= std::numeric_limits<std::int32_t>::min() &&
                      value.AsInt() <= std::numeric_limits<std::int32_t>::max();
    return fits ? value : Value::Error("integer overflow");
  }
  if (wrapper.type == "UInt32Value") {
    const bool fits = value.AsUint() <= std::numeric_limits<std::uint32_t>::max();
    return fits ? value : Value::Error("unsigned integer overflow");
  }
  if (wrapper.type == "FloatValue") return Value::Double(static_cast<float>(value.AsDouble()));
  return value;
}

Value TimestampOf(const Value& message) {
  const std::int64_t seconds = FieldOf(message, "seconds", Value::Int(0)).AsInt();
  const std::int64_t nanos = FieldOf(message, "nanos", Value::Int(0)).AsInt();
  if (seconds < kMinUnixTime || seconds > kMaxUnixTime || nanos < 0 || nanos > 999'999'999) {
    return Value::Error("timestamp overflow");
  }
  return Value::Timestamp({seconds, static_cast<std::uint32_t>(nanos), 0});
}

Value DurationOf(const Value& message) {
  const std::int64_t seconds = FieldOf(message, "seconds", Value::Int(0)).AsInt();
  const std::int64_t nanos = FieldOf(message, "nanos", Value::Int(0)).AsInt();
  std::int64_t total = 0;
  if (__builtin_mul_overflow(seconds, std::int64_t{1'000'000'000}, &total) ||
      __builtin_add_overflow(total, nanos, &total)) {
    return Value::Error("duration overflow");
  }
  return Value::Duration(total);
}

// Numbers of JSON are doubles.
Value JsonValueOf(const Value& message) {
  const MapContent& fields = message.built_map();
  if (fields.count == 0) return {};
  const Value& value = fields.entries[0].value;
  const std::string_view field = fields.entries[0].key.AsText();
  if (field == "null_value") return {};
  if (field == "number_value" && value.Is(Kind::kInt)) {
    return Value::Double(static_cast<double>(value.AsInt()));
  }
  return value;
}

// Appends text or bytes as Go's prototext prints them.
void AppendProtoText(std::string_view text, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t escape = std::string_view("\n\r\t\"\\").find(c);
    if (escape != std::string_view::npos) {
      out += '\\';
      out += "nrt\"\\"[escape];
    } else if (byte < 0x20 || byte >= 0x7F) {
      out.append("\\x").append(1, kDigits[byte >> 4U]).append(1, kDigits[byte & 15U]);
    } else {
      out += c;
    }
  }
  out += '"';
}

// Kubernetes knows no message that an Any could hold, so that cel-go cannot make a value of it.
Value AnyOf(const Value& message, Arena& arena) {
  std::string text = "unsupported conversion to ref.Val: (*dynamicpb.Message)";
  const std::string_view url = FieldOf(message, "type_url", Value::String("")).AsText();
  const std::string_view value = FieldOf(message, "value", Value::Bytes("")).AsText();
  if (!url.empty()) AppendProtoText(url, text.append("type_url:"));
  if (!url.empty() && !value.empty()) text += ' ';
  if (!value.empty()) AppendProtoText(value, text.append("value:"));
  return Value::Error(arena.Copy(text));
}

}  // namespace

Value FinishMessage(const Value& message, Arena& arena) {
  std::string_view name = message.struct_type().name;
  if (!name.starts_with(kPrefix)) return message;
  name.remove_prefix(kPrefix.size());
  for (const Wrapper& wrapper : kWrappers) {
    if (wrapper.type == name) {
      return Wrapped(wrapper, FieldOf(message, "value", wrapper.empty), arena);
    }
  }
  if (name == "Timestamp") return TimestampOf(message);
  if (name == "Duration") return DurationOf(message);
  if (name == "Struct") {
    const Value empty = Value::Map(arena.Make(MapContent()));
    return FieldOf(message, "fields", empty);
  }
  if (name == "ListValue") return FieldOf(message, "values", Value::List({}));
  if (name == "Value") return JsonValueOf(message);
  if (name == "Any") return AnyOf(message, arena);
  return message;
}

}  // namespace apiserver::inline v0::cel
