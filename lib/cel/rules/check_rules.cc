#include "apiserver/cel/rule_check.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "apiserver/cel/schema_type.h"
#include "apiserver/codec/json.h"
#include "apiserver/runtime/schema.h"
#include "cel/declare/range.h"
#include "text/trim.h"

namespace apiserver::v0::cel {
namespace {

using runtime::Schema;
using runtime::SchemaPtr;
using runtime::SchemaType;
using runtime::ValidationRule;

constexpr std::string_view kRules = "x-kubernetes-validations";
// The rules that an error about the whole cost names, and those that may be among them.
constexpr std::size_t kDearestMax = 4;
constexpr std::uint64_t kDearMin = kSchemaCostMax / 100;

bool HasLineBreak(std::string_view text) {
  return text.find_first_of("\n\r") != std::string_view::npos;
}

// Appends a text as Go's encoding/json writes it, whose output may stand in HTML.
void AppendGoJson(std::string_view text, std::string& out) {
  std::string plain;
  codec::AppendJsonString(text, plain);
  for (const char c : plain) {
    switch (c) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        out += c;
    }
  }
}

// Prints a rule as an error of Kubernetes does: the JSON of its internal type.
std::string Printed(const ValidationRule& rule) {
  std::string json = R"({"Rule":)";
  AppendGoJson(rule.rule, json);
  json += R"(,"Message":)";
  AppendGoJson(rule.message, json);
  json += R"(,"MessageExpression":)";
  AppendGoJson(rule.message_expression, json);
  json += R"(,"Reason":)";
  if (rule.reason.empty()) {
    json += "null";
  } else {
    AppendGoJson(rule.reason, json);
  }
  json += R"(,"FieldPath":)";
  AppendGoJson(rule.field_path, json);
  json += R"(,"OptionalOldSelf":)";
  json += !rule.optional_old_self ? "null" : *rule.optional_old_self ? "true" : "false";
  return json + "}";
}

// Words an estimate that is above its limit. Follows getCostErrorMessage.
std::string TooDear(std::string_view what, std::uint64_t cost, std::uint64_t limit) {
  constexpr double kHopeless = 100;
  constexpr double kClose = 1.5;
  const double factor = static_cast<double>(cost) / static_cast<double>(limit);
  std::string text(what);
  text += " exceeds budget by factor of ";
  if (factor > kHopeless) {
    text += "more than 100x";
  } else {
    std::array<char, 32> number;  // NOLINT(cppcoreguidelines-pro-type-member-init): written next.
    const int size =
        std::snprintf(number.data(), number.size(), factor < kClose ? "%fx" : "%.1fx", factor);
    text.append(number.data(), static_cast<std::size_t>(size));
  }
  return text +
         " (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where "
         "arrays, maps, and strings are declared)";
}

// The cost of all rules, and the dearest of them.
class TotalCost {
 public:
  void Add(const field::Path& path, std::uint64_t cost) {
    total_ = SaturatingAdd(total_, cost);
    if (cost < kDearMin) return;
    dearest_.push_back({path, cost});
    std::stable_sort(dearest_.begin(), dearest_.end(),
                     [](const Rule& a, const Rule& b) { return a.cost > b.cost; });
    if (dearest_.size() > kDearestMax) dearest_.pop_back();
  }
  void Report(const field::Path& schema, field::ErrorList& errors) const {
    if (total_ <= kSchemaCostMax) return;
    for (const Rule& rule : dearest_) {
      errors.Forbidden(rule.path,
                       "contributed to estimated rule cost total exceeding cost limit for entire "
                       "OpenAPIv3 schema");
    }
    errors.Forbidden(
        schema, TooDear("x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 "
                        "schema",
                        total_, kSchemaCostMax));
  }
  std::uint64_t total() const { return total_; }

 private:
  struct Rule {
    field::Path path;
    std::uint64_t cost;
  };
  std::uint64_t total_ = 0;
  std::vector<Rule> dearest_;
};

// A schema in its place.
struct SchemaPlace {
  SchemaPtr schema;
  SchemaPtr view;
  field::Path path;
  // The most values of the schema in one object, by the limits of lists and maps around it.
  std::uint64_t cardinality = 1;
  bool bounded = true;
  // The path of the outermost list around it whose items have no old ones.
  std::optional<field::Path> uncorrelated = std::nullopt;
};

// Returns the place of a part, `factor` of which the schema at `place` may hold.
SchemaPlace Below(const SchemaPlace& place, const SchemaPtr& schema, field::Path path,
                  std::optional<std::uint64_t> factor) {
  SchemaPlace below{.schema = schema, .view = schema, .path = std::move(path)};
  below.bounded = place.bounded && factor.has_value();
  if (below.bounded) below.cardinality = SaturatingMultiply(place.cardinality, *factor);
  below.uncorrelated = place.uncorrelated;
  return below;
}

std::optional<std::uint64_t> Bound(std::optional<std::int64_t> limit) {
  if (!limit) return std::nullopt;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(*limit, 0));
}

