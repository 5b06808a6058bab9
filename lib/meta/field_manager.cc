#include <array>
#include <cstdio>

#include "apiserver/meta/validation.h"
#include "text/quote.h"
#include "text/utf8.h"

namespace apiserver::v0::meta {

field::ErrorList ValidateFieldManager(std::string_view manager, const field::Path& path) {
  field::ErrorList errors;
  if (manager.size() > kFieldManagerBytesMax) {
    errors.TooLong(path, static_cast<long>(kFieldManagerBytesMax));
  }
  for (std::size_t i = 0; i < manager.size() && !errors.full();) {
    const text::Rune rune = text::FirstRune(manager.substr(i));
    if (!text::IsPrint(rune.code)) {
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

// Follows prefixFromUserAgent in endpoints/handlers/create.go: what is printed of the product's
// name, as far as a manager's name may be long.
std::string FieldManagerOf(std::string_view user_agent) {
  const std::string_view product = user_agent.substr(0, user_agent.find('/'));
  std::string manager;
  for (std::size_t i = 0; i < product.size();) {
    const text::Rune rune = text::FirstRune(product.substr(i));
    i += rune.text.size();
    if (!text::IsPrint(rune.code)) continue;
    const std::size_t size = manager.size();
    text::AppendRune(rune.code, manager);
    if (manager.size() > kFieldManagerBytesMax) {
      manager.resize(size);
      break;
    }
  }
  return manager;
}

}  // namespace apiserver::v0::meta
