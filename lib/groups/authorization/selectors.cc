#include "groups/authorization/selectors.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "apiserver/meta/selector.h"

namespace apiserver::v0::groups::authorization {

namespace {

using meta::FieldSelector;
using meta::LabelSelector;
using runtime::Value;

// Returns the requirement as text, if that parses to this one requirement again: a comma in a key
// or value must not add others.
std::optional<std::string> FieldText(const Value& requirement) {
  const std::string_view op = requirement["operator"].AsString();
  const Value values = requirement["values"];
  if ((op != "In" && op != "NotIn") || values.size() != 1) return std::nullopt;
  const std::string key(requirement["key"].AsString());
  const std::string value(values.at(0).AsString());
  std::string text = FieldSelector::Equals(key, value).ToString();
  if (op == "NotIn") text.insert(key.size(), 1, '!');
  const Result<FieldSelector> parsed = FieldSelector::Parse(text);
  const FieldSelector::Requirement wanted{key, op == "In", value};
  if (!parsed.ok() || parsed->requirements() != std::vector{wanted}) return std::nullopt;
  return text;
}

std::optional<LabelSelector::Operator> LabelOperator(std::string_view name) {
  if (name == "In") return LabelSelector::Operator::kIn;
  if (name == "NotIn") return LabelSelector::Operator::kNotIn;
  if (name == "Exists") return LabelSelector::Operator::kExists;
  if (name == "DoesNotExist") return LabelSelector::Operator::kDoesNotExist;
  return std::nullopt;
}

std::string Unchecked(const LabelSelector::Requirement& requirement) {
  using Operator = LabelSelector::Operator;
  if (requirement.op == Operator::kExists) return requirement.key;
  if (requirement.op == Operator::kDoesNotExist) return "!" + requirement.key;
  std::string text = requirement.key + (requirement.op == Operator::kIn ? " in (" : " notin (");
  for (const std::string& value : requirement.values) {
    if (text.back() != '(') text += ',';
    text += value;
  }
  return text + ")";
}

// Makes the same round trip as FieldText: the text must parse to exactly this requirement.
std::optional<std::string> LabelText(const Value& requirement) {
  const auto op = LabelOperator(requirement["operator"].AsString());
  if (!op) return std::nullopt;
  LabelSelector::Requirement wanted{std::string(requirement["key"].AsString()), *op, {}};
  for (const Value& value : requirement["values"].items()) {
    wanted.values.emplace_back(value.AsString());
  }
  // Parsed selectors have their values sorted and once each.
  std::ranges::sort(wanted.values);
  wanted.values.erase(std::unique(wanted.values.begin(), wanted.values.end()), wanted.values.end());
  std::string text = Unchecked(wanted);
  const Result<LabelSelector> parsed = LabelSelector::Parse(text);
  if (!parsed.ok() || parsed->requirements() != std::vector{wanted}) return std::nullopt;
  return text;
}

// Follows the reading of selectors in pkg/registry/authorization/util: requirements win over the
// raw text.
template <class Selector>
SelectorText TextOf(const Value& selector,
                    std::optional<std::string> (*requirement)(const Value&)) {
  SelectorText result;
  const Value requirements = selector["requirements"];
  if (requirements.size() == 0) {
    const std::string_view raw = selector["rawSelector"].AsString();
    result.parse_error = !Selector::Parse(raw).ok();
    if (!result.parse_error) result.text = raw;
    return result;
  }
  for (const Value& one : requirements.items()) {
    const std::optional<std::string> text = requirement(one);
    if (!text) {
      // Without this requirement the authorizer is asked about more objects, so a denial is still
      // right.
      result.parse_error = true;
      continue;
    }
    if (!result.text.empty()) result.text += ',';
    result.text += *text;
  }
  return result;
}

}  // namespace

SelectorText FieldSelectorText(Value selector) {
  return TextOf<FieldSelector>(selector, &FieldText);
}

SelectorText LabelSelectorText(Value selector) {
  return TextOf<LabelSelector>(selector, &LabelText);
}

}  // namespace apiserver::v0::groups::authorization
