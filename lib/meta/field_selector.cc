#include <algorithm>
#include <utility>

#include "apiserver/meta/selector.h"
#include "base/status_macros.h"

namespace apiserver::v0::meta {
namespace {

Status BadFieldSelector(std::string message) {
  return Status(Reason::kBadRequest, std::move(message));
}

// Splits at commas that no backslash escapes. Keeps the escapes.
std::vector<std::string_view> SplitTerms(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  terms.push_back(text.substr(begin));
  return terms;
}

struct Term {
  std::string_view field;
  bool equals = true;
  std::string_view value;  // Still escaped.
};

// The first operator splits; there is no escaping before it.
std::optional<Term> SplitTerm(std::string_view term) {
  const std::size_t equals = term.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  if (equals > 0 && term[equals - 1] == '!') {
    return Term{term.substr(0, equals - 1), false, term.substr(equals + 1)};
  }
  const bool doubled = term.substr(equals).starts_with("==");
  return Term{term.substr(0, equals), true, term.substr(equals + (doubled ? 2 : 1))};
}

// The UTF-8 sequence at the start of `text`.
std::string_view FirstSequence(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) ++size;
  return text.substr(0, size);
}

Result<std::string> Unescape(std::string_view text) {
  std::string value;
  value.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ',' || c == '=') {
      // Go prints the rune's number.
      return BadFieldSelector("invalid field selector: unescaped character in value: " +
                              std::to_string(static_cast<int>(c)));
    }
    if (c != '\\') {
      value += c;
      continue;
    }
    ++i;
    const bool known = i < text.size() && (text[i] == '\\' || text[i] == ',' || text[i] == '=');
    if (!known) {
      return BadFieldSelector("invalid field selector: invalid escape sequence: \\" +
                              std::string(i < text.size() ? FirstSequence(text.substr(i)) : ""));
    }
    value += text[i];
  }
  return value;
}

std::string Escape(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == ',' || c == '=') text += '\\';
    text += c;
  }
  return text;
}

// Returns true for the term "=", which matches everything, as the Transform of Go's hasTerm says.
bool Vacuous(const FieldSelector::Requirement& requirement) {
  return requirement.field.empty() && requirement.value.empty();
}

}  // namespace

Result<FieldSelector> FieldSelector::Parse(std::string_view text) {
  FieldSelector selector;
  std::vector<std::string_view> terms = SplitTerms(text);
  // Sorted as by fields.parseSelector, so that the order of the terms leaves no trace in the text.
  std::ranges::sort(terms);
  for (const std::string_view part : terms) {
    if (part.empty()) continue;
    const std::optional<Term> term = SplitTerm(part);
    if (!term) {
      return BadFieldSelector("invalid selector: '" + std::string(text) + "'; can't understand '" +
                              std::string(part) + "'");
    }
    ASSIGN_OR_RETURN(std::string value, Unescape(term->value));
    FieldSelector::Requirement requirement{std::string(term->field), term->equals,
                                           std::move(value)};
    if (!Vacuous(requirement)) selector.requirements_.push_back(std::move(requirement));
  }
  return selector;
}

FieldSelector FieldSelector::Equals(std::string field, std::string value) {
  FieldSelector selector;
  selector.requirements_.push_back({std::move(field), true, std::move(value)});
  return selector;
}

Result<FieldSelector> FieldSelector::Transform(const Rewrite& rewrite) const {
  FieldSelector selector;
  for (FieldSelector::Requirement requirement : requirements_) {
    RETURN_IF_ERROR(rewrite(requirement.field, requirement.value));
    if (!Vacuous(requirement)) selector.requirements_.push_back(std::move(requirement));
  }
  return selector;
}

bool FieldSelector::Matches(
    const std::function<std::string_view(std::string_view field)>& read) const {
  return std::ranges::all_of(requirements_, [&](const FieldSelector::Requirement& requirement) {
    return (read(requirement.field) == requirement.value) == requirement.equals;
  });
}

std::optional<std::string> FieldSelector::RequiresExact(std::string_view field) const {
  for (const FieldSelector::Requirement& requirement : requirements_) {
    if (requirement.equals && requirement.field == field) return requirement.value;
  }
  return std::nullopt;
}

std::string FieldSelector::ToString() const {
  std::string text;
  for (const FieldSelector::Requirement& requirement : requirements_) {
    if (!text.empty()) text += ',';
    text += requirement.field + (requirement.equals ? "=" : "!=") + Escape(requirement.value);
  }
  return text;
}

}  // namespace apiserver::v0::meta
