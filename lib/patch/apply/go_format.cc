#include "patch/apply/go_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <vector>

#include "codec/ascii.h"
#include "codec/base64.h"
#include "codec/utf8.h"

namespace apiserver::inline v0::patch::apply {

namespace {

using runtime::Member;
using runtime::Value;

// The shortest digits that give the number back, and the power of ten of the first one.
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

Decimal DecimalOf(double number) {
  std::array<char, 32> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific);
  const std::string_view all(text.data(), static_cast<std::size_t>(end.ptr - text.data()));
  Decimal decimal;
  const std::size_t e = all.find('e');
  for (const char c : all.substr(0, e)) {
    if (c == '-') decimal.negative = true;
    if (c >= '0' && c <= '9') decimal.digits += c;
  }
  // from_chars knows no plus sign.
  const std::string_view exponent = all.substr(all[e + 1] == '+' ? e + 2 : e + 1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), decimal.exponent);
  return decimal;
}

void AppendScientific(const Decimal& decimal, std::string& out) {
  out += decimal.digits[0];
  if (decimal.digits.size() > 1) out.append(".").append(decimal.digits, 1);
  out.append("e").append(decimal.exponent < 0 ? "-" : "+");
  const std::string exponent = std::to_string(std::abs(decimal.exponent));
  if (exponent.size() < 2) out += '0';
  out += exponent;
}

void AppendFixed(const Decimal& decimal, std::string& out) {
  const int size = static_cast<int>(decimal.digits.size());
  if (decimal.exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-decimal.exponent - 1), '0').append(decimal.digits);
    return;
  }
  const int whole = decimal.exponent + 1;
  if (whole >= size) {
    out.append(decimal.digits).append(static_cast<std::size_t>(whole - size), '0');
    return;
  }
  const auto point = static_cast<std::size_t>(whole);
  out.append(decimal.digits, 0, point).append(".").append(decimal.digits, point);
}

bool AppendNotFinite(double number, std::string& out) {
  if (std::isfinite(number)) return false;
  out += std::isnan(number) ? "NaN" : number < 0 ? "-Inf" : "+Inf";
  return true;
}

// Whether Go's strconv.IsPrint says so, but for code points that are not assigned.
bool IsPrint(std::uint32_t rune) {
  if (rune < 0x7F) return rune >= 0x20;
  if (rune < 0xA1 || rune == 0xAD) return false;
  if (rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200F)) return false;
  if ((rune >= 0x2028 && rune <= 0x202F) || (rune >= 0x205F && rune <= 0x206F)) return false;
  if (rune == 0x3000 || rune == 0xFEFF || (rune >= 0xE000 && rune <= 0xF8FF)) return false;
  if (rune >= 0xFFF0 && rune <= 0xFFFB) return false;
  return (rune & 0xFFFEU) != 0xFFFEU && rune < 0xE0000;
}

std::uint32_t RuneOf(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first;
  std::uint32_t rune = first & (0xFFU >> (sequence.size() + 1));
  for (const char c : sequence.substr(1)) {
    rune = (rune << 6U) | (static_cast<unsigned char>(c) & 0x3FU);
  }
  return rune;
}

void AppendHex(std::uint32_t number, int digits, std::string& out) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    out += codec::HexDigit((number >> static_cast<unsigned>(shift)) & 0xFU);
  }
}

void AppendEscaped(std::uint32_t rune, std::string& out) {
  constexpr std::string_view kNamed = "abtnvfr";  // From 7 on.
  if (rune >= 7 && rune <= 13) {
    out.append("\\").push_back(kNamed[rune - 7]);
  } else if (rune < 0x80) {
    out += "\\x";
    AppendHex(rune, 2, out);
  } else if (rune < 0x10000) {
    out += "\\u";
    AppendHex(rune, 4, out);
  } else {
    out += "\\U";
    AppendHex(rune, 8, out);
  }
}

// Prints a value as fmt does, as deep and as long as a message is readable.
class Printer {
 public:
  Printer(bool syntax, std::string& out) : syntax_(syntax), out_(out) {}

