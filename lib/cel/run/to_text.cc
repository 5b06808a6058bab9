#include "apiserver/cel/to_text.h"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/run/map.h"
#include "cel/run/time_text.h"

namespace apiserver::v0::cel {
namespace {

using Kind = Value::Kind;

constexpr std::string_view kHexDigits = "0123456789abcdef";

// Quotes as JSON needs it and no more: <, > and & stay readable.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (c == '\t') {
      quoted += "\\t";
    } else if (byte < ' ') {
      quoted += "\\u00";
      quoted += kHexDigits[byte / 16];
      quoted += kHexDigits[byte % 16];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string CallOf(std::string_view function, std::string_view argument) {
  return std::string(function) + "(" + Quoted(argument) + ")";
}

// A double's text reads back as a double: 2.0, not 2.
std::string DoubleText(double number) {
  std::string text = FormatDouble(number);
  if (!std::isfinite(number)) return CallOf("double", text);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::string BytesText(std::string_view bytes) {
  std::string text = "b\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (byte >= ' ' && byte <= '~') {
      text += c;
    } else {
      text += "\\x";
      text += kHexDigits[byte / 16];
      text += kHexDigits[byte % 16];
    }
  }
  return text + '"';
}

std::string ScalarText(const Value& value) {
  switch (value.kind()) {
    case Kind::kBool:
      return value.AsBool() ? "true" : "false";
    case Kind::kInt:
      return std::to_string(value.AsInt());
    case Kind::kUint:
      return std::to_string(value.AsUint()) + "u";
    case Kind::kDouble:
      return DoubleText(value.AsDouble());
    case Kind::kString:
      return Quoted(value.AsText());
    case Kind::kBytes:
      return BytesText(value.AsText());
    case Kind::kTimestamp:
      return CallOf("timestamp", FormatRfc3339(value.AsTime()));
    case Kind::kDuration:
      return CallOf("duration", FormatSeconds(value.AsInt()));
    case Kind::kType:
      return std::string(Type(value.AsType()).name());
    case Kind::kOpaque:
      return "<" + std::string(Type(*value.opaque_kind().type).name()) + ">";
    case Kind::kError:
      return "<error: " + std::string(value.AsText()) + ">";
    default:
      return "null";
  }
}

// Prints containers with a stack of those that are open.
class Printer {
 public:
  explicit Printer(Arena& arena) : arena_(arena) {}

  std::string Print(const Value& value) {
    Begin(value);
    while (!open_.empty()) {
      if (open_.back().next < CountOf(open_.back().value)) {
        Next();
      } else {
        text_ += CloserOf(open_.back().value);
        open_.pop_back();
      }
    }
    return std::move(text_);
  }

 private:
  struct Open {
    Value value;
    std::size_t next = 0;
    bool any = false;  // Something of it was printed.
  };

  static std::size_t CountOf(const Value& value) {
    return value.Is(Kind::kOptional) ? 1 : value.size();
  }
  static char CloserOf(const Value& value) {
    if (value.Is(Kind::kOptional)) return ')';
    return value.is_list() ? ']' : '}';
  }

  // Prints a scalar, or the beginning of a container.
  void Begin(const Value& value) {
    if (value.Is(Kind::kOptional) && value.AsOptional() == nullptr) {
      text_ += "optional.none()";
    } else if (value.Is(Kind::kOptional)) {
      text_ += "optional.of(";
      open_.push_back({value});
    } else if (value.is_list()) {
      text_ += '[';
      open_.push_back({value});
    } else if (value.is_map() || value.Is(Kind::kStruct)) {
      if (value.Is(Kind::kStruct)) text_ += Type(value.struct_type()).name();
      text_ += '{';
      open_.push_back({value});
    } else {
      text_ += ScalarText(value);
    }
  }

  // Prints the next part of the innermost open container.
  void Next() {
    // Begin() may move open_.
    const Value container = open_.back().value;
    const std::size_t index = open_.back().next++;
    if (container.Is(Kind::kOptional)) return Begin(*container.AsOptional());
    if (container.is_list()) {
      Separate();
      return Begin(container.Item(index, arena_));
    }
    if (container.Is(Kind::kStruct)) {
      const MapEntry& field = container.built_map().entries[index];
      Separate();
      text_ += field.key.AsText();
      text_ += ": ";
      return Begin(field.value);
    }
    const std::optional<Value> key = MapKeyAt(container, index, arena_);
    if (!key.has_value()) return;
    // Data may have members that its schema makes absent. Built maps may have keys that no key is
    // equal to, as lists.
    const std::optional<Value> value = container.is_data() ? FindInMap(container, *key, arena_)
                                                           : MapValueAt(container, index, arena_);
    if (!value.has_value()) return;
    Separate();
    text_ += key->is_list() || key->is_map() ? ToText(*key, arena_) : ScalarText(*key);
    text_ += ": ";
    Begin(*value);
  }

  void Separate() {
    if (open_.back().any) text_ += ", ";
    open_.back().any = true;
  }

  Arena& arena_;
  std::string text_;
  std::vector<Open> open_;
};

}  // namespace

std::string ToText(const Value& value, Arena& arena) { return Printer(arena).Print(value); }

}  // namespace apiserver::v0::cel