// Recurses as deep as the schema is, which loaders bound.
class RuleChecker {
 public:
  RuleChecker(const RuleEnvironments& environments, const RuleCheckOptions& options)
      : environments_(environments), options_(options) {}

  RuleErrors Run(const SchemaPlace& root) {
    const field::Path path = root.path;
    Check(root);
    costs_.Report(path, errors_.total);
    errors_.estimated_cost = costs_.total();
    return std::move(errors_);
  }

 private:
  void Check(const SchemaPlace& place);
  void CheckParts(const SchemaPlace& place);
  void CheckTexts(const ValidationRule& rule, const Schema& schema, const field::Path& path);
  void CheckMessage(const ValidationRule& rule, const field::Path& path);
  void CheckExpressions(const SchemaPlace& place);
  void CheckCompiled(const ValidationRule& rule, const CompiledRule& compiled,
                     const SchemaPlace& place, const field::Path& path);
  void CheckOldSelf(const ValidationRule& rule, const CompiledRule& compiled,
                    const SchemaPlace& place, const field::Path& path);

  const RuleEnvironments& environments_;
  const RuleCheckOptions& options_;
  RuleErrors errors_;
  TotalCost costs_;
};

// Checks a schema after its parts.
void RuleChecker::Check(const SchemaPlace& place) {
  if (!place.schema->has_rules()) return;
  const std::size_t before = errors_.texts.size();
  CheckParts(place);
  const std::vector<ValidationRule> rules = place.schema->rules();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    CheckTexts(rules[i], *place.schema, place.path.Child(kRules).Index(i));
  }
  if (!rules.empty() && errors_.texts.size() == before) CheckExpressions(place);
}

void RuleChecker::CheckParts(const SchemaPlace& place) {
  const Schema& schema = *place.schema;
  const runtime::ConstraintsView limits = schema.constraints();
  if (schema.type == SchemaType::kMap) {
    SchemaPlace values = Below(place, schema.items(), place.path.Child("additionalProperties"),
                               Bound(limits.max_properties()));
    if (place.view->items()) values.view = place.view->items();
    return Check(values);
  }
  if (schema.type == SchemaType::kList) {
    SchemaPlace items =
        Below(place, schema.items(), place.path.Child("items"), Bound(limits.max_items()));
    if (place.view->items()) items.view = place.view->items();
    if (schema.list_type != Schema::ListType::kMap && !items.uncorrelated) {
      items.uncorrelated = place.path;
    }
    return Check(items);
  }
  for (const runtime::Field& field : schema.fields()) {
    SchemaPlace member =
        Below(place, field.schema, place.path.Child("properties").Key(field.name()), 1);
    // The metadata of a resource is seen as name and generateName alone.
    const runtime::Field* const seen = place.view->FindField(field.name());
    if (seen != nullptr) member.view = seen->schema;
    Check(member);
  }
}

// The texts of a rule; of several errors about its rule and message the first.
void RuleChecker::CheckTexts(const ValidationRule& rule, const Schema& schema,
                             const field::Path& path) {
  CheckMessage(rule, path);
  if (!rule.message_expression.empty() && text::TrimSpace(rule.message_expression).empty()) {
    errors_.texts.Required(path.Child("messageExpression"),
                           "messageExpression must be non-empty if specified");
  }
  const std::vector<std::string> reasons = {"FieldValueDuplicate", "FieldValueForbidden",
                                            "FieldValueInvalid", "FieldValueRequired"};
  if (!rule.reason.empty() &&
      std::find(reasons.begin(), reasons.end(), rule.reason) == reasons.end()) {
    errors_.texts.NotSupported(path.Child("reason"), rule.reason, reasons);
  }
  if (rule.field_path.empty()) return;
  const auto invalid = [&](std::string why) {
    errors_.texts.Invalid(path.Child("fieldPath"), rule.field_path, std::move(why));
  };
  if (text::TrimSpace(rule.field_path).empty()) invalid("must be non-empty if specified");
  if (HasLineBreak(rule.field_path)) invalid("must not contain line breaks");
  if (!ParseFieldPath(rule.field_path, schema).ok()) invalid("must be a valid path");
}

