#include <array>
#include <cstdint>
#include <cstdio>

#include "apiserver/meta/validation.h"

namespace apiserver::v0::meta {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Rune {
  std::uint32_t code = 0;
  std::string_view text;
};

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// The rune at the start of `text`, as Go's range over a string: U+FFFD and one byte where the text
// is not UTF-8.
Rune FirstRune(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, text.substr(0, 1)};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  const Rune invalid{0xFFFD, text.substr(0, 1)};
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return invalid;
  std::uint32_t code = lead & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if (!IsContinuation(text[i])) return invalid;
    code = (code << 6) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kSmallest.at(size) || code > 0x10FFFF || surrogate) return invalid;
  return {code, text.substr(0, size)};
}

// Go's unicode.IsPrint. Quote knows the table: what it leaves as it is can be printed.
bool IsPrint(const Rune& rune) {
  if (rune.code >= 0x20 && rune.code < 0x7F) return true;
  if (rune.code < 0xA1) return false;
  if (rune.code == 0xFFFD) return true;
  return field::Quote(rune.text) == "\"" + std::string(rune.text) + "\"";
}

}  // namespace

field::ErrorList ValidateFieldManager(std::string_view manager, const field::Path& path) {
  field::ErrorList errors;
  if (manager.size() > kFieldManagerBytesMax) {
    errors.TooLong(path, static_cast<long>(kFieldManagerBytesMax));
  }
  for (std::size_t i = 0; i < manager.size() && !errors.full();) {
    const Rune rune = FirstRune(manager.substr(i));
    if (!IsPrint(rune)) {
      std::array<char, 16> code{};
      (void)std::snprintf(code.data(), code.size(), "U+%04X", static_cast<unsigned>(rune.code));
      errors.Invalid(path, manager,
                     "invalid character " + std::string(code.data()) + " (at position " +
                         std::to_string(i) + ")");
    }
    i += rune.text.size();
  }
  return errors;
}

std::string FieldManagerOf(std::string_view user_agent) {
  const std::string_view product = user_agent.substr(0, user_agent.find('/'));
  std::string manager;
  for (std::size_t i = 0; i < product.size();) {
    const Rune rune = FirstRune(product.substr(i));
    i += rune.text.size();
    if (!IsPrint(rune)) continue;
    const std::string_view text = rune.code == 0xFFFD ? kReplacement : rune.text;
    if (manager.size() + text.size() > kFieldManagerBytesMax) break;
    manager += text;
  }
  return manager;
}

}  // namespace apiserver::v0::meta
