#include "apiserver/http/message.h"

#include <array>
#include <cstddef>

#include "http/tokens.h"
#include "text/percent.h"

namespace apiserver::v0::http {
namespace {

// The pieces of an object's answer: its type, its body in three where that shares the stored bytes,
// a line end.
constexpr std::size_t kUsualPieces = 5;

// Maps a token's characters to lower case, and all others to zero. One look-up checks and lowers a
// character, which counts: every header name of every HTTP/2 answer goes through it.
constexpr auto kLowerTokenChars = [] {
  std::array<char, 256> table{};
  for (const char c : std::string_view("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")) {
    table[static_cast<unsigned char>(c)] = c;
  }
  for (char c = 'A'; c <= 'Z'; ++c) {
    table[static_cast<unsigned char>(c)] = static_cast<char>(c + ('a' - 'A'));
  }
  return table;
}();

}  // namespace

bool HasToken(std::string_view value, std::string_view token) {
  while (!value.empty()) {
    const std::size_t comma = value.find(',');
    if (EqualIgnoreCase(Trim(value.substr(0, comma)), token)) return true;
    if (comma == std::string_view::npos) return false;
    value.remove_prefix(comma + 1);
  }
  return false;
}

std::string_view Trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Replaces line ends, so that no value can add a header of its own.
void AppendSafe(std::string& out, std::string_view value) {
  const std::size_t at = out.size();
  out.append(value);
  for (std::size_t i = at; i < out.size(); ++i) {
    if (out[i] == '\r' || out[i] == '\n' || out[i] == '\0') out[i] = ' ';
  }
}

bool IsToken(std::string_view name) {
  for (const char c : name) {
    if (kLowerTokenChars[static_cast<unsigned char>(c)] == 0) return false;
  }
  return !name.empty();
}

bool LowerToken(std::string_view name, std::span<char> out) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    out[i] = kLowerTokenChars[static_cast<unsigned char>(name[i])];
    if (out[i] == 0) return false;
  }
  return !name.empty();
}

// HTTP/2 has no upgrades: RFC 9113, 8.6.
bool Request::IsUpgrade() const {
  if (http_major != 1 || headers.Get("Upgrade").empty()) return false;
  for (const std::string_view value : headers.GetAll("Connection")) {
    if (HasToken(value, "upgrade")) return true;
  }
  return false;
}

Bytes::Bytes(std::string owned) { Append(std::move(owned)); }

Bytes::Bytes(std::shared_ptr<const void> owner, std::string_view piece) {
  Append(std::move(owner), piece);
}

void Bytes::Append(std::string owned) {
  if (owned.empty()) return;
  own_bytes_ += owned.size();
  auto text = std::make_shared<const std::string>(std::move(owned));
  const std::string_view view = *text;
  Append(std::move(text), view);
}

void Bytes::Append(std::shared_ptr<const void> owner, std::string_view piece) {
  if (piece.empty()) return;
  size_ += piece.size();
  if (pieces_.capacity() == 0) pieces_.reserve(kUsualPieces);
  pieces_.push_back({std::move(owner), piece});
}

std::string Bytes::ToString() const {
  std::string text;
  text.reserve(size_);
  for (const Piece& piece : pieces_) text.append(piece.text);
  return text;
}

// Drops a pair that cannot be decoded or holds a semicolon, as Go's url.ParseQuery does.
Query Query::Parse(std::string_view raw) {
  Query query;
  while (!raw.empty()) {
    const std::size_t end = raw.find('&');
    const std::string_view pair = raw.substr(0, end);
    raw.remove_prefix(end == std::string_view::npos ? raw.size() : end + 1);
    if (pair.empty() || pair.find(';') != std::string_view::npos) continue;
    const std::size_t equals = pair.find('=');
    auto key = text::PercentDecode(pair.substr(0, equals), true);
    auto value = text::PercentDecode(
        equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1), true);
    if (key && value) query.values_.emplace_back(std::move(*key), std::move(*value));
  }
  return query;
}

std::string_view Query::Get(std::string_view key) const {
  for (const auto& [name, value] : values_) {
    if (name == key) return value;
  }
  return {};
}

bool Query::Has(std::string_view key) const {
  for (const auto& [name, value] : values_) {
    if (name == key) return true;
  }
  return false;
}

std::vector<std::string_view> Query::GetAll(std::string_view key) const {
  std::vector<std::string_view> found;
  for (const auto& [name, value] : values_) {
    if (name == key) found.emplace_back(value);
  }
  return found;
}

std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  return text::PercentDecode(text, plus_is_space);
}

std::string PercentEncode(std::string_view text) { return text::PercentEncode(text); }

}  // namespace apiserver::v0::http
