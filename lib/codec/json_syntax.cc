#include "codec/json_syntax.h"

#include <array>
#include <vector>

#include "text/ascii.h"
#include "text/hex.h"

namespace apiserver::v0::codec {
namespace {

constexpr std::string_view kUnexpectedEnd = "unexpected end of JSON input";

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// As Go's quoteChar: the byte taken for a code point, quoted as strconv.Quote does.
std::string QuoteByte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  constexpr std::string_view kNamed = "abtnvfr";
  std::string out = "'";
  if (c == '\'') {
    out += "\\'";
  } else if (c == '\\') {
    out += "\\\\";
  } else if (byte >= 7 && byte <= 13) {
    out += '\\';
    out += kNamed[byte - 7U];
  } else if (byte < 0x20 || byte == 0x7F) {
    out += {'\\', 'x', text::HexDigit(byte >> 4U), text::HexDigit(byte)};
  } else if (byte < 0x80) {
    out += c;
  } else if (byte <= 0xA0 || byte == 0xAD) {
    out += {'\\', 'u', '0', '0', text::HexDigit(byte >> 4U), text::HexDigit(byte)};
  } else {
    out += static_cast<char>(0xC0U | (byte >> 6U));
    out += static_cast<char>(0x80U | (byte & 0x3FU));
  }
  return out + "'";
}

// Walks the text once. Every method returns false when it has set the error.
class Scanner {
 public:
  Scanner(std::string_view text, std::size_t depth_max) : text_(text), depth_max_(depth_max) {}

  std::string Run() {
    if (!Values()) return error_;
    SkipSpace();
    if (at_ < text_.size()) Fail("after top-level value");
    return error_;
  }

 private:
  // Walks one value with everything in it.
  bool Values() {
    do {
      bool opened = false;
      if (!Value(&opened)) return false;
      if (opened) continue;
      if (!CloseAndNext()) return false;
    } while (!open_.empty());
    return true;
  }

  // Walks a scalar, an empty container, or the beginning of a container up to its first value.
  bool Value(bool* opened) {
    SkipSpace();
    if (at_ >= text_.size()) return End();
    const char c = text_[at_];
    if (c == '"') return String();
    if (c == '-' || text::IsDigit(c)) return Number();
    if (c == 't') return Literal("true");
    if (c == 'f') return Literal("false");
    if (c == 'n') return Literal("null");
    if (c != '{' && c != '[') return Fail("looking for beginning of value");
    ++at_;
    open_.push_back(c);
    if (open_.size() > depth_max_) {
      error_ = "exceeded max depth";
      return false;
    }
    SkipSpace();
    if (at_ < text_.size() && text_[at_] == (c == '{' ? '}' : ']')) return true;
    *opened = true;
    return c == '[' || Key();
  }

  // After a value: closes the containers that end here, and goes to the next value.
  bool CloseAndNext() {
    while (!open_.empty()) {
      SkipSpace();
      if (at_ >= text_.size()) return End();
      const char c = text_[at_];
      const bool object = open_.back() == '{';
      if (c == (object ? '}' : ']')) {
        ++at_;
        open_.pop_back();
        continue;
      }
      if (c != ',') return Fail(object ? "after object key:value pair" : "after array element");
      ++at_;
      return !object || Key();
    }
    return true;
  }

  bool Key() {
    SkipSpace();
    if (at_ >= text_.size()) return End();
    if (text_[at_] != '"') return Fail("looking for beginning of object key string");
    if (!String()) return false;
    SkipSpace();
    if (at_ >= text_.size()) return End();
    if (text_[at_] != ':') return Fail("after object key");
    ++at_;
    return true;
  }

  bool String() {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return Fail("in string literal");
      if (c == '\\' && !Escape()) return false;
    }
    return End();
  }

  bool Escape() {
    if (++at_ >= text_.size()) return Cut("in string escape code");
    if (text_[at_] != 'u') {
      constexpr std::string_view kEscapes = "bfnrt\\/\"";
      if (kEscapes.find(text_[at_]) != std::string_view::npos) return true;
      return Fail("in string escape code");
    }
    for (int i = 0; i < 4; ++i) {
      if (++at_ >= text_.size()) return Cut("in \\u hexadecimal character escape");
      if (!text::IsHexDigit(text_[at_])) return Fail("in \\u hexadecimal character escape");
    }
    return true;
  }

  bool Number() {
    if (text_[at_] == '-' && ++at_ >= text_.size()) return Cut("in numeric literal");
    if (!text::IsDigit(text_[at_])) return Fail("in numeric literal");
    if (text_[at_] == '0') {
      ++at_;
    } else {
      Digits();
    }
    if (at_ < text_.size() && text_[at_] == '.') {
      if (++at_ >= text_.size()) return Cut("after decimal point in numeric literal");
      if (!text::IsDigit(text_[at_])) return Fail("after decimal point in numeric literal");
      Digits();
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (at_ >= text_.size()) return Cut("in exponent of numeric literal");
      if (!text::IsDigit(text_[at_])) return Fail("in exponent of numeric literal");
      Digits();
    }
    return true;
  }

  void Digits() {
    while (at_ < text_.size() && text::IsDigit(text_[at_])) ++at_;
  }

  bool Literal(std::string_view word) {
    for (const char expected : word) {
      if (at_ >= text_.size() || text_[at_] != expected) {
        return Cut("in literal " + std::string(word) + " (expecting '" + expected + "')");
      }
      ++at_;
    }
    return true;
  }

  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }

  bool End() {
    error_ = kUnexpectedEnd;
    return false;
  }
  // Within a token Go reads the end of the text as a space.
  bool Cut(std::string_view where) { return Fail(where, at_ < text_.size() ? text_[at_] : ' '); }
  bool Fail(std::string_view where) { return Fail(where, text_[at_]); }
  bool Fail(std::string_view where, char c) {
    error_ = "invalid character " + QuoteByte(c) + " " + std::string(where);
    return false;
  }

  std::string_view text_;
  std::size_t depth_max_;
  std::size_t at_ = 0;
  std::vector<char> open_;
  std::string error_;
};

}  // namespace

std::string JsonSyntaxError(std::string_view text, std::size_t depth_max) {
  return Scanner(text, depth_max).Run();
}

std::size_t JsonStringLength(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return std::string_view::npos;
}

}  // namespace apiserver::v0::codec
