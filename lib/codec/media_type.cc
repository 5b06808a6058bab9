#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>

#include "apiserver/codec/codec.h"

namespace apiserver::v0::codec {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"application/json", "application/yaml",
                                                    "application/vnd.kubernetes.protobuf",
                                                    "application/cbor"};

constexpr std::string_view kSpaces = " \t\n\v\f\r";
// RFC 2045, besides letters and digits.
constexpr std::string_view kTokenMarks = "!#$%&'*+-.^_`{|}~";
constexpr std::string_view kSpecials = "()<>@,;:\\\"/[]?=";

std::string_view TrimLeft(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
  return text;
}

std::string_view Trim(std::string_view text) {
  text = TrimLeft(text);
  return text.substr(0, text.find_last_not_of(kSpaces) + 1);
}

bool IsTokenChar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         kTokenMarks.find(c) != std::string_view::npos;
}

bool Take(char c, std::string_view& text) {
  text = TrimLeft(text);
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// Returns the token at the front of `text`; empty: there is none.
std::string_view TakeToken(std::string_view& text) {
  const auto end =
      static_cast<std::size_t>(std::ranges::find_if_not(text, IsTokenChar) - text.begin());
  const std::string_view token = text.substr(0, end);
  text.remove_prefix(end);
  return token;
}

// Reads a quoted string. nullopt: it is not closed.
std::optional<std::string> TakeQuoted(std::string_view& text) {
  std::string value;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return value;
    }
    if (text[i] == '\r' || text[i] == '\n') break;
    // Other backslashes are those of Windows paths, as in Go.
    const bool escapes = text[i] == '\\' && i + 1 < text.size() &&
                         kSpecials.find(text[i + 1]) != std::string_view::npos;
    value += text[escapes ? ++i : i];
  }
  return std::nullopt;
}

// Returns whether Go's mime.ParseMediaType accepts these parameters, each with its semicolon.
bool AreParameters(std::string_view text) {
  std::map<std::string, std::string> parameters;
  while (true) {
    text = TrimLeft(text);
    if (Trim(text).empty() || Trim(text) == ";") return true;
    if (!Take(';', text)) return false;
    text = TrimLeft(text);
    std::string name(TakeToken(text));
    std::ranges::transform(name, name.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (name.empty() || !Take('=', text)) return false;
    text = TrimLeft(text);
    const bool quoted = text.starts_with('"');
    const std::optional<std::string> value =
        quoted ? TakeQuoted(text) : std::string(TakeToken(text));
    if (!value || (!quoted && value->empty())) return false;
    // A repeated parameter is an error only if the values differ.
    if (parameters.emplace(name, *value).first->second != *value) return false;
  }
}

bool EqualIgnoringCase(std::string_view a, std::string_view lower) {
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
  });
}

}  // namespace

std::string_view MediaTypeName(MediaType type) { return kNames[static_cast<std::size_t>(type)]; }

std::optional<MediaType> MediaTypeOfContentType(std::string_view content_type) {
  // A body without Content-Type is JSON, as in Go's NegotiateInputSerializer.
  if (content_type.empty()) return MediaType::kJson;
  const std::size_t semicolon = std::min(content_type.find(';'), content_type.size());
  const std::string_view name = Trim(content_type.substr(0, semicolon));
  if (!AreParameters(content_type.substr(semicolon))) return std::nullopt;
  for (const MediaType type :
       {MediaType::kJson, MediaType::kYaml, MediaType::kProtobuf, MediaType::kCbor}) {
    if (EqualIgnoringCase(name, MediaTypeName(type))) return type;
  }
  return std::nullopt;
}

}  // namespace apiserver::v0::codec
