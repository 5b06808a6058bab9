#include "cel/judge.h"

#include <charconv>
#include <deque>
#include <optional>
#include <set>

#include "apiserver/cel/compile.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/cel/schema_type.h"
#include "apiserver/codec/schema_loader.h"
#include "base/status_macros.h"
#include "cel/admission_types.h"
#include "cel/check/checker.h"
#include "cel/check/messages.h"
#include "cel/estimate/cost.h"
#include "cel/fixed_authorizer.h"
#include "cel/syntax/parser.h"
#include "cel/tagged.h"
#include "cel/type_text.h"

namespace cel_test {
namespace {

namespace auth = apiserver::auth;
namespace cel = apiserver::cel;
namespace runtime = apiserver::runtime;
using apiserver::Result;
using apiserver::Status;
using cel::Environment;
using cel::Input;
using cel::Type;

constexpr std::string_view kCompilationFailed = "compilation failed: ";
constexpr std::string_view kProgramFailed = "program instantiation failed: ";

// "1.35"; empty is 1.36.
cel::KubernetesVersion VersionOf(std::string_view text) {
  cel::KubernetesVersion version;
  const std::size_t dot = text.find('.');
  if (dot != std::string_view::npos) {
    std::from_chars(text.data() + dot + 1, text.data() + text.size(), version.minor);
  }
  return version;
}

std::string RangeText(cel::CostRange range) {
  return std::to_string(range.min) + ".." + std::to_string(range.max);
}

// The sizes of upstream's tests of the library's costs.
class TextSizes final : public cel::estimate::Sizes {
 public:
  explicit TextSizes(std::uint64_t size) : size_(size) {}
  std::optional<std::uint64_t> MaxSize(const cel::estimate::Path&, const Type& type) override {
    const bool text = type == Type::String() || type == Type::Bytes();
    return text ? std::optional(size_) : std::nullopt;
  }

