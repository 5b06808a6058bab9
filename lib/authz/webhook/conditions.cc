#include "authz/webhook/conditions.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "apiserver/cel/compile.h"
#include "apiserver/cel/environment.h"
#include "apiserver/cel/evaluate.h"
#include "authz/webhook/review.h"
#include "text/trim.h"

namespace apiserver::v0::authz {
namespace {

using cel::Type;
using runtime::Arena;
using runtime::MapBuilder;
using runtime::Value;

constexpr std::size_t kConditionsMax = 64;

Type StructOf(std::string name, std::vector<cel::StructField> fields) {
  return Type::Struct(cel::StructType{.name = std::move(name), .fields = std::move(fields)});
}

// Follows buildRequestType.
Type RequestType() {
  const Type text = Type::String();
  const Type texts = Type::List(text);
  const Type requirement = StructOf("kubernetes.SelectorRequirement",
                                    {{"key", text}, {"operator", text}, {"values", texts}});
  const auto selector = [&](const char* name) {
    return StructOf(name, {{"rawSelector", text}, {"requirements", Type::List(requirement)}});
  };
  const Type resource =
      StructOf("kubernetes.ResourceAttributes",
               {{"namespace", text},
                {"verb", text},
                {"group", text},
                {"version", text},
                {"resource", text},
                {"subresource", text},
                {"name", text},
                {"fieldSelector", selector("kubernetes.FieldSelectorAttributes")},
                {"labelSelector", selector("kubernetes.LabelSelectorAttributes")}});
  const Type path = StructOf("kubernetes.NonResourceAttributes", {{"path", text}, {"verb", text}});
  return StructOf("kubernetes.SubjectAccessReviewSpec", {{"resourceAttributes", resource},
                                                         {"nonResourceAttributes", path},
                                                         {"user", text},
                                                         {"groups", texts},
                                                         {"extra", Type::Map(text, texts)},
                                                         {"uid", text}});
}

// Made once: all webhooks of all configurations have the same.
const cel::Environment& ReviewEnvironment() {
  static const cel::Environment environment = [] {
    const Type request = RequestType();
    return cel::Environment::Kubernetes({1, 35}, cel::Mode::kStored)
        .With({{.name = "request", .type = request}}, {request});
  }();
  return environment;
}

Value TextsOf(const std::vector<std::string>& texts, Arena& arena) {
  runtime::ListBuilder list(arena);
  for (const std::string& text : texts) list.Add(Value::String(text));
  return list.Build();
}

// Upstream gives either requirements or a raw selector; requests have the former.
Value RequirementsOf(const std::vector<ReviewRequirement>& requirements, Arena& arena) {
  runtime::ListBuilder list(arena);
  for (const ReviewRequirement& each : requirements) {
    MapBuilder map(arena);
    map.Add("key", Value::String(each.key));
    map.Add("operator", Value::String(each.op));
    map.Add("values", TextsOf(each.values, arena));
    list.Add(map.Build());
  }
  MapBuilder selector(arena);
  selector.Add("requirements", list.Build());
  return selector.Build();
}

// The selectors of a request, which are only parsed if an expression names them.
struct Selectors {
  std::vector<ReviewRequirement> field = {};
  std::vector<ReviewRequirement> label = {};
};

// Follows convertObjectToUnstructured: unlike JSON, empty texts are there.
Value RequestValue(const auth::Attributes& asked, const Selectors& selectors, Arena& arena) {
  // The texts are borrowed: nothing of the request is copied.
  const auth::UserInfo& user = *asked.user;
  MapBuilder request(arena);
  request.Add("user", Value::String(user.name));
  request.Add("groups", TextsOf(user.groups, arena));
  request.Add("uid", Value::String(user.uid));
  MapBuilder extra(arena);
  for (const auto& [key, values] : user.extra) extra.Add(key, TextsOf(values, arena));
  request.Add("extra", extra.Build());
  MapBuilder attributes(arena);
  attributes.Add("verb", Value::String(asked.verb));
  if (!asked.resource_request) {
    attributes.Add("path", Value::String(asked.path));
    request.Add("nonResourceAttributes", attributes.Build());
    return request.Build();
  }
  attributes.Add("namespace", Value::String(asked.namespace_));
  attributes.Add("group", Value::String(asked.group));
  attributes.Add("version", Value::String(asked.version));
  attributes.Add("resource", Value::String(asked.resource));
  attributes.Add("subresource", Value::String(asked.subresource));
  attributes.Add("name", Value::String(asked.name));
  if (!selectors.field.empty()) {
    attributes.Add("fieldSelector", RequirementsOf(selectors.field, arena));
  }
  if (!selectors.label.empty()) {
    attributes.Add("labelSelector", RequirementsOf(selectors.label, arena));
  }
  request.Add("resourceAttributes", attributes.Build());
  return request.Build();
}

// Joins errors as utilerrors.NewAggregate does: each distinct one once.
std::string Aggregated(const std::vector<std::string>& errors) {
  std::vector<std::string> distinct;
  for (const std::string& error : errors) {
    if (std::ranges::find(distinct, error) == distinct.end()) distinct.push_back(error);
  }
  if (distinct.size() == 1) return distinct.front();
  std::string all;
  for (const std::string& error : distinct) all += (all.empty() ? "" : ", ") + error;
  return "[" + all + "]";
}

// A compiled condition, with its text for errors.
struct Condition {
  std::string text;
  cel::Program program;
};

// Conditions are few and their values small, so that each evaluation makes its own memory.
class CompiledConditions final : public AccessConditions {
 public:
  explicit CompiledConditions(std::vector<Condition> conditions)
      : conditions_(std::move(conditions)),
        uses_field_selector_(Names("fieldSelector")),
        uses_label_selector_(Names("labelSelector")) {}