  void Print(const Value& value, int depth) {
    if (out_.size() > kBytesMax || depth > kDepthMax) {
      if (!out_.ends_with("...")) out_ += "...";
      return;
    }
    switch (value.type()) {
      case Value::Type::kNull:
        out_ += syntax_ ? "interface {}(nil)" : "<nil>";
        return;
      case Value::Type::kBool:
        out_ += value.AsBool() ? "true" : "false";
        return;
      case Value::Type::kInt:
        out_ += std::to_string(value.AsInt());
        return;
      case Value::Type::kDouble:
        AppendGoFloat(value.AsDouble(), out_);
        return;
      case Value::Type::kList:
        PrintList(value, depth);
        return;
      case Value::Type::kMap:
        PrintMap(value, depth);
        return;
      case Value::Type::kBytes: {
        std::string text;
        codec::AppendBase64(value.AsString(), text);
        PrintText(text);
        return;
      }
      case Value::Type::kString:
      case Value::Type::kRaw:
        PrintText(value.AsString());
    }
  }

 private:
  static constexpr std::size_t kBytesMax = 8 << 10;
  static constexpr int kDepthMax = 64;

  void PrintText(std::string_view text) {
    const std::string_view shown = text.substr(0, kBytesMax);
    if (syntax_) {
      AppendGoQuoted(shown, out_);
    } else {
      out_ += shown;
    }
  }

  void PrintList(const Value& list, int depth) {
    out_ += syntax_ ? "[]interface {}{" : "[";
    for (std::size_t i = 0; i < list.size() && out_.size() <= kBytesMax; ++i) {
      if (i != 0) out_ += syntax_ ? ", " : " ";
      Print(list.items()[i], depth + 1);
    }
    out_ += syntax_ ? "}" : "]";
  }

  void PrintMap(const Value& map, int depth) {
    std::vector<const Member*> members;
    for (const Member& member : map.members()) members.push_back(&member);
    std::sort(members.begin(), members.end(),
              [](const Member* a, const Member* b) { return a->key < b->key; });
    out_ += syntax_ ? "map[string]interface {}{" : "map[";
    for (std::size_t i = 0; i < members.size() && out_.size() <= kBytesMax; ++i) {
      if (i != 0) out_ += syntax_ ? ", " : " ";
      PrintText(members[i]->key);
      out_ += ':';
      Print(members[i]->value, depth + 1);
    }
    out_ += syntax_ ? "}" : "]";
  }

  bool syntax_;
  std::string& out_;
};

}  // namespace

void AppendGoQuoted(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const std::size_t length = codec::Utf8SequenceLength(text);
    if (length == 0) {
      out += "\\x";
      AppendHex(static_cast<unsigned char>(text[0]), 2, out);
      text.remove_prefix(1);
      continue;
    }
    const std::string_view sequence = text.substr(0, length);
    const std::uint32_t rune = RuneOf(sequence);
    if (rune == '"' || rune == '\\') {
      out.append("\\").append(sequence);
    } else if (IsPrint(rune)) {
      out += sequence;
    } else {
      AppendEscaped(rune, out);
    }
    text.remove_prefix(length);
  }
  out += '"';
}

void AppendGoFloat(double number, std::string& out) {
  if (AppendNotFinite(number, out)) return;
  const Decimal decimal = DecimalOf(number);
  if (decimal.negative) out += '-';
  // strconv's %g with the shortest precision.
  if (decimal.exponent < -4 || decimal.exponent >= 6) {
    AppendScientific(decimal, out);
  } else {
    AppendFixed(decimal, out);
  }
}

void AppendJsonFloat(double number, std::string& out) {
  if (AppendNotFinite(number, out)) return;
  const Decimal decimal = DecimalOf(number);
  if (decimal.negative) out += '-';
  const double size = std::abs(number);
  if (size != 0 && (size < 1e-6 || size >= 1e21)) {
    AppendScientific(decimal, out);
  } else {
    AppendFixed(decimal, out);
  }
}

std::string_view GoTypeName(const Value& value) {
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
    case Value::Type::kString:
    case Value::Type::kRaw:
    case Value::Type::kBytes:
      return "string";
  }
  return "string";
}

std::string GoValue(const Value& value) {
  std::string out;
  Printer(/*syntax=*/false, out).Print(value, 0);
  return out;
}

std::string GoSyntax(const Value& value) {
  std::string out;
  Printer(/*syntax=*/true, out).Print(value, 0);
  return out;
}

}  // namespace apiserver::inline v0::patch::apply
