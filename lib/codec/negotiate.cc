#include "apiserver/codec/negotiate.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace apiserver::inline v0::codec {

namespace {

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

// Takes what stands before `separator` off the front of `rest`.
std::string_view TakeUntil(char separator, std::string_view& rest) {
  const std::size_t end = rest.find(separator);
  const std::string_view taken = rest.substr(0, end);
  rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  return Trim(taken);
}

void AddParameter(std::string_view text, AcceptClause& clause) {
  const std::string_view name = TakeUntil('=', text);
  std::string_view value = Trim(text);
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
  }
  if (name != "q") {
    clause.parameters.emplace_back(Lower(name), value);
    return;
  }
  double q = 1;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), q);
  clause.q = parsed.ec == std::errc() ? q : 1;
}

std::optional<AcceptClause> ParseClause(std::string_view text) {
  const std::string name = Lower(TakeUntil(';', text));
  const std::size_t slash = name.find('/');
  AcceptClause clause;
  if (name == "*") {
    clause.type = clause.subtype = "*";
  } else if (slash == std::string::npos || slash == 0 || slash + 1 == name.size()) {
    return std::nullopt;
  } else {
    clause.type = name.substr(0, slash);
    clause.subtype = name.substr(slash + 1);
  }
  while (!text.empty()) {
    const std::string_view parameter = TakeUntil(';', text);
    if (!parameter.empty()) AddParameter(parameter, clause);
  }
  return clause;
}

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
  return subtype == "*" || subtype == media_type.substr(slash + 1);
}

std::vector<AcceptClause> ParseAccept(std::string_view header) {
  std::vector<AcceptClause> clauses;
  while (!header.empty()) {
    if (auto clause = ParseClause(TakeUntil(',', header))) clauses.push_back(std::move(*clause));
  }
  std::stable_sort(clauses.begin(), clauses.end(),
                   [](const AcceptClause& a, const AcceptClause& b) {
                     if (a.q != b.q) return a.q > b.q;
                     return Specificity(a) > Specificity(b);
                   });
  return clauses;
}

}  // namespace apiserver::inline v0::codec
