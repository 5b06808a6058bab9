#include "cel/judge.h"

#include <charconv>

#include "apiserver/cel/compile.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/codec/schema_loader.h"
#include "base/status_macros.h"
#include "cel/schema_types.h"
#include "cel/tagged.h"

namespace apiserver::celtest {
namespace {

using cel::Environment;
using cel::Input;
using cel::Type;

constexpr std::string_view kCompilationFailed = "compilation failed: ";
constexpr std::string_view kProgramFailed = "program instantiation failed: ";

// "1.35".
cel::KubernetesVersion VersionOf(std::string_view text) {
  cel::KubernetesVersion version;
  const std::size_t dot = text.find('.');
  if (dot != std::string_view::npos) {
    std::from_chars(text.data() + dot + 1, text.data() + text.size(), version.minor);
  }
  return version;
}

// Reads a schema; that of a resource gets the members that every resource has.
Result<runtime::SchemaPtr> SchemaOf(const runtime::Value& json, bool is_root) {
  runtime::Arena arena;
  return codec::SchemaFromOpenApi(is_root ? WithTypeAndObjectMeta(json, arena) : json);
}

Status NotPossible(std::string_view what) {
  return Status(Reason::kInternalError, std::string(what));
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
  if (declaration["admission"].AsBool() || declaration["patch"].AsBool()) {
    return NotPossible("variables of policies");
  }
  const cel::Mode mode = declaration["new"].AsBool() ? cel::Mode::kNew : cel::Mode::kStored;
  DeclaredEnvironment made(
      Environment::Kubernetes(VersionOf(declaration["version"].AsString()), mode));
  std::vector<cel::Variable> variables;
  for (const runtime::Value& json : declaration["variables"].items()) {
    cel::Variable variable = {std::string(json["name"].AsString()), {}};
    Seen seen = {.schema = nullptr, .optional = json["optional"].AsBool()};
    if (const std::string_view same = json["same"].AsString(); !same.empty()) {
      for (std::size_t i = 0; i < variables.size(); ++i) {
        if (variables[i].name != same) continue;
        variable.type = variables[i].type;
        variable.schema = seen.schema = made.seen_[i].schema;
      }
      if (variable.schema == nullptr) continue;  // Nothing is declared of it either.
    } else if (json["schema"].is_map()) {
      ASSIGN_OR_RETURN(seen.schema, SchemaOf(json["schema"], json["root"].AsBool()));
      const std::optional<Type> type = TypeOfSchema(*seen.schema, variable.name + "Type");
      if (!type) continue;
      variable.type = *type;
      variable.schema = seen.schema;
    } else {
      ASSIGN_OR_RETURN(variable.type, TypeOfText(json["type"].AsString()));
      if (json["view"].is_map()) {
        ASSIGN_OR_RETURN(seen.schema, SchemaOf(json["view"], false));
      }
    }
    if (seen.optional) variable.type = Type::Optional(variable.type);
    variables.push_back(std::move(variable));
    made.seen_.push_back(std::move(seen));
  }
  made.environment_ = made.environment_.With(std::move(variables));
  return made;
}

namespace {

Result<cel::Value> ValueOf(const runtime::Value& input, const runtime::Schema* schema,
                           bool optional, cel::Arena& arena) {
  if (const runtime::Value* const tagged = input.Find("value")) return FromTagged(*tagged, arena);
  const runtime::Value* const json = input.Find("json");
  if (json == nullptr) return NotPossible("authorizers");
  if (optional && json->is_null()) return cel::Value::None();
  const cel::Value value = cel::Value::FromData(*json, schema, arena);
  return optional ? cel::Value::Optional(value, arena) : value;
}

// Puts what Compile() says into the answer's members.
void TakeError(const Status& status, Answer& answer) {
  std::string_view message = status.message();
  if (message.starts_with(kCompilationFailed)) {
    answer["issues"] = message.substr(kCompilationFailed.size());
  } else if (message.starts_with(kProgramFailed)) {
    answer["program_error"] = message.substr(kProgramFailed.size());
  } else {
    answer["issues"] = "unexpected: " + std::string(message);
  }
}

}  // namespace

Result<Answer> DeclaredEnvironment::Ask(const runtime::Value& question,
                                        const runtime::Value& inputs) const {
  Answer answer;
  const Result<cel::Program> program = cel::Compile(environment_, question["expr"].AsString());
  if (!program.ok()) {
    TakeError(program.status(), answer);
    return answer;
  }
  answer["type"] = program->result_type().ToString();
  const cel::CostRange estimate = program->estimate();
  answer["estimate"] = std::to_string(estimate.min) + ".." + std::to_string(estimate.max);
  if (question["compile_only"].AsBool()) return answer;
  cel::Arena arena;
  std::vector<std::string> missing(environment_.variable_count());
  std::vector<Input> bound;
  for (std::size_t i = 0; i < environment_.variable_count(); ++i) {
    const std::string& name = environment_.variable(i).name;
    const runtime::Value* const input = inputs.Find(name);
    if (input == nullptr) {
      missing[i] = "no such attribute(s): " + name;
      bound.push_back({cel::Value::Error(missing[i])});
      if (!seen_[i].optional) continue;
      bound.back().value = cel::Value::None();
      continue;
    }
    ASSIGN_OR_RETURN(const cel::Value value,
                     ValueOf(*input, seen_[i].schema.get(), seen_[i].optional, arena));
    bound.push_back({value});
  }
  cel::Budget budget;
  if (question["limit"].is_number()) {
    budget.per_call = static_cast<std::uint64_t>(question["limit"].AsInt());
  }
  cel::Scratch scratch;
  const cel::Outcome outcome =
      cel::Evaluate(*program, bound, budget, scratch, Context::Background());
  answer["cost"] = std::to_string(outcome.cost);
  if (outcome.ok()) {
    answer["value"] = Canonical(outcome.value, scratch.arena());
  } else {
    answer["error"] = outcome.error;
  }
  return answer;
}

namespace {

std::string_view Member(const Answer& answer, const std::string& name) {
  const auto found = answer.find(name);
  return found == answer.end() ? std::string_view() : std::string_view(found->second);
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The place and the first words of an error of the grammar: ANTLR's recovery and what it would have
// expected are its own.
std::string_view FirstSyntaxError(std::string_view issues) {
  constexpr std::string_view kWords = "Syntax error";
  const std::size_t at = issues.find(kWords);
  return issues.substr(0, at + kWords.size());
}

// The reasons of cel.md §9 and §6.2 for which an answer may differ.
std::string_view ExcuseFor(const std::string& member, std::string_view go, std::string_view ours,
                           std::string_view expression) {
  if (member == "issues" && Contains(go, "Syntax error") && Contains(ours, "Syntax error") &&
      FirstSyntaxError(go) == FirstSyntaxError(ours)) {
    return "ANTLR's words";
  }
  if (Contains(go, "error parsing regexp: ") && Contains(ours, "error parsing regexp: ")) {
    return "RE2's words";
  }
  if (Contains(go, "internal error: ")) return "Go panics";
  const bool makes_quantities = Contains(expression, ".add(") || Contains(expression, ".sub(");
  if (makes_quantities && (Contains(go, "no such overload") || member == "value")) {
    return "quantity by pointer";
  }
  return {};
}

}  // namespace

std::vector<Difference> Compare(const runtime::Value& question, const Answer& go,
                                const Answer& ours) {
  std::vector<Difference> differences;
  if (go.contains("panic")) return differences;
  std::vector<std::string> members = {"issues", "program_error"};
  const bool refused = go.contains("issues") || go.contains("program_error") ||
                       ours.contains("issues") || ours.contains("program_error");
  if (!refused) {
    members = {"type", "estimate"};
    if (!question["compile_only"].AsBool()) {
      members.insert(members.end(), {"value", "error", "cost"});
    }
  }
  for (const std::string& member : members) {
    const std::string_view theirs = Member(go, member);
    const std::string_view own = Member(ours, member);
    if (theirs == own) continue;
    // A cancelled evaluation has spent what it had when someone looked.
    if (member == "cost" && Contains(Member(go, "error"), "operation cancelled")) continue;
    differences.push_back({member, std::string(theirs), std::string(own),
                           ExcuseFor(member, theirs, own, question["expr"].AsString())});
  }
  // One excuse is enough for all members: an error of another kind has another cost, too.
  std::string_view excuse;
  for (const Difference& difference : differences) {
    if (!difference.excuse.empty()) excuse = difference.excuse;
  }
  for (Difference& difference : differences) difference.excuse = excuse;
  return differences;
}

}  // namespace apiserver::celtest
