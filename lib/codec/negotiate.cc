#include "apiserver/codec/negotiate.h"

#include <algorithm>
#include <charconv>

namespace apiserver::v0::codec {
namespace {

std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

// Returns the text up to `separator`, and removes both from `rest`.
std::string_view Next(std::string_view& rest, char separator) {
  const std::size_t at = rest.find(separator);
  const std::string_view part = rest.substr(0, at);
  rest = at == std::string_view::npos ? "" : rest.substr(at + 1);
  return part;
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Follows goautoneg, Kubernetes' parser of Accept: a parameter with no or two equals signs is
// ignored.
void AddParameter(std::string_view text, AcceptClause& clause) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || text.find('=', equals + 1) != std::string_view::npos) {
    return;
  }
  std::string name = Lower(TrimSpace(text.substr(0, equals)));
  const std::string_view value = TrimSpace(text.substr(equals + 1));
  if (name != "q") {
    clause.parameters.emplace_back(std::move(name), std::string(value));
    return;
  }
  clause.q = 0;
  (void)std::from_chars(value.data(), value.data() + value.size(), clause.q);  // Zero if malformed.
}

bool ParseClause(std::string_view text, AcceptClause& clause) {
  std::string_view name = TrimSpace(Next(text, ';'));
  clause.type = Lower(TrimSpace(Next(name, '/')));
  clause.subtype = Lower(TrimSpace(name));
  // A lone "*" means "*/*".
  if (clause.type == "*" && clause.subtype.empty()) clause.subtype.assign(1, '*');
  if (clause.type.empty() || clause.subtype.empty()) return false;
  if (clause.subtype.find('/') != std::string::npos) return false;
  while (!text.empty()) AddParameter(Next(text, ';'), clause);
  return true;
}

// A type goes before its wildcard, and that before "*/*": RFC 9110, 12.5.1.
int Specificity(const AcceptClause& clause) {
  return (clause.type != "*" ? 2 : 0) + (clause.subtype != "*" ? 1 : 0);
}

}  // namespace

std::string_view AcceptClause::Parameter(std::string_view name) const {
  for (const auto& [key, value] : parameters) {
    if (key == name) return value;
  }
  return "";
}

bool AcceptClause::Covers(std::string_view media_type) const {
  const std::size_t slash = media_type.find('/');
  if (type != "*" && type != media_type.substr(0, slash)) return false;
  return subtype == "*" ||
         (slash != std::string_view::npos && subtype == media_type.substr(slash + 1));
}

std::vector<AcceptClause> ParseAccept(std::string_view header) {
  std::vector<AcceptClause> clauses;
  while (!header.empty()) {
    AcceptClause clause;
    if (ParseClause(TrimSpace(Next(header, ',')), clause)) clauses.push_back(std::move(clause));
  }
  std::stable_sort(clauses.begin(), clauses.end(),
                   [](const AcceptClause& a, const AcceptClause& b) {
                     if (a.q != b.q) return a.q > b.q;
                     return Specificity(a) > Specificity(b);
                   });
  return clauses;
}

}  // namespace apiserver::v0::codec
