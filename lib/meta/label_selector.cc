#include <algorithm>
#include <charconv>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/meta/selector.h"
#include "apiserver/meta/validation.h"
#include "base/status_macros.h"
#include "meta/selector_lexer.h"

namespace apiserver::v0::meta {
namespace {

using Operator = LabelSelector::Operator;
using Requirement = LabelSelector::Requirement;

Status Bad(std::string message) { return Status(Reason::kBadRequest, std::move(message)); }

Status Found(std::string_view literal, std::string_view expected) {
  return Bad("found '" + std::string(literal) + "', expected: " + std::string(expected));
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) text += separator;
    text += part;
  }
  return text;
}

// Go's strconv.ParseInt(text, 10, 64).
std::optional<std::int64_t> ParseInt64(std::string_view text) {
  // Unlike from_chars, Go takes a plus sign.
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-') return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return value;
}

// As labels.NewRequirement: the findings are an aggregate of field errors.
Result<Requirement> NewRequirement(std::string key, Operator op, std::vector<std::string> values) {
  field::ErrorList errors;
  const field::Path path("values");
  // Before the label values, as in Go, so that these findings come first.
  if (op == Operator::kGreaterThan || op == Operator::kLessThan) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (ParseInt64(values[i])) continue;
      errors.Invalid(path.Index(i), values[i],
                     "for 'Gt', 'Lt' operators, the value must be an integer");
    }
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Complaints complaints = IsValidLabelValue(values[i]);
    if (complaints.empty()) continue;
    errors.Invalid(path.Index(i).Key(key), values[i], Join(complaints, "; "));
  }
  if (!errors.empty()) return Bad(errors.Aggregate());
  return Requirement{std::move(key), op, std::move(values)};
}

void SortDistinct(std::vector<std::string>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// A recursive-descent parser over the tokens. `in` and `notin` are operators only where an operator
// may be; elsewhere Operand() reads them as identifiers.
class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(LexLabelSelector(text)) {}

  Result<std::vector<Requirement>> Parse() {
    std::vector<Requirement> requirements;
    while (true) {
      const LabelToken token = Operand();
      if (token.kind == LabelTokenKind::kEnd) return requirements;
      if (!StartsRequirement(token)) {
        return Found(token.text, "!, identifier, or 'end of string'");
      }
      Result<Requirement> requirement = ParseRequirement();
      if (!requirement.ok()) {
        return Bad("unable to parse requirement: " + std::string(requirement.status().message()));
      }
      requirements.push_back(std::move(requirement).value());
      const LabelToken separator = TakeOperand();
      if (separator.kind == LabelTokenKind::kEnd) return requirements;
      if (separator.kind != LabelTokenKind::kComma) {
        return Found(separator.text, "',' or 'end of string'");
      }
      if (!StartsRequirement(Operand())) return Found(Operand().text, "identifier after ','");
    }
  }

 private:
  static bool StartsRequirement(const LabelToken& token) {
    return token.kind == LabelTokenKind::kIdentifier || token.kind == LabelTokenKind::kNot;
  }

  // The last token is kEnd, which is never passed.
  LabelToken Peek() const { return tokens_[std::min(position_, tokens_.size() - 1)]; }
  LabelToken Operand() const {
    LabelToken token = Peek();
    if (token.kind == LabelTokenKind::kIn || token.kind == LabelTokenKind::kNotIn) {
      token.kind = LabelTokenKind::kIdentifier;
    }
    return token;
  }
  LabelToken TakeOperand() {
    const LabelToken token = Operand();
    ++position_;
    return token;
  }

  Result<Requirement> ParseRequirement() {
    LabelToken token = TakeOperand();
    const bool negated = token.kind == LabelTokenKind::kNot;
    if (negated) token = TakeOperand();
    if (token.kind != LabelTokenKind::kIdentifier) return Found(token.text, "identifier");
    const Complaints complaints = IsQualifiedName(token.text);
    if (!complaints.empty()) {
      // Go has no path here and prints its nil.
      field::ErrorList errors;
      errors.Invalid(field::Path("<nil>"), token.text, Join(complaints, "; "));
      return Bad(errors.Aggregate());
    }
    std::string key(token.text);
    if (negated) return NewRequirement(std::move(key), Operator::kDoesNotExist, {});
    const LabelTokenKind next = Operand().kind;
    if (next == LabelTokenKind::kEnd || next == LabelTokenKind::kComma) {
      return NewRequirement(std::move(key), Operator::kExists, {});
    }
    ASSIGN_OR_RETURN(const Operator op, ParseOperator());
    const bool set_based = op == Operator::kIn || op == Operator::kNotIn;
    ASSIGN_OR_RETURN(std::vector<std::string> values,
                     set_based ? ParseValues() : ParseExactValue());
    SortDistinct(values);
    return NewRequirement(std::move(key), op, std::move(values));
  }

  Result<Operator> ParseOperator() {
    const LabelToken token = Peek();
    ++position_;
    switch (token.kind) {
      case LabelTokenKind::kIn:
        return Operator::kIn;
      case LabelTokenKind::kNotIn:
        return Operator::kNotIn;
      case LabelTokenKind::kEquals:
      case LabelTokenKind::kDoubleEquals:
        return Operator::kEquals;
      case LabelTokenKind::kNotEquals:
        return Operator::kNotEquals;
      case LabelTokenKind::kGreaterThan:
        return Operator::kGreaterThan;
      case LabelTokenKind::kLessThan:
        return Operator::kLessThan;
      default:
        return Found(token.text, "in, notin, =, ==, !=, gt, lt");
    }
  }

  Result<std::vector<std::string>> ParseValues() {
    const LabelToken open = TakeOperand();
    if (open.kind != LabelTokenKind::kOpen) {
      return Bad("found '" + std::string(open.text) + "' expected: '('");
    }
    const LabelToken first = Operand();
    if (first.kind == LabelTokenKind::kClose) {
      TakeOperand();
      return std::vector<std::string>{""};
    }
    if (first.kind != LabelTokenKind::kIdentifier && first.kind != LabelTokenKind::kComma) {
      return Found(first.text, "',', ')' or identifier");
    }
    ASSIGN_OR_RETURN(std::vector<std::string> values, ParseIdentifiers());
    TakeOperand();  // The ')' that ParseIdentifiers stopped at.
    return values;
  }

  // Reads up to, not including, the closing parenthesis. A missing identifier counts as "".
  Result<std::vector<std::string>> ParseIdentifiers() {
    std::vector<std::string> values;
    while (true) {
      const LabelToken token = TakeOperand();
      const LabelToken next = Operand();
      if (token.kind == LabelTokenKind::kIdentifier) {
        values.emplace_back(token.text);
        if (next.kind == LabelTokenKind::kClose) return values;
        if (next.kind != LabelTokenKind::kComma) return Found(next.text, "',' or ')'");
      } else if (token.kind == LabelTokenKind::kComma) {
        // As Go: each side of a comma without an identifier is an empty value.
        if (values.empty()) values.emplace_back();
        if (next.kind == LabelTokenKind::kClose || next.kind == LabelTokenKind::kComma) {
          values.emplace_back();
        }
        if (next.kind == LabelTokenKind::kClose) return values;
      } else {
        return Found(token.text, "',', or identifier");
      }
    }
  }

  Result<std::vector<std::string>> ParseExactValue() {
    const LabelToken next = Operand();
    // "a=" and "a=,b" ask for the empty value.
    if (next.kind == LabelTokenKind::kEnd || next.kind == LabelTokenKind::kComma) {
      return std::vector<std::string>{""};
    }
    const LabelToken token = TakeOperand();
    if (token.kind != LabelTokenKind::kIdentifier) return Found(token.text, "identifier");
    return std::vector<std::string>{std::string(token.text)};
  }

  std::vector<LabelToken> tokens_;
  std::size_t position_ = 0;
};

