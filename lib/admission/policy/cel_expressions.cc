#include "admission/policy/cel_expressions.h"

#include <limits>
#include <utility>

#include "admission/metrics.h"
#include "apiserver/base/clock.h"
#include "apiserver/cel/to_data.h"

namespace apiserver::v0::admission::policy {

namespace {

constexpr std::uint64_t kPerCallLimit = 1'000'000;

constexpr char kOutOfBudget[] =
    "validation failed due to running out of cost budget, no further validation rules will be run";

// A budget that only the limit of one call bounds: lists of expressions count their own.
cel::Budget OneCall() {
  return {.per_call = kPerCallLimit, .remaining = std::numeric_limits<std::int64_t>::max()};
}

}  // namespace

Composition::Composition(std::shared_ptr<const ExpressionCompiler> compiler,
                         Declarations declarations)
    : compiler_(std::move(compiler)), declarations_(declarations) {}

const CompiledExpression& Composition::Add(std::string name, std::string_view text,
                                           cel::Mode mode) {
  CompiledExpression compiled = Compile(ExpressionUse::kVariable, text, mode, declarations_);
  variables_.push_back({name, ComposedTypeOf(compiled)});
  items_.push_back({std::move(name), std::move(compiled)});
  // The environments made so far do not have the new variable.
  environments_.clear();
  return items_.back().compiled;
}

CompiledExpression Composition::Compile(ExpressionUse use, std::string_view text, cel::Mode mode,
                                        const Declarations& declarations) {
  const std::pair key(mode, declarations);
  auto at = environments_.find(key);
  if (at == environments_.end()) {
    at =
        environments_.emplace(key, compiler_->EnvironmentFor(mode, declarations, variables_)).first;
  }
  CompiledExpression compiled = compiler_->Compile(use, text, at->second);
  if (compiled.program) {
    asks_authorizer_ = asks_authorizer_ || compiled.program->Uses("authorizer") ||
                       compiled.program->Uses("authorizer.requestResource");
  }
  return compiled;
}

cel::Value Activation::ComposedInput::Get(cel::Scratch& scratch, const Context& ctx) {
  // Upstream reads a field of `variables`, which costs one more than a variable.
  activation_.composed_cost_ += 1;
  if (!value_) value_ = Evaluate(scratch, ctx);
  return *value_;
}

cel::Value Activation::ComposedInput::Evaluate(cel::Scratch& scratch, const Context& ctx) {
  const std::size_t visible = std::exchange(activation_.visible_, place_ - kFixedInputs);
  const cel::Value value = EvaluateNow(scratch, ctx);
  activation_.visible_ = visible;
  return value;
}

cel::Value Activation::ComposedInput::EvaluateNow(cel::Scratch& scratch, const Context& ctx) {
  if (!item_.compiled.program) {
    return Failed(scratch, "fails to compile: " + item_.compiled.error);
  }
  cel::Budget budget = OneCall();
  // It sees the inputs before its own.
  const cel::Outcome outcome = cel::Evaluate(
      *item_.compiled.program, activation_.inputs_.first(place_), budget, scratch, ctx);
  activation_.composed_cost_ += outcome.cost;
  if (outcome.ok()) return outcome.value;
  return Failed(scratch, "fails to evaluate: " + std::string(outcome.error));
}

cel::Value Activation::ComposedInput::Failed(cel::Scratch& scratch, const std::string& why) const {
  return cel::Value::Error(
      scratch.arena().Copy("composited variable " + field::Quote(item_.name) + " " + why));
}

cel::Value Activation::VariablesInput::Get(cel::Scratch& scratch, const Context& ctx) {
  std::vector<std::pair<std::string_view, cel::Value>> entries;
  for (std::size_t i = 0; i < activation_.visible_; ++i) {
    entries.emplace_back(activation_.composition_.items()[i].name,
                         activation_.composed_[i].Get(scratch, ctx));
  }
  return cel::MapOf(entries, scratch.arena());
}

cel::Value Activation::RequestInput::Get(cel::Scratch& scratch, const Context& /*ctx*/) {
  return cel::Value::FromData(value_.Get(), nullptr, scratch.arena());
}

Activation::Activation(const Composition& composition, const Variables& variables,
                       cel::Scratch& scratch)
    : composition_(composition),
      scratch_(scratch),
      inputs_(scratch.arena().New<cel::Input>(kFixedInputs + composition.items().size())),
      namespace_object_(variables.namespace_object),
      request_(variables.request),
      variables_(*this),
      visible_(composition.items().size()) {
  // The order is that of ExpressionCompiler.
  const auto value_of = [&scratch](const runtime::Value& data) {
    return cel::Value::FromData(data, nullptr, scratch.arena());
  };
  std::size_t place = 0;
  inputs_[place++].value = value_of(variables.object);
  inputs_[place++].value = value_of(variables.old_object);
  inputs_[place++].lazy = &namespace_object_;
  inputs_[place++].lazy = &request_;
  inputs_[place++].value = value_of(variables.params);
  inputs_[place++].value = cel::Value::Error("no such attribute(s): authorizer");
  inputs_[place++].value = cel::Value::Error("no such attribute(s): authorizer.requestResource");
  inputs_[place++].lazy = &variables_;
  BindAuthorizer(variables);
  composed_.reserve(composition.items().size());
  for (const Composition::Item& item : composition.items()) {
    composed_.emplace_back(*this, item, place);
    inputs_[place++].lazy = &composed_.back();
  }
}

void Activation::BindAuthorizer(const Variables& variables) {
  if (variables.authorizer == nullptr) return;
  const Attributes& attributes = *variables.attributes;
  // The user belongs to the request, which outlives the evaluation.
  static const auth::UserInfo unknown;
  const auth::UserInfo& user = attributes.user ? *attributes.user : unknown;
  authorizer_ = cel::UserAuthorizer{.authorizer = variables.authorizer,
                                    .user = auth::UserInfoPtr(auth::UserInfoPtr(), &user)};
  inputs_[kAuthorizerInput].value = cel::AuthorizerValue(*authorizer_, scratch_.arena());
  inputs_[kAuthorizerInput + 1].value =
      cel::ResourceCheckValue(*authorizer_,
                              {.group = attributes.resource.group,
                               .resource = attributes.resource.resource,
                               .subresource = attributes.subresource,
                               .namespace_ = attributes.namespace_,
                               .name = attributes.name},
                              scratch_.arena());
}

Activation::Result Activation::Evaluate(const NamedExpression& expression, const Context& ctx,
                                        std::int64_t& budget) {
  if (!expression.compiled.program) {
    return {.error = "compilation error: " + expression.compiled.error};
  }
  composed_cost_ = 0;
  cel::Budget one_call = OneCall();
  const cel::Outcome outcome =
      cel::Evaluate(*expression.compiled.program, inputs_, one_call, scratch_, ctx);
  const std::uint64_t cost = outcome.cost + composed_cost_;
  if (budget < 0 || cost > static_cast<std::uint64_t>(budget)) return {.out_of_budget = true};
  budget -= static_cast<std::int64_t>(cost);
  if (outcome.ok()) return {.value = outcome.value};
  return {.error = "expression '" + std::string(expression.text) +
                   "' resulted in error: " + std::string(outcome.error)};
}

namespace {

Evaluated EvaluatedOf(const Activation::Result& result) {
  using Kind = Evaluated::Kind;
  if (result.error) return {.kind = Kind::kError, .text = *result.error};
  const cel::Value& value = result.value;
  switch (value.kind()) {
    case cel::Value::Kind::kBool:
      return {.kind = Kind::kBool, .truth = value.AsBool()};
    case cel::Value::Kind::kString:
      return {.kind = Kind::kString, .text = std::string(value.AsText())};
    case cel::Value::Kind::kNull:
      return {.kind = Kind::kNull};
    default:
      return {.kind = Kind::kOther, .text = cel::Type(value.RuntimeType()).ToString()};
  }
}

// A list of compiled expressions.
class CelExpressionList final : public ExpressionList {
 public:
  CelExpressionList(std::shared_ptr<const Composition> composition,
                    std::vector<std::optional<NamedExpression>> expressions)
      : composition_(std::move(composition)), expressions_(std::move(expressions)) {}

