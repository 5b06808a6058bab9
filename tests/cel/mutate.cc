#include <algorithm>
#include <cctype>

#include "cel/generate.h"

namespace cel_test {
namespace {

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & '\x80') != 0;
}

// The end of the token that begins at `at`: a string, a word or number, a run of blanks, an
// operator.
std::size_t EndOfToken(std::string_view text, std::size_t at) {
  const char first = text[at];
  if (first == '\'' || first == '"') {
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != first) end += text[end] == '\\' ? 2 : 1;
    return std::min(end + 1, text.size());
  }
  std::size_t end = at + 1;
  if (IsWord(first)) {
    while (end < text.size() && IsWord(text[end])) ++end;
  } else if (first == ' ') {
    while (end < text.size() && text[end] == ' ') ++end;
  } else if (end < text.size() && (text[end] == '=' || (text[end] == first && first != '('))) {
    const bool is_operator = std::string_view("=!<>&|").find(first) != std::string_view::npos;
    if (is_operator) ++end;
  }
  return end;
}

std::vector<std::string> Tokens(std::string_view text) {
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = EndOfToken(text, at);
    tokens.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

// Groups of tokens that may stand for each other.
const std::vector<std::vector<std::string>>& Groups() {
  static const std::vector<std::vector<std::string>> kGroups = {
      {"==", "!=", "<", "<=", ">", ">=", "in"},
      {"&&", "||"},
      {"+", "-", "*", "/", "%"},
      {"all", "exists", "exists_one", "filter", "map"},
      {"true", "false", "null"},
      {"0", "1", "2", "5", "-1", "9223372036854775807", "1.5", "1u", "0x10"},
      {"int", "uint", "double", "string", "bool", "bytes", "dyn", "type"},
      {"size", "isSorted", "sum", "min", "max", "lowerAscii", "trim", "reverse"},
      {"startsWith", "endsWith", "contains", "matches", "indexOf", "split", "find"},
      {"getFullYear", "getMonth", "getDate", "getHours", "getSeconds", "getMilliseconds"},
      {"[", "(", "{"},
      {"val1", "val2", "val3", "val4", "val5"},
      {"self", "oldSelf"},
      {"''", "'a'", "'abc'", "'10'", "'👑'"},
  };
  return kGroups;
}

// Returns a token of the same sort; any token is of the sort of any other with a small chance.
std::string Replacement(const std::string& token, Random& random) {
  for (const std::vector<std::string>& group : Groups()) {
    for (const std::string& member : group) {
      if (member == token) return random.Pick(group);
    }
  }
  if (std::isdigit(static_cast<unsigned char>(token[0])) != 0) return random.Pick(Groups()[5]);
  if (token[0] == '\'' || token[0] == '"') return random.Pick(Groups()[13]);
  return random.Chance(10) ? random.Pick(random.Pick(Groups())) : token;
}

std::string Joined(const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

// Puts the whole into another expression.
std::string Wrapped(std::string_view expression, std::string_view other, Random& random) {
  const std::string a = "(" + std::string(expression) + ")";
  const std::string b = "(" + std::string(other) + ")";
  switch (random.Below(9)) {
    case 0:
      return a + " && " + b;
    case 1:
      return a + " || " + b;
    case 2:
      return "!" + a;
    case 3:
      return a + " ? " + b + " : " + a;
    case 4:
      return a + " == " + b;
    case 5:
      return "[" + a + ", " + b + "].exists(w, w)";
    case 6:
      return "{'a': " + a + "}.all(w, w == 'a')";
    case 7:
      return "optional.of(" + a + ").orValue(" + b + ")";
    default:
      return "string(type" + a + ") + string" + b;
  }
}

}  // namespace

std::string Mutate(std::string_view expression, std::string_view other, Random& random) {
  if (random.Chance(40)) return Wrapped(expression, other, random);
  std::vector<std::string> tokens = Tokens(expression);
  if (tokens.empty()) return std::string(other);
  const std::size_t changes = 1 + random.Below(2);
  for (std::size_t i = 0; i < changes; ++i) {
    // Prefer a token that has others of its sort.
    std::size_t at = random.Below(tokens.size());
    for (int tries = 0; tries < 8; ++tries) {
      std::string token = Replacement(tokens[at], random);
      if (token != tokens[at]) {
        tokens[at] = std::move(token);
        break;
      }
      at = random.Below(tokens.size());
    }
    if (random.Chance(4)) tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at));
    if (tokens.empty()) return "";
    if (random.Chance(2)) tokens.push_back(tokens[at % tokens.size()]);
  }
  return Joined(tokens);
}

}  // namespace cel_test
