#include "server/warning_header.h"

#include <cstddef>

namespace apiserver::inline v0::server {

namespace {

constexpr std::size_t kTotalCharactersMax = 4096;
constexpr std::size_t kCharactersMaxWhenCut = 256;

bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

std::size_t Characters(const std::string& text) {
  std::size_t count = 0;
  for (char c : text) count += StartsCharacter(c) ? 1 : 0;
  return count;
}

std::string Header(const std::string& text, std::size_t characters_max) {
  std::string header = "299 - \"";
  std::size_t characters = 0;
  for (char c : text) {
    if (StartsCharacter(c) && ++characters > characters_max) break;
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) continue;
    if (c == '"' || c == '\\') header += '\\';
    header += c;
  }
  return header + '"';
}

}  // namespace

std::vector<std::string> WarningHeaders(const std::vector<std::string>& texts) {
  std::size_t total = 0;
  for (const std::string& text : texts) total += Characters(text);
  const std::size_t each =
      total > kTotalCharactersMax ? kCharactersMaxWhenCut : static_cast<std::size_t>(-1);
  std::vector<std::string> headers;
  std::size_t sent = 0;
  for (const std::string& text : texts) {
    headers.push_back(Header(text, each));
    sent += headers.back().size();
    if (sent > 2 * kTotalCharactersMax) break;
  }
  return headers;
}

}  // namespace apiserver::inline v0::server