  EvaluatedList Evaluate(const Context& ctx, const Variables& variables,
                         std::int64_t budget) const override {
    EvaluatedList list{.remaining = budget};
    if (expressions_.empty()) return list;
    list.results.reserve(expressions_.size());
    const Clock* clock =
        variables.attributes->metrics ? &variables.attributes->metrics->clock() : nullptr;
    cel::Scratch own;
    cel::Scratch& scratch = variables.scratch ? *variables.scratch : own;
    // Made for the first expression: a list may have none.
    std::optional<Activation> activation;
    // The end of one expression is the beginning of the next.
    Clock::Monotonic began = clock ? clock->Now() : Clock::Monotonic();
    for (const auto& expression : expressions_) {
      if (!expression) {
        list.results.emplace_back();
        continue;
      }
      if (!activation) activation.emplace(*composition_, variables, scratch);
      const Activation::Result result = activation->Evaluate(*expression, ctx, budget);
      if (result.out_of_budget) {
        list = {.failure = EvaluatedList::Failure::kOutOfBudget, .message = kOutOfBudget};
        break;
      }
      list.results.push_back(EvaluatedOf(result));
      if (!clock) continue;
      const Clock::Monotonic ended = clock->Now();
      list.results.back().elapsed = ended - std::exchange(began, ended);
    }
    // The results are copies.
    activation.reset();
    scratch.Reset();
    list.remaining = budget;
    return list;
  }

 private:
  const std::shared_ptr<const Composition> composition_;
  const std::vector<std::optional<NamedExpression>> expressions_;
};

}  // namespace

ExpressionListPtr CompileList(const std::shared_ptr<Composition>& composition, ExpressionUse use,
                              const std::vector<std::optional<std::string_view>>& texts,
                              const Declarations& declarations) {
  std::vector<std::optional<NamedExpression>> expressions;
  expressions.reserve(texts.size());
  for (const auto& text : texts) {
    expressions.emplace_back();
    if (!text) continue;
    expressions.back() =
        NamedExpression{*text, composition->Compile(use, *text, cel::Mode::kStored, declarations)};
  }
  return std::make_shared<CelExpressionList>(composition, std::move(expressions));
}

}  // namespace apiserver::v0::admission::policy