 private:
  std::uint64_t size_;
};

// The memory of an evaluation's inputs.
struct Inputs {
  cel::Scratch scratch;
  std::deque<FixedAuthorizer> authorizers;
};

// Makes the value of a variable.
Result<cel::Value> ValueOf(const runtime::Value& input, const runtime::Schema* schema,
                           bool optional, Inputs& inputs) {
  cel::Arena& arena = inputs.scratch.arena();
  if (const runtime::Value* const tagged = input.Find("value")) return FromTagged(*tagged, arena);
  if (const runtime::Value* const fixed = input.Find("authorizer")) {
    return cel::AuthorizerValue(inputs.authorizers.emplace_back(VerdictOf(*fixed)).user(), arena);
  }
  if (const runtime::Value* const fixed = input.Find("request_resource")) {
    return cel::ResourceCheckValue(
        inputs.authorizers.emplace_back(VerdictOf(*fixed)).user(),
        {.resource = "endpoints", .namespace_ = "default", .name = "endpoints1"}, arena);
  }
  const runtime::Value* const json = input.Find("json");
  if (json == nullptr) return cel::Value::Error("unknown kind of input");
  if (optional && json->is_null()) return cel::Value::None();
  const cel::Value value = cel::Value::FromData(*json, schema, arena);
  return optional ? cel::Value::Optional(value, arena) : value;
}

// Puts the words of Compile() into the answer's members.
void TakeError(const Status& status, Answer& answer) {
  const std::string_view message = status.message();
  if (message.starts_with(kCompilationFailed)) {
    answer["issues"] = message.substr(kCompilationFailed.size());
  } else if (message.starts_with(kProgramFailed)) {
    answer["program_error"] = message.substr(kProgramFailed.size());
  } else {
    answer["issues"] = "unexpected: " + std::string(message);
  }
}

}  // namespace

Answer AnswerOf(const runtime::Value& go) {
  Answer answer;
  for (const char* const name : {"issues", "type", "program_error", "error", "panic"}) {
    if (const std::string_view text = go[name].AsString(); !text.empty()) answer[name] = text;
  }
  if (const runtime::Value estimate = go["estimate"]; estimate.is_list()) {
    answer["estimate"] =
        std::string(estimate.at(0).AsString()) + ".." + std::string(estimate.at(1).AsString());
  }
  if (const runtime::Value value = go["value"]; value.is_map()) answer["value"] = Canonical(value);
  if (go["cost"].is_number()) answer["cost"] = std::to_string(go["cost"].AsInt());
  return answer;
}

Result<DeclaredEnvironment> DeclaredEnvironment::From(const runtime::Value& declaration) {
  const cel::Mode mode = declaration["new"].AsBool() ? cel::Mode::kNew : cel::Mode::kStored;
  Environment environment =
      Environment::Kubernetes(VersionOf(declaration["version"].AsString()), mode);
  if (declaration["patch"].AsBool()) environment = WithPatchTypes(environment);
  if (declaration["admission"].AsBool()) {
    environment =
        WithAdmissionVariables(environment, {.params = declaration["params"].AsBool(),
                                             .authorizer = declaration["authorizer"].AsBool()});
  }
  DeclaredEnvironment made(std::move(environment));
  made.seen_.resize(made.environment_.variable_count());
  if (declaration["string_size"].is_number()) {
    made.text_size_ = static_cast<std::uint64_t>(declaration["string_size"].AsInt());
  }
  RETURN_IF_ERROR(made.Declare(declaration));
  return made;
}

// Declares the variables that a line lists.
Status DeclaredEnvironment::Declare(const runtime::Value& declaration) {
  std::vector<cel::Variable> variables;
  for (const runtime::Value& json : declaration["variables"].items()) {
    cel::Variable variable = {.name = std::string(json["name"].AsString()), .type = {}};
    Seen seen = {.schema = nullptr, .optional = json["optional"].AsBool()};
    if (const std::string_view same = json["same"].AsString(); !same.empty()) {
      for (std::size_t i = 0; i < variables.size(); ++i) {
        if (variables[i].name != same) continue;
        variable.type = variables[i].type;
        variable.schema = seen.schema = variables[i].schema;
      }
      if (variable.schema == nullptr) continue;  // Nothing is declared of it either.
    } else if (json["schema"].is_map()) {
      ASSIGN_OR_RETURN(const runtime::SchemaPtr schema,
                       apiserver::codec::SchemaFromOpenApi(json["schema"]));
      seen.schema = cel::WithTypeAndObjectMeta(schema, json["root"].AsBool());
      const std::optional<Type> type = cel::TypeOfSchema(*seen.schema, variable.name + "Type");
      if (!type.has_value()) continue;
      variable.type = *type;
      variable.schema = seen.schema;
    } else {
      ASSIGN_OR_RETURN(variable.type, TypeOfText(json["type"].AsString()));
      if (json["view"].is_map()) {
        ASSIGN_OR_RETURN(seen.schema, apiserver::codec::SchemaFromOpenApi(json["view"]));
      }
    }
    if (seen.optional) variable.type = Type::Optional(variable.type);
    variables.push_back(std::move(variable));
    seen_.push_back(std::move(seen));
  }
  environment_ = environment_.With(std::move(variables));
  return {};
}

// Checks an expression and takes its type and estimate into the answer.
void DeclaredEnvironment::TakeEstimate(std::string_view expression, Answer& answer) const {
  const cel::syntax::SourceText source(expression);
  cel::syntax::Issues issues;
  cel::syntax::Ast ast = cel::syntax::Parse(source, {}, issues);
  const std::optional<cel::check::CheckedAst> checked =
      cel::check::Check(environment_, std::move(ast), issues);
  if (!checked.has_value()) return;
  answer["type"] = cel::check::GoTypeString(checked->result_type);
  TextSizes sizes(text_size_.value_or(0));
  answer["estimate"] =
      RangeText(text_size_.has_value() ? cel::estimate::EstimateCost(*checked, sizes)
                                       : cel::estimate::EstimateCost(*checked));
}

Result<Answer> DeclaredEnvironment::Ask(const runtime::Value& question,
                                        const runtime::Value& inputs) const {
  Answer answer;
  const std::string_view expression = question["expr"].AsString();
  const Result<cel::Program> program = cel::Compile(environment_, expression);
  if (!program.ok()) {
    TakeError(program.status(), answer);
    // Go tells these before it makes the program.
    if (answer.contains("program_error")) TakeEstimate(expression, answer);
    return answer;
  }
  answer["type"] = cel::check::GoTypeString(program->result_type());
  answer["estimate"] = RangeText(program->estimate());
  if (text_size_.has_value()) TakeEstimate(expression, answer);
  if (question["compile_only"].AsBool()) return answer;
  Inputs made;
  cel::Scratch& scratch = made.scratch;
  std::vector<std::string> missing(environment_.variable_count());
  std::vector<Input> bound;
  for (std::size_t i = 0; i < environment_.variable_count(); ++i) {
    const std::string& name = environment_.variable(i).name;
    const runtime::Value* const input = inputs.Find(name);
    if (input == nullptr) {
      missing[i] = "no such attribute(s): " + name;
      bound.push_back({cel::Value::Error(missing[i])});
      continue;
    }
    ASSIGN_OR_RETURN(const cel::Value value,
                     ValueOf(*input, seen_[i].schema.get(), seen_[i].optional, made));
    bound.push_back({value});
  }
  cel::Budget budget;
  if (question["limit"].is_number()) {
    budget.per_call = static_cast<std::uint64_t>(question["limit"].AsInt());
  }
  const cel::Outcome outcome =
      cel::Evaluate(*program, bound, budget, scratch, apiserver::Context::Background());
  answer["cost"] = std::to_string(outcome.cost);
  if (outcome.ok()) {
    answer["value"] = Canonical(outcome.value, scratch.arena());
  } else {
    answer["error"] = outcome.error;
  }
  return answer;
}

std::vector<Difference> Differences(const Answer& go, const Answer& ours) {
  const auto member = [](const Answer& answer, const std::string& name) {
    const auto found = answer.find(name);
    return found == answer.end() ? std::string() : found->second;
  };
  const bool stopped = member(go, "error").find("operation cancelled") != std::string::npos;
  std::vector<Difference> differences;
  for (const std::string name : {"unanswered", "panic", "issues", "program_error", "type",
                                 "estimate", "value", "error", "cost"}) {
    if (stopped && name == "cost") continue;
    std::string theirs = member(go, name);
    std::string own = member(ours, name);
    if (theirs != own) differences.push_back({name, std::move(theirs), std::move(own)});
  }
  return differences;
}

}  // namespace cel_test