bool HasValue(const Requirement& requirement, std::string_view value) {
  return std::ranges::find(requirement.values, value) != requirement.values.end();
}

// A label that is no integer matches neither "Gt" nor "Lt".
bool Compares(const Requirement& requirement, std::string_view value) {
  const std::optional<std::int64_t> left = ParseInt64(value);
  if (!left || requirement.values.size() != 1) return false;
  const std::optional<std::int64_t> right = ParseInt64(requirement.values.front());
  if (!right) return false;
  return requirement.op == Operator::kGreaterThan ? *left > *right : *left < *right;
}

bool MatchesOne(const Requirement& requirement, runtime::Value labels) {
  const runtime::Value* value = labels.Find(requirement.key);
  switch (requirement.op) {
    case Operator::kEquals:
    case Operator::kIn:
      return value != nullptr && HasValue(requirement, value->AsString());
    case Operator::kNotEquals:
    case Operator::kNotIn:
      // An object without the label is not equal to any value.
      return value == nullptr || !HasValue(requirement, value->AsString());
    case Operator::kExists:
      return value != nullptr;
    case Operator::kDoesNotExist:
      return value == nullptr;
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      return value != nullptr && Compares(requirement, value->AsString());
  }
  return false;
}

std::string ToText(const Requirement& requirement) {
  const std::string values = Join(requirement.values, ",");
  switch (requirement.op) {
    case Operator::kEquals:
      return requirement.key + "=" + values;
    case Operator::kNotEquals:
      return requirement.key + "!=" + values;
    case Operator::kIn:
      return requirement.key + " in (" + values + ")";
    case Operator::kNotIn:
      return requirement.key + " notin (" + values + ")";
    case Operator::kExists:
      return requirement.key;
    case Operator::kDoesNotExist:
      return "!" + requirement.key;
    case Operator::kGreaterThan:
      return requirement.key + ">" + values;
    case Operator::kLessThan:
      return requirement.key + "<" + values;
  }
  return "";
}

}  // namespace

Result<LabelSelector> LabelSelector::Parse(std::string_view text) {
  LabelSelector selector;
  if (text.empty()) return selector;
  ASSIGN_OR_RETURN(selector.requirements_, Parser(text).Parse());
  // Stable, so that requirements of one key keep their order: RequiresExact() reads the first.
  std::ranges::stable_sort(selector.requirements_, {}, &Requirement::key);
  return selector;
}

bool LabelSelector::Matches(runtime::Value labels) const {
  return std::ranges::all_of(requirements_, [&](const Requirement& requirement) {
    return MatchesOne(requirement, labels);
  });
}

std::optional<std::string> LabelSelector::RequiresExact(std::string_view key) const {
  for (const Requirement& requirement : requirements_) {
    if (requirement.key != key) continue;
    const bool exact = (requirement.op == Operator::kEquals || requirement.op == Operator::kIn) &&
                       requirement.values.size() == 1;
    if (!exact) return std::nullopt;
    return requirement.values.front();
  }
  return std::nullopt;
}

std::string LabelSelector::ToString() const {
  std::string text;
  for (const Requirement& requirement : requirements_) {
    if (!text.empty()) text += ',';
    text += ToText(requirement);
  }
  return text;
}

}  // namespace apiserver::v0::meta
