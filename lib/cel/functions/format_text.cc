#include "cel/functions/format_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "cel/functions/common.h"
#include "cel/functions/english_number.h"
#include "cel/run/map.h"
#include "cel/run/time_text.h"
#include "text/ascii.h"
#include "text/hex.h"
#include "text/quote.h"
#include "text/utf8.h"

namespace apiserver::v0::cel::functions {
namespace {

using Kind = Value::Kind;

constexpr std::uint64_t kDefaultPrecision = 6;

std::string TypeName(const Value& value) { return std::string(Type(value.RuntimeType()).name()); }

// Prints Go's %.6f, which has no thousands separators.
std::string PlainDouble(double number) {
  if (!std::isfinite(number)) return FormatDouble(number);
  constexpr std::size_t kDigitsMax = 330;
  std::string text(kDigitsMax, '\0');
  const auto result = std::to_chars(text.data(), text.data() + text.size(), number,
                                    std::chars_format::fixed, kDefaultPrecision);
  text.resize(static_cast<std::size_t>(result.ptr - text.data()));
  return text;
}

// The integer of a value in a base. Negative numbers have a minus sign. nullopt: it is no integer.
std::optional<std::string> IntegerText(const Value& value, int base) {
  std::string text(66, '\0');
  char* const end = text.data() + text.size();
  std::to_chars_result result{};
  if (value.Is(Kind::kInt)) {
    result = std::to_chars(text.data(), end, value.AsInt(), base);
  } else if (value.Is(Kind::kUint)) {
    result = std::to_chars(text.data(), end, value.AsUint(), base);
  } else {
    return std::nullopt;
  }
  text.resize(static_cast<std::size_t>(result.ptr - text.data()));
  return text;
}

std::string Hex(std::string_view bytes) {
  std::string hex;
  text::AppendHex(bytes, hex);
  return hex;
}

// A list or map that is printed from `next` on.
struct OpenContainer {
  Value value;
  std::size_t next = 0;
  // The entries of a map by their printed keys.
  std::vector<std::pair<std::string, Value>> entries = {};
};

// Builds the result of one call.
class Formatter {
 public:
  explicit Formatter(CallContext& call) : call_(call) {}

  Value Format(std::string_view format, const Value& list);

 private:
  // Fail with a text, or because the result is too large; return false.
  bool Fail(std::string_view error);
  bool Append(std::string_view text);

  bool WriteClause(const FormatClause& clause, const Value& value);
  // Writes %s.
  bool WriteText(const Value& value);
  bool WriteScalar(const Value& value);
  // Writes a value within a list or map, as a literal of CEL.
  bool WriteNested(const Value& value);
  bool WriteContainer(const Value& value);
  bool Open(const Value& value);
  bool WriteNextPart(OpenContainer& container);
  std::optional<std::string> PrintKey(const Value& key);

