#include "authn/token_evaluation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace apiserver::v0::authn {
namespace {

using runtime::Member;
using runtime::Value;
using Kind = cel::Value::Kind;

Status Refused(std::string why) { return {Reason::kUnauthorized, std::move(why)}; }

// Says why a mapping failed, after the words that tell which.
Status RefusedBecause(const std::string& before, const Status& why) {
  return Refused(before + ": " + std::string(why.message()));
}

// Copies JSON as the Go authenticator shows it to expressions. encoding/json makes every number a
// float64. And a map finds a member also by its escaped name, for which the copy has a second
// member: only for names that some expression of the issuer selects, so that most tokens have none.
class GoView {
 public:
  GoView(const std::vector<EscapedName>& names, cel::Arena& arena) : names_(names), arena_(arena) {}

  // Copies the claims. Their own names are always unescaped: one with an unknown "__word__" is not
  // found.
  Value Claims(const Value& claims) { return Map(claims, true); }

  // Copies a value below the claims. Recurses as deep as the token's JSON, which the parser limits.
  Value Nested(const Value& value) {
    switch (value.type()) {
      case Value::Type::kInt:
        return Value::Double(static_cast<double>(value.AsInt()));
      case Value::Type::kList:
        return List(value);
      case Value::Type::kMap:
        return Map(value, false);
      default:
        return value;
    }
  }

 private:
  Value List(const Value& list) {
    const std::span<Value> items = arena_.New<Value>(list.size());
    std::ranges::transform(list.items(), items.begin(),
                           [this](const Value& item) { return Nested(item); });
    return Value::List(items);
  }

  Value Map(const Value& map, bool claims) {
    const std::span<Member> members = arena_.New<Member>(map.size() + names_.size());
    std::ranges::transform(map.members(), members.begin(), [this](const Member& member) {
      return Member{member.key, Nested(member.value)};
    });
    std::size_t count = map.size();
    for (const EscapedName& name : names_) {
      if (name.property.has_value()) {
        count = Alias(members, count, name);
      } else if (claims) {
        count = Remove(members, count, name.escaped);
      }
    }
    return Value::Map(members.first(count));
  }

  static Member* Find(std::span<Member> members, std::string_view key) {
    const auto found = std::ranges::find(members, key, &Member::key);
    return found == members.end() ? nullptr : &*found;
  }

  // Lets the escaped name have the value of the property, or none if that is missing. Returns the
  // number of members.
  static std::size_t Alias(std::span<Member> members, std::size_t count, const EscapedName& name) {
    const std::span<Member> present = members.first(count);
    const Member* const property = Find(present, *name.property);
    if (property == nullptr) return Remove(members, count, name.escaped);
    if (Member* const literal = Find(present, name.escaped)) {
      literal->value = property->value;
      return count;
    }
    members[count] = {name.escaped, property->value};
    return count + 1;
  }

  static std::size_t Remove(std::span<Member> members, std::size_t count, std::string_view key) {
    const std::span<Member> present = members.first(count);
    const auto kept = std::remove_if(present.begin(), present.end(),
                                     [key](const Member& member) { return member.key == key; });
    return static_cast<std::size_t>(kept - present.begin());
  }

  const std::vector<EscapedName>& names_;
  cel::Arena& arena_;
};

Value TextList(const std::vector<std::string>& texts, cel::Arena& arena) {
  const std::span<Value> items = arena.New<Value>(texts.size());
  std::ranges::transform(texts, items.begin(),
                         [](const std::string& text) { return Value::String(text); });
  return Value::List(items);
}

// Makes the data of `user`, of which all four members are always present: newUserInfoValue.
Value UserData(const auth::UserInfo& user, const std::vector<EscapedName>& names,
               cel::Arena& arena) {
  const std::span<Member> extra = arena.New<Member>(user.extra.size());
  std::ranges::transform(user.extra, extra.begin(), [&arena](const auto& entry) {
    return Member{entry.first, TextList(entry.second, arena)};
  });
  const std::array<Member, 4> members = {
      {{"username", Value::String(user.name)},
       {"uid", Value::String(user.uid)},
       {"groups", TextList(user.groups, arena)},
       {"extra", GoView(names, arena).Nested(Value::Map(extra))}}};
  return Value::Map(arena.Copy(std::span<const Member>(members)));
}

// Reads a string or a list of strings: convertCELValueToStringList. Empty strings and null count as
// nothing. Go refuses what split() and findAll() return, unless another function made a list of it;
// here all lists are alike.
Result<std::vector<std::string>> ToTexts(const cel::Value& value, cel::Arena& arena) {
  const Status refused = Refused("expression must return a string or a list of strings");
  std::vector<std::string> texts;
  if (value.is_null()) return texts;
  if (value.is_string()) {
    if (!value.AsText().empty()) texts.emplace_back(value.AsText());
    return texts;
  }
  if (!value.is_list()) return refused;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const cel::Value item = value.Item(i, arena);
    if (!item.is_string()) return refused;
    if (!item.AsText().empty()) texts.emplace_back(item.AsText());
  }
  return texts;
}

}  // namespace

