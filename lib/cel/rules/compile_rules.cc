#include <array>
#include <utility>

#include "apiserver/cel/compile.h"
#include "apiserver/cel/rules.h"
#include "apiserver/cel/schema_type.h"
#include "cel/estimate/sizes.h"

namespace apiserver::v0::cel {
namespace {

// The name of self's type. It is not declared, so that no expression can say it; Kubernetes adds a
// number for that.
constexpr std::string_view kSelfType = "selfType";

bool IsBlank(std::string_view text) {
  return text.find_first_not_of(" \t\n\v\f\r") == std::string_view::npos;
}

// The environments of one schema's expressions, made when they are first asked for.
class SelfEnvironments {
 public:
  SelfEnvironments(const RuleEnvironments& environments, const Type& type,
                   const runtime::SchemaPtr& view)
      : environments_(environments), type_(type), view_(view) {}

  // Returns the environment of a text whose oldSelf is an optional or not.
  const Environment& Of(std::string_view text, bool optional) {
    const Environment& base = environments_.Of(text);
    const bool stored = &base != &environments_.environment;
    std::optional<Environment>& made = made_.at((stored ? 2 : 0) + (optional ? 1 : 0));
    if (!made.has_value()) {
      made = base.With(
          {{"self", type_, view_}, {"oldSelf", optional ? Type::Optional(type_) : type_, view_}});
    }
    return *made;
  }

 private:
  const RuleEnvironments& environments_;
  const Type& type_;
  const runtime::SchemaPtr& view_;
  std::array<std::optional<Environment>, 4> made_;
};

// Compiles a messageExpression. Returns the error; empty: it compiled.
std::string CompileMessage(const std::string& text, const Environment& environment,
                           CompiledRule& rule) {
  constexpr std::string_view kProgramFailed = "program ";
  CompileStage stage = CompileStage::kDone;
  Result<Program> program = Compile(environment, text, {.result_types = {Type::String()}}, &stage);
  if (program.ok()) {
    rule.message_max_cost = program->estimate().max;
    rule.message = *std::move(program);
    return "";
  }
  if (stage == CompileStage::kResultType) return "messageExpression must evaluate to a string";
  std::string_view why = program.status().message();
  if (why.starts_with(kProgramFailed)) why.remove_prefix(kProgramFailed.size());
  return std::string("messageExpression ").append(why);
}

// Compiles one rule. Follows compileRule: what comes after the first failure is left out.
CompiledRule CompileOne(const runtime::ValidationRule& source, const runtime::Schema& schema,
                        SelfEnvironments& environments) {
  CompiledRule rule;
  if (IsBlank(source.rule)) return rule;
  const bool optional = source.optional_old_self.value_or(false);
  CompileStage stage = CompileStage::kDone;
  Result<Program> program = Compile(environments.Of(source.rule, optional), source.rule,
                                    {.result_types = {Type::Bool()}}, &stage);
  if (!program.ok()) {
    rule.error = stage == CompileStage::kResultType ? "cel expression must evaluate to a bool"
                                                    : std::string(program.status().message());
    return rule;
  }
  rule.uses_old_self = program->Uses("oldSelf");
  rule.max_cost = program->estimate().max;
  rule.program = *std::move(program);
  if (!source.message_expression.empty()) {
    rule.message_error = CompileMessage(source.message_expression,
                                        environments.Of(source.message_expression, optional), rule);
    if (!rule.message_error.empty()) return rule;
  }
  if (source.field_path.empty()) return rule;
  if (const Result<field::Path> path = ParseFieldPath(source.field_path, schema); path.ok()) {
    rule.field_path = path->text();
  }
  return rule;
}

}  // namespace

Result<std::vector<CompiledRule>> CompileRules(const runtime::SchemaPtr& schema,
                                               const runtime::SchemaPtr& view,
                                               const RuleEnvironments& environments) {
  std::vector<CompiledRule> compiled;
  const std::vector<runtime::ValidationRule> rules = schema->rules();
  if (rules.empty()) return compiled;
  const std::optional<Type> type = TypeOfSchema(*view, kSelfType);
  if (!type.has_value()) {
    return Status(Reason::kInternalError, "failed to convert to declType for CEL validation rules");
  }
  SelfEnvironments selves(environments, *type, view);
  // A comma at least stands between two values of a list.
  const std::int64_t bytes =
      estimate::DeclaredSizes(environments.environment).MinJsonSize(*view) + 1;
  for (const runtime::ValidationRule& rule : rules) {
    compiled.push_back(CompileOne(rule, *schema, selves));
    if (!compiled.back().program.has_value()) continue;
    compiled.back().max_cardinality = static_cast<std::uint64_t>(estimate::kRequestBytes / bytes);
  }
  return compiled;
}

}  // namespace apiserver::v0::cel
