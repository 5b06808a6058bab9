#include "apiserver/cel/names.h"

#include <algorithm>
#include <array>

#include "text/ascii.h"

namespace apiserver::v0::cel {
namespace {

constexpr std::array<std::string_view, 21> kReserved = {
    "as",        "break",   "const",  "continue", "else", "false", "for",
    "function",  "if",      "import", "in",       "let",  "loop",  "null",
    "namespace", "package", "return", "true",     "var",  "void",  "while"};

struct EscapedPart {
  std::string_view word;
  std::string_view text;
};
constexpr std::array<EscapedPart, 4> kEscapes = {
    {{"underscores", "__"}, {"dot", "."}, {"dash", "-"}, {"slash", "/"}}};

bool IsWordByte(char c) { return text::IsLetter(c) || text::IsDigit(c) || c == '_'; }

// Returns the text that a group stands for. nullopt: there is no such group. A reserved word must
// be the whole name.
std::optional<std::string_view> Meaning(std::string_view word, bool whole) {
  for (const EscapedPart& escape : kEscapes) {
    if (escape.word == word) return escape.text;
  }
  if (whole && IsReserved(word)) return word;
  return std::nullopt;
}

}  // namespace

bool IsReserved(std::string_view word) {
  return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

bool IsIdentifier(std::string_view text) {
  return !text.empty() && !text::IsDigit(text.front()) &&
         std::all_of(text.begin(), text.end(), IsWordByte) && !IsReserved(text);
}

std::optional<std::string> Escape(std::string_view property) {
  if (property.empty() || text::IsDigit(property.front())) return std::nullopt;
  if (IsReserved(property)) return "__" + std::string(property) + "__";
  std::string escaped;
  for (std::size_t at = 0; at < property.size(); ++at) {
    const std::string_view rest = property.substr(at);
    const auto escape =
        std::find_if(kEscapes.begin(), kEscapes.end(),
                     [&rest](const EscapedPart& each) { return rest.starts_with(each.text); });
    if (escape != kEscapes.end()) {
      escaped.append("__").append(escape->word).append("__");
      at += escape->text.size() - 1;
    } else if (IsWordByte(rest.front())) {
      escaped.push_back(rest.front());
    } else {
      return std::nullopt;
    }
  }
  return escaped;
}

std::optional<std::string> Unescape(std::string_view escaped) {
  std::string property;
  std::size_t at = 0;
  while (at < escaped.size()) {
    // A group is two underscores, a word without underscores, and two underscores.
    const std::string_view rest = escaped.substr(at);
    const std::size_t end = rest.starts_with("__") ? rest.find('_', 2) : std::string_view::npos;
    if (end == std::string_view::npos || end == 2 || !rest.substr(end).starts_with("__")) {
      property.push_back(rest.front());
      ++at;
      continue;
    }
    const bool whole = at == 0 && end + 2 == escaped.size();
    const std::optional<std::string_view> meaning = Meaning(rest.substr(2, end - 2), whole);
    if (!meaning.has_value()) return std::nullopt;
    property += *meaning;
    at += end + 2;
  }
  return property;
}

}  // namespace apiserver::v0::cel
