#include "server/requests/warning_header.h"

#include <string_view>

namespace apiserver::v0::server {

namespace {

// Cuts between characters: half of one would not be UTF-8.
std::string_view Cut(std::string_view text, std::size_t characters_max) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (starts && ++characters > characters_max) return text.substr(0, i);
  }
  return text;
}

std::size_t CharactersOf(const std::vector<rest::WarningPtr>& warnings) {
  std::size_t characters = 0;
  for (const rest::WarningPtr& warning : warnings) {
    if (!warning->header.empty()) characters += warning->characters;
  }
  return characters;
}

// Follows the truncation of endpoints/filters/warning.go: over the total limit each warning is cut,
// and later ones are dropped.
std::vector<std::string> CutHeaders(const std::vector<rest::WarningPtr>& warnings,
                                    const WarningLimits& limits) {
  std::vector<std::string> headers;
  std::size_t uncut = 0;
  std::size_t written = 0;
  for (const rest::WarningPtr& warning : warnings) {
    if (uncut > limits.total && written >= limits.total) break;
    if (warning->header.empty()) continue;
    uncut += warning->characters;
    const rest::Warning shown(std::string(Cut(warning->text, limits.each_if_cut)));
    written += shown.characters;
    headers.push_back(shown.header);
  }
  return headers;
}

}  // namespace

std::vector<std::string> WarningHeaders(const std::vector<rest::WarningPtr>& warnings,
                                        const WarningLimits& limits) {
  if (CharactersOf(warnings) > limits.total) return CutHeaders(warnings, limits);
  std::vector<std::string> headers;
  for (const rest::WarningPtr& warning : warnings) {
    if (!warning->header.empty()) headers.push_back(warning->header);
  }
  return headers;
}

}  // namespace apiserver::v0::server
