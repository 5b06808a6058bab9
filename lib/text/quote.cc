#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>

#include "apiserver/base/field_path.h"

namespace apiserver::v0::field {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};
constexpr Range kPrintable[] = {
#include "base/printable.inc"
};

bool IsPrintable(std::uint32_t code_point) {
  if (code_point < 0x7f) return code_point >= 0x20;
  const auto* range = std::partition_point(std::begin(kPrintable), std::end(kPrintable),
                                           [&](const Range& r) { return r.last < code_point; });
  return range != std::end(kPrintable) && range->first <= code_point;
}

struct CodePoint {
  std::uint32_t value;
  std::size_t length;  // In bytes; 0: the first byte begins no valid sequence.
};

CodePoint Decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return {0, 0};
  std::uint32_t value = first & (0xffU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {0, 0};
    value = (value << 6) | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLowest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kLowest.at(length) || surrogate || value > 0x10ffff) return {0, 0};
  return {value, length};
}

void AppendEscaped(std::string& out, std::uint32_t code_point) {
  constexpr std::string_view kShort = "\a\b\f\n\r\t\v\\\"";
  constexpr std::string_view kLetters = "abfnrtv\\\"";
  if (code_point < 0x80) {
    const auto at = kShort.find(static_cast<char>(code_point));
    if (at != std::string_view::npos) {
      out += '\\';
      out += kLetters[at];
      return;
    }
  }
  const char* format = "\\U{:08x}";
  if (code_point < 0x20 || code_point == 0x7f) {
    format = "\\x{:02x}";
  } else if (code_point < 0x10000) {
    format = "\\u{:04x}";
  }
  fmt::format_to(std::back_inserter(out), fmt::runtime(format), code_point);
}

}  // namespace

std::string Quote(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  out += '"';
  while (!text.empty()) {
    const CodePoint next = Decode(text);
    if (next.length == 0) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<std::uint8_t>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    if (next.value == '"' || next.value == '\\' || !IsPrintable(next.value)) {
      AppendEscaped(out, next.value);
    } else {
      out.append(text.substr(0, next.length));
    }
    text.remove_prefix(next.length);
  }
  out += '"';
  return out;
}

}  // namespace apiserver::v0::field