void RuleChecker::CheckMessage(const ValidationRule& rule, const field::Path& path) {
  const std::string_view text = text::TrimSpace(rule.rule);
  const std::string_view message = text::TrimSpace(rule.message);
  if (text.empty()) {
    errors_.texts.Required(path.Child("rule"), "rule is not specified");
  } else if (!rule.message.empty() && message.empty()) {
    errors_.texts.Invalid(path.Child("message"), rule.message, "must be non-empty if specified");
  } else if (HasLineBreak(message)) {
    errors_.texts.Invalid(path.Child("message"), rule.message, "must not contain line breaks");
  } else if (HasLineBreak(text) && message.empty()) {
    errors_.texts.Required(path.Child("message"),
                           "message must be specified if rule contains line breaks");
  }
}

void RuleChecker::CheckExpressions(const SchemaPlace& place) {
  const Result<std::vector<CompiledRule>> compiled =
      CompileRules(place.schema, place.view, environments_);
  if (!compiled.ok()) {
    return errors_.expressions.Internal(
        place.path.Child(kRules),
        "internal error: failed to construct type information for x-kubernetes-validations rules: "
        "unable to convert structural schema to CEL declarations");
  }
  const std::vector<ValidationRule> rules = place.schema->rules();
  for (std::size_t i = 0; i < rules.size(); ++i) {
    CheckCompiled(rules[i], (*compiled)[i], place, place.path.Child(kRules).Index(i));
  }
}

void RuleChecker::CheckCompiled(const ValidationRule& rule, const CompiledRule& compiled,
                                const SchemaPlace& place, const field::Path& path) {
  const std::uint64_t runs = place.bounded ? place.cardinality : compiled.max_cardinality;
  const std::uint64_t cost = SaturatingMultiply(compiled.max_cost, runs);
  const auto limit = [&](std::string_view what, const field::Path& where, std::uint64_t spent) {
    if (options_.limit_rules && spent > kRuleCostMax) {
      errors_.expressions.Forbidden(where, TooDear(what, spent, kRuleCostMax));
    }
    costs_.Add(where, spent);
  };
  limit("estimated rule cost", path.Child("rule"), cost);
  if (!compiled.error.empty()) {
    errors_.expressions.InvalidPrinted(path.Child("rule"), Printed(rule), compiled.error);
  }
  if (!compiled.message_error.empty()) {
    errors_.expressions.InvalidPrinted(path.Child("messageExpression"), Printed(rule),
                                       compiled.message_error);
  } else if (compiled.message.has_value()) {
    limit("estimated messageExpression cost", path.Child("messageExpression"),
          compiled.message_max_cost);
  }
  CheckOldSelf(rule, compiled, place, path);
}

void RuleChecker::CheckOldSelf(const ValidationRule& rule, const CompiledRule& compiled,
                               const SchemaPlace& place, const field::Path& path) {
  if (compiled.uses_old_self) {
    if (!place.uncorrelated) return;
    errors_.expressions.Invalid(
        path.Child("rule"), rule.rule,
        "oldSelf cannot be used on the uncorrelatable portion of the schema within " +
            place.uncorrelated->text());
  } else if (rule.optional_old_self) {
    errors_.expressions.InvalidPrinted(path.Child("optionalOldSelf"),
                                       *rule.optional_old_self ? "true" : "false",
                                       "may not be set if oldSelf is not used in rule");
  }
}

}  // namespace

RuleErrors CheckRules(const SchemaPtr& schema, const field::Path& path,
                      const RuleEnvironments& environments, const RuleCheckOptions& options) {
  return RuleChecker(environments, options)
      .Run({.schema = schema, .view = WithTypeAndObjectMeta(schema, true), .path = path});
}

std::set<std::string, std::less<>> RuleTextsOf(const Schema& schema) {
  std::set<std::string, std::less<>> texts;
  std::vector<const Schema*> open = {&schema};
  std::unordered_set<const Schema*> seen;
  while (!open.empty()) {
    const Schema& next = *open.back();
    open.pop_back();
    if (!next.has_rules() || !seen.insert(&next).second) continue;
    for (ValidationRule& rule : next.rules()) {
      texts.insert(std::move(rule.rule));
      if (!rule.message_expression.empty()) texts.insert(std::move(rule.message_expression));
    }
    if (next.items()) open.push_back(next.items().get());
    for (const runtime::Field& field : next.fields()) open.push_back(field.schema.get());
  }
  return texts;
}

}  // namespace apiserver::v0::cel
