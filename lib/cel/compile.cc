#include "apiserver/cel/compile.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "cel/check/checker.h"
#include "cel/check/messages.h"
#include "cel/estimate/cost.h"
#include "cel/plan/planner.h"
#include "cel/syntax/parser.h"

namespace apiserver::inline v0::cel {
namespace {

using check::GoTypeString;

std::string WrongType(const std::vector<Type>& wanted, const Type& got) {
  std::string text = "must evaluate to ";
  if (wanted.size() == 1) {
    text += GoTypeString(wanted[0]);
  } else {
    text += "one of [";
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (i > 0) text += ' ';
      text += GoTypeString(wanted[i]);
    }
    text += ']';
  }
  return text + " but got " + GoTypeString(got);
}

// The syntax of an environment.
syntax::ParseOptions SyntaxOf(const Environment& environment) {
  const LanguageFeatures& features = environment.state().features;
  syntax::ParseOptions options;
  options.optional_syntax = features.optionals;
  options.macros.optional_types = features.optionals;
  options.macros.two_variables = features.two_variable_macros;
  options.macros.sort_by = features.key_sort_macro;
  return options;
}

Status Failed(CompileStage how, CompileStage* stage, Reason reason, std::string message) {
  if (stage != nullptr) *stage = how;
  return {reason, std::move(message)};
}

}  // namespace

Result<Program> Compile(const Environment& environment, std::string_view text,
                        const CompileOptions& options, CompileStage* stage) {
  if (stage != nullptr) *stage = CompileStage::kDone;
  const syntax::SourceText source(text);
  syntax::Issues issues;
  syntax::Ast ast = syntax::Parse(source, SyntaxOf(environment), issues);
  std::optional<check::CheckedAst> checked;
  if (issues.empty()) checked = check::Check(environment, std::move(ast), issues);
  if (!checked.has_value()) {
    return Failed(CompileStage::kText, stage, Reason::kInvalid,
                  "compilation failed: " + issues.Display(source));
  }
  const std::vector<Type>& wanted = options.result_types;
  const Type& got = checked->result_type;
  if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), got) == wanted.end()) {
    return Failed(CompileStage::kResultType, stage, Reason::kInvalid, WrongType(wanted, got));
  }
  Result<std::shared_ptr<ProgramState>> program = plan::Plan(*checked);
  if (!program.ok()) {
    return Failed(CompileStage::kProgram, stage, Reason::kInternalError,
                  "program instantiation failed: " + std::string(program.status().message()));
  }
  (*program)->estimate = estimate::EstimateCost(*checked);
  return Program(*std::move(program));
}

}  // namespace apiserver::inline v0::cel