  CallContext& call_;
  std::string out_;
  std::vector<OpenContainer> open_;
  std::optional<Value> failure_;
};

bool Formatter::Fail(std::string_view error) {
  failure_ = call_.Error("error during formatting: " + std::string(error));
  return false;
}

bool Formatter::Append(std::string_view text) {
  // The texts of many values cost no more than the format.
  if (!call_.CanBuild(out_.size() + text.size()) || !call_.arena().TakeWork(text.size())) {
    failure_ = call_.OverLimit();
    return false;
  }
  out_ += text;
  return true;
}

Value Formatter::Format(std::string_view format, const Value& list) {
  std::uint32_t index = 0;
  while (!format.empty()) {
    const std::size_t plain = std::min(format.find('%'), format.size());
    if (!Append(format.substr(0, plain))) return *failure_;
    format.remove_prefix(plain);
    if (format.empty()) break;
    format.remove_prefix(1);
    if (format.starts_with('%')) {
      if (!Append("%")) return *failure_;
      format.remove_prefix(1);
      continue;
    }
    if (index >= list.size()) {
      return call_.Error("index " + std::to_string(index) + " out of range");
    }
    if (format.empty()) return Value::Error("unexpected end of string");
    std::string error;
    const std::optional<FormatClause> clause = ParseFormatClause(format, error);
    if (!clause.has_value()) return call_.Error(error);
    if (!WriteClause(*clause, list.Item(index++, call_.arena()))) return *failure_;
    format.remove_prefix(clause->bytes);
  }
  return MakeString(call_, out_);
}

bool Formatter::WriteClause(const FormatClause& clause, const Value& value) {
  // %f and %e take these words for numbers.
  const auto number = [&value]() -> std::optional<double> {
    if (value.Is(Kind::kDouble)) return value.AsDouble();
    if (!value.is_string()) return std::nullopt;
    if (value.AsText() == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (value.AsText() == "Infinity") return std::numeric_limits<double>::infinity();
    if (value.AsText() == "-Infinity") return -std::numeric_limits<double>::infinity();
    return std::nullopt;
  };
  const std::uint64_t precision = clause.precision.value_or(kDefaultPrecision);
  std::optional<std::string> text;
  switch (clause.verb) {
    case 's':
      return WriteText(value);
    case 'f':
      if (const std::optional<double> read = number()) text = EnglishFixed(*read, precision);
      break;
    case 'e':
      if (const std::optional<double> read = number()) text = EnglishScientific(*read, precision);
      break;
    case 'd':
      text = IntegerText(value, 10);
      break;
    case 'o':
      text = IntegerText(value, 8);
      break;
    case 'b':
      text = value.is_bool() ? (value.AsBool() ? "1" : "0") : IntegerText(value, 2);
      break;
    default:
      text = value.is_string() || value.Is(Kind::kBytes) ? Hex(value.AsText())
                                                         : IntegerText(value, 16);
      if (text.has_value() && clause.verb == 'X') {
        std::ranges::transform(*text, text->begin(), [](char c) {
          return c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
        });
      }
      break;
  }
  return text.has_value() ? Append(*text) : Fail(WrongTypeOfClause(clause.verb, TypeName(value)));
}

bool Formatter::WriteText(const Value& value) {
  switch (value.kind()) {
    case Kind::kList:
    case Kind::kMap:
      return WriteContainer(value);
    case Kind::kTimestamp:
      return Append(FormatRfc3339(value.AsTime()));
    case Kind::kDuration:
      return Append(FormatSeconds(value.AsInt()));
    case Kind::kDouble:
      return Append(FormatDouble(value.AsDouble()));
    default:
      return WriteScalar(value);
  }
}

// Writes a value that looks the same in and outside of lists but for quotes.
bool Formatter::WriteScalar(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return Append("null");
    case Kind::kBool:
      return Append(value.AsBool() ? "true" : "false");
    case Kind::kInt:
    case Kind::kUint:
      return Append(*IntegerText(value, 10));
    case Kind::kString:
      return Append(value.AsText());
    case Kind::kBytes:
      if (!text::ValidUtf8(value.AsText())) {
        return Fail(
            "could not convert argument \"invalid UTF-8 in bytes, cannot convert to string\" to "
            "string");
      }
      return Append(value.AsText());
    case Kind::kType:
      return Append(Type(value.AsType()).name());
    default:
      return Fail(WrongTypeOfClause('s', TypeName(value)));
  }
}

bool Formatter::WriteNested(const Value& value) {
  switch (value.kind()) {
    case Kind::kTimestamp:
      return Append("timestamp(" + text::Quote(FormatRfc3339(value.AsTime())) + ")");
    case Kind::kDuration:
      return Append("duration(" + text::Quote(FormatSeconds(value.AsInt())) + ")");
    case Kind::kDouble: {
      const std::string number = PlainDouble(value.AsDouble());
      return Append(std::isfinite(value.AsDouble()) ? number : text::Quote(number));
    }
    case Kind::kString:
      return Append(text::Quote(value.AsText()));
    case Kind::kBytes:
      if (!text::ValidUtf8(value.AsText())) return WriteScalar(value);
      return Append("b" + text::Quote(value.AsText()));
    case Kind::kNull:
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kType:
      return WriteScalar(value);
    default:
      return Fail("no formatting function for " + TypeName(value));
  }
}

bool Formatter::WriteContainer(const Value& value) {
  if (!Open(value)) return false;
  while (!open_.empty()) {
    OpenContainer& last = open_.back();
    if (last.next < last.value.size()) {
      if (!WriteNextPart(last)) return false;
      continue;
    }
    const bool is_list = last.value.is_list();
    open_.pop_back();
    if (!Append(is_list ? "]" : "}")) return false;
  }
  return true;
}

// Begins a list or map; a map is sorted by its printed keys.
bool Formatter::Open(const Value& value) {
  OpenContainer container{.value = value};
  if (value.is_map()) {
    for (std::uint32_t i = 0; i < value.size(); ++i) {
      const std::optional<Value> key = MapKeyAt(value, i, call_.arena());
      if (!key.has_value()) continue;
      std::optional<std::string> printed = PrintKey(*key);
      if (!printed.has_value()) {
        return Fail("no formatting function for map key of type " + TypeName(*key));
      }
      container.entries.emplace_back(*std::move(printed), MapValueAt(value, i, call_.arena()));
    }
    std::ranges::stable_sort(container.entries, {},
                             [](const auto& entry) -> const std::string& { return entry.first; });
  }
  open_.push_back(std::move(container));
  return Append(value.is_list() ? "[" : "{");
}

bool Formatter::WriteNextPart(OpenContainer& container) {
  if (container.value.is_map() && container.next >= container.entries.size()) {
    // The others are members that expressions do not see.
    container.next = container.value.size();
    return true;
  }
  const std::size_t index = container.next++;
  if (index > 0 && !Append(", ")) return false;
  Value part;
  if (container.value.is_list()) {
    part = container.value.Item(index, call_.arena());
  } else {
    part = container.entries[index].second;
    if (!Append(container.entries[index].first + ":")) return false;
  }
  if (part.is_error()) return Fail("no formatting function for error");
  return part.is_list() || part.is_map() ? Open(part) : WriteNested(part);
}

// nullopt: values of this type are no keys in Go's eyes.
std::optional<std::string> Formatter::PrintKey(const Value& key) {
  if (key.is_string()) return text::Quote(key.AsText());
  if (key.is_bool()) return key.AsBool() ? "true" : "false";
  return IntegerText(key, 10);
}

// Parses the digits behind the point.
std::optional<std::uint64_t> ParsePrecision(std::string_view digits, std::string& error) {
  std::int64_t precision = 0;
  const char* const end = digits.data() + digits.size();
  const auto [read_to, code] = std::from_chars(digits.data(), end, precision);
  if (code == std::errc() && read_to == end) return static_cast<std::uint64_t>(precision);
  error = "error while converting precision to integer: strconv.Atoi: parsing " +
          text::Quote(digits) + ": " + (digits.empty() ? "invalid syntax" : "value out of range");
  return std::nullopt;
}

}  // namespace

std::optional<FormatClause> ParseFormatClause(std::string_view rest, std::string& error) {
  constexpr std::string_view kWrong = "could not parse formatting clause: ";
  FormatClause clause;
  std::size_t at = 0;
  if (rest[0] == '.') {
    const auto* const end = std::ranges::find_if_not(rest.substr(1), text::IsDigit);
    at = static_cast<std::size_t>(end - rest.begin());
    std::string why = "could not find end of precision specifier";
    if (at < rest.size()) clause.precision = ParsePrecision(rest.substr(1, at - 1), why);
    if (!clause.precision.has_value()) {
      error.append(kWrong).append("error while parsing precision: ").append(why);
      return std::nullopt;
    }
  }
  clause.verb = rest[at];
  clause.bytes = at + 1;
  if (std::string_view("sdfebxXo").find(clause.verb) != std::string_view::npos) return clause;
  error.append(kWrong).append("unrecognized formatting clause \"");
  // As Go, which takes one byte for the character.
  text::AppendRune(static_cast<unsigned char>(clause.verb), error);
  error += '"';
  return std::nullopt;
}

std::string WrongTypeOfClause(char verb, std::string_view type) {
  std::string error;
  switch (verb) {
    case 'd':
      error = "decimal clause can only be used on integers";
      break;
    case 'f':
      error = "fixed-point clause can only be used on doubles";
      break;
    case 'e':
      error = "scientific clause can only be used on doubles";
      break;
    case 'b':
      error = "only integers and bools can be formatted as binary";
      break;
    case 'o':
      error = "octal clause can only be used on integers";
      break;
    case 'x':
    case 'X':
      error = "only integers, byte buffers, and strings can be formatted as hex";
      break;
    default:
      error =
          "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
          "types, durations, and timestamps";
      break;
  }
  return error.append(", was given ").append(type);
}

Value FormatString(CallContext& call, std::span<const Value> arguments) {
  return Formatter(call).Format(arguments[0].AsText(), arguments[1]);
}

}  // namespace apiserver::v0::cel::functions