  ConditionOutcome Evaluate(const Context& ctx, const auth::Attributes& asked) const override {
    Arena arena;
    Selectors selectors;
    if (uses_field_selector_) selectors.field = FieldRequirements(asked.field_selector);
    if (uses_label_selector_) selectors.label = LabelRequirements(asked.label_selector);
    const Value request = RequestValue(asked, selectors, arena);
    cel::Scratch scratch;
    const cel::Input input{.value = cel::Value::FromData(request, nullptr, scratch.arena())};
    std::vector<std::string> errors;
    for (const Condition& condition : conditions_) {
      // Only each call is limited, as upstream.
      cel::Budget budget{.remaining = std::numeric_limits<std::int64_t>::max()};
      const cel::Outcome outcome =
          cel::Evaluate(condition.program, {&input, 1}, budget, scratch, ctx);
      if (!outcome.ok()) {
        errors.push_back("cel evaluation error: expression '" + condition.text +
                         "' resulted in error: " + std::string(outcome.error));
      } else if (!outcome.value.AsBool()) {
        return {.matches = false};
      }
    }
    if (errors.empty()) return {};
    return {.matches = false, .error = Aggregated(errors)};
  }

 private:
  bool Names(std::string_view field) const {
    return std::ranges::any_of(conditions_, [field](const Condition& condition) {
      return condition.program.FieldNamesUsed().contains(field);
    });
  }

  const std::vector<Condition> conditions_;
  const bool uses_field_selector_;
  const bool uses_label_selector_;
};

}  // namespace

std::shared_ptr<const AccessConditions> CompileAccessConditions(
    const std::vector<std::string>& expressions, const field::Path& path,
    field::ErrorList& errors) {
  if (expressions.size() > kConditionsMax) {
    errors.TooMany(path, expressions.size(), kConditionsMax);
    return nullptr;
  }
  // All faults are reported, so that a file is repaired in one go.
  std::set<std::string_view> seen;
  std::vector<Condition> compiled;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const std::string& text = expressions[i];
    const field::Path at = path.Index(i).Child("expression");
    if (text::TrimSpace(text).empty()) {
      errors.Required(at);
      continue;
    }
    if (!seen.insert(text).second) {
      errors.Duplicate(at, text);
      continue;
    }
    cel::CompileStage stage = cel::CompileStage::kDone;
    auto program =
        cel::Compile(ReviewEnvironment(), text, {.result_types = {Type::Bool()}}, &stage);
    if (program.ok()) {
      compiled.push_back({text, *std::move(program)});
    } else if (stage == cel::CompileStage::kProgram) {
      errors.Internal(at, std::string(program.status().message()));
    } else {
      errors.Invalid(at, text, std::string(program.status().message()));
    }
  }
  if (compiled.empty()) return nullptr;
  return std::make_shared<const CompiledConditions>(std::move(compiled));
}

ConditionMetrics::ConditionMetrics(metrics::Registry* registry, std::string name)
    : name_(std::move(name)) {
  if (registry == nullptr) return;
  errors_ = &registry->Counters(
      {.name = "apiserver_authorization_match_condition_evaluation_errors_total",
       .help = "[ALPHA] Total number of errors when an authorization webhook encounters a match "
               "condition error split by authorizer type and name.",
       .labels = {"type", "name"}});
  exclusions_ = &registry->Counters(
      {.name = "apiserver_authorization_match_condition_exclusions_total",
       .help =
           "[ALPHA] Total number of exclusions when an authorization webhook is skipped because "
           "match conditions exclude it.",
       .labels = {"type", "name"}});
  seconds_ = &registry->Histograms(
      {.name = "apiserver_authorization_match_condition_evaluation_seconds",
       .help = "[ALPHA] Authorization match condition evaluation time in seconds, split by "
               "authorizer type and name.",
       .labels = {"type", "name"}},
      {0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25});
}

void ConditionMetrics::Observe(const ConditionOutcome& outcome,
                               std::chrono::nanoseconds took) const {
  if (seconds_ == nullptr) return;
  seconds_->With({"Webhook", name_}).Observe(std::chrono::duration<double>(took).count());
  if (!outcome.error.empty()) {
    errors_->With({"Webhook", name_}).Add();
  } else if (!outcome.matches) {
    exclusions_->With({"Webhook", name_}).Add();
  }
}

}  // namespace apiserver::v0::authz
