#include "apiserver/cel/names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "text/ascii.h"

namespace apiserver::v0::cel {
namespace {

using std::string_view;

constexpr string_view kReserved[] = {"true",   "false",    "null", "in",      "as",        "break",
                                     "const",  "continue", "else", "for",     "function",  "if",
                                     "import", "let",      "loop", "package", "namespace", "return",
                                     "var",    "void",     "while"};

constexpr std::array<std::pair<string_view, string_view>, 4> kWords = {
    {{"__", "underscores"}, {".", "dot"}, {"-", "dash"}, {"/", "slash"}}};

bool IsReserved(string_view name) {
  return std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved);
}

bool IsNameCharacter(char c) { return text::IsLetter(c) || text::IsDigit(c) || c == '_'; }

std::string Enclosed(string_view word) { return "__" + std::string(word) + "__"; }

// Returns the text that a word between double underscores stands for. `whole`: it is all of the
// identifier, as reserved words must be.
std::optional<string_view> Meaning(string_view word, bool whole) {
  for (const auto& [text, name] : kWords) {
    if (name == word) return text;
  }
  if (whole && IsReserved(word)) return word;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Escape(string_view name) {
  if (name.empty() || text::IsDigit(name[0])) return std::nullopt;
  if (IsReserved(name)) return Enclosed(name);
  std::string out;
  while (!name.empty()) {
    const auto word = std::find_if(kWords.begin(), kWords.end(), [&](const auto& candidate) {
      return name.starts_with(candidate.first);
    });
    if (word != kWords.end()) {
      out += Enclosed(word->second);
      name.remove_prefix(word->first.size());
    } else if (IsNameCharacter(name[0])) {
      out += name[0];
      name.remove_prefix(1);
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::optional<std::string> Unescape(string_view identifier) {
  std::string out;
  string_view rest = identifier;
  while (!rest.empty()) {
    const std::size_t end = rest.starts_with("__") ? rest.find('_', 2) : string_view::npos;
    const bool enclosed = end != string_view::npos && end > 2 && rest.substr(end).starts_with("__");
    if (enclosed) {
      const std::optional<string_view> meaning =
          Meaning(rest.substr(2, end - 2), end + 2 == identifier.size());
      if (!meaning) return std::nullopt;
      out += *meaning;
      rest.remove_prefix(end + 2);
    } else {
      out += rest[0];
      rest.remove_prefix(1);
    }
  }
  return out;
}

bool IsIdentifier(string_view name) {
  return !name.empty() && !text::IsDigit(name[0]) &&
         std::all_of(name.begin(), name.end(), IsNameCharacter) && !IsReserved(name);
}

}  // namespace apiserver::v0::cel