cel::Scratch& TokenEvaluation::scratch() {
  if (!scratch_.has_value()) scratch_.emplace(expressions_.scratches.Take());
  return **scratch_;
}

const cel::Input& TokenEvaluation::ClaimsInput() {
  if (!input_.has_value()) {
    cel::Arena& arena = scratch().arena();
    const Value claims = GoView(expressions_.escaped_names, arena).Claims(claims_);
    input_ = cel::Input{.value = cel::Value::FromData(claims, nullptr, arena)};
  }
  return *input_;
}

Result<cel::Value> TokenEvaluation::Evaluate(const Expression& expression,
                                             const cel::Input& input) {
  cel::Budget budget;
  const cel::Outcome outcome =
      cel::Evaluate(expression.program, std::span(&input, 1), budget, scratch(), ctx_);
  if (outcome.ok()) return outcome.value;
  return Refused("expression '" + expression.text +
                 "' resulted in error: " + std::string(outcome.error));
}

Result<std::string> TokenEvaluation::Text(const Expression& expression, const std::string& what) {
  const std::string error = "oidc: error evaluating " + what + " claim expression";
  const Result<cel::Value> value = Evaluate(expression, ClaimsInput());
  if (!value.ok()) return RefusedBecause(error, value.status());
  if (value->is_string()) return std::string(value->AsText());
  return Refused(error + ": " + what + " claim expression must return a string");
}

Result<std::vector<std::string>> TokenEvaluation::Texts(const Expression& expression,
                                                        const std::string& what) {
  const std::string error = "oidc: error evaluating " + what + " claim expression";
  const Result<cel::Value> value = Evaluate(expression, ClaimsInput());
  if (!value.ok()) return RefusedBecause(error, value.status());
  Result<std::vector<std::string>> texts = ToTexts(*value, scratch().arena());
  if (!texts.ok()) return RefusedBecause(error, texts.status());
  return texts;
}

// Evaluates all expressions before it looks at a value, as upstream: an error of a later one is
// told rather than a wrong type of an earlier one.
Status TokenEvaluation::AddExtra(auth::UserInfo& user) {
  std::vector<cel::Value> values;
  for (const IssuerExpressions::Extra& extra : expressions_.extra) {
    const Result<cel::Value> value = Evaluate(extra.value, ClaimsInput());
    if (!value.ok()) return value.status();  // Without a prefix, as upstream.
    values.push_back(*value);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const IssuerExpressions::Extra& extra = expressions_.extra[i];
    Result<std::vector<std::string>> texts = ToTexts(values[i], scratch().arena());
    if (!texts.ok()) {
      return RefusedBecause("oidc: error evaluating extra claim expression: " + extra.value.text,
                            texts.status());
    }
    if (!texts->empty()) user.extra[extra.key] = *std::move(texts);
  }
  return {};
}

// Evaluates all rules before it judges the first, as upstream.
Status TokenEvaluation::Check(const std::vector<ExpressionRule>& rules, const cel::Input& input,
                              const std::string& error) {
  std::vector<cel::Value> values;
  for (const ExpressionRule& rule : rules) {
    const Result<cel::Value> value = Evaluate(rule.condition, input);
    if (!value.ok()) return RefusedBecause(error, value.status());
    values.push_back(*value);
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (!values[i].is_bool()) {
      return Refused(error + ": validation expression must return a boolean");
    }
    if (values[i].AsBool()) continue;
    return Refused(error + ": validation expression '" + rules[i].condition.text +
                   "' failed: " + rules[i].message);
  }
  return {};
}

Status TokenEvaluation::CheckClaims() {
  if (expressions_.claim_rules.empty()) return {};
  return Check(expressions_.claim_rules, ClaimsInput(),
               "oidc: error evaluating claim validation expression");
}

Status TokenEvaluation::CheckUser(const auth::UserInfo& user) {
  if (expressions_.user_rules.empty()) return {};
  cel::Arena& arena = scratch().arena();
  const Value data = UserData(user, expressions_.escaped_names, arena);
  const cel::Input input{.value = cel::Value::FromData(data, nullptr, arena)};
  return Check(expressions_.user_rules, input, "oidc: error evaluating user info validation rule");
}

}  // namespace apiserver::v0::authn
