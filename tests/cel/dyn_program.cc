#include "dyn_program.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "cel/check/checked.h"
#include "cel/plan/planner.h"
#include "cel/syntax/parser.h"

namespace apiserver::testing {
namespace {

using cel::check::CheckedAst;
using cel::check::Reference;
using cel::syntax::NodeId;
using cel::syntax::NodeKind;

// Finds what identifiers and calls name.
class DynChecker {
 public:
  DynChecker(cel::Environment environment, cel::syntax::Ast ast)
      : checked_{.environment = std::move(environment), .ast = std::move(ast)} {
    const std::size_t size = checked_.ast.size();
    checked_.types.resize(size);
    checked_.references.resize(size);
    checked_.calls.resize(size);
  }

  CheckedAst Run() {
    Walk(checked_.ast.root());
    return std::move(checked_);
  }

 private:
  void Walk(NodeId id) {
    switch (checked_.ast.node(id).kind) {
      case NodeKind::kIdentifier:
        return Identifier(id);
      case NodeKind::kComprehension:
        return Loop(id);
      case NodeKind::kCall:
        Call(id);
        break;
      default:
        break;
    }
    for (const NodeId child : checked_.ast.children(id)) Walk(child);
  }

  void Identifier(NodeId id) {
    const std::string_view name = checked_.ast.name_of(id);
    Reference& reference = checked_.references[id];
    if (std::find(locals_.begin(), locals_.end(), name) != locals_.end()) {
      reference.kind = Reference::Kind::kLocal;
      return;
    }
    const auto variable = checked_.environment.state().FindVariable(name);
    if (variable.has_value()) {
      reference = {.kind = Reference::Kind::kVariable, .index = *variable};
      return;
    }
    static const std::map<std::string_view, cel::TypeKind> kTypes = {
        {"int", cel::TypeKind::kInt},
        {"string", cel::TypeKind::kString},
        {"list", cel::TypeKind::kList},
        {"map", cel::TypeKind::kMap}};
    REQUIRE(kTypes.count(name) == 1);
    reference.kind = Reference::Kind::kType;
    reference.type = cel::Type::Of(kTypes.at(name));
  }

  void Loop(NodeId id) {
    const auto loop = checked_.ast.comprehension(id);
    const auto& ast = checked_.ast;
    Walk(loop.range);
    Walk(loop.init);
    const std::size_t scope = locals_.size();
    locals_.push_back(std::string(ast.name(loop.accumulator)));
    locals_.push_back(std::string(ast.name(loop.variable)));
    locals_.push_back(std::string(ast.name(loop.second_variable)));
    Walk(loop.condition);
    Walk(loop.step);
    locals_.resize(scope + 1);
    Walk(loop.result);
    locals_.resize(scope);
  }

  void Call(NodeId id) {
    const auto* const function =
        checked_.environment.state().functions->Find(checked_.ast.name_of(id));
    if (function == nullptr) return;
    auto& call = checked_.calls[id];
    call.function = function;
    call.first = static_cast<std::uint32_t>(checked_.overloads.size());
    const cel::syntax::Node& node = checked_.ast.node(id);
    for (const cel::Overload* const overload : function->overloads) {
      if (overload->signature.member != node.has_target ||
          overload->signature.argument_count != node.count) {
        continue;
      }
      checked_.overloads.push_back(overload);
      ++call.count;
    }
  }

  CheckedAst checked_;
  std::vector<std::string> locals_;
};

}  // namespace

Result<cel::Program> PlanDyn(std::string_view text, std::vector<std::string> variables) {
  std::vector<cel::Variable> declared;
  for (std::string& name : variables) declared.push_back({.name = std::move(name), .type = {}});
  const cel::Environment environment =
      cel::Environment::Kubernetes({1, 36}, cel::Mode::kStored).With(std::move(declared));
  const cel::syntax::SourceText source(text);
  cel::syntax::Issues issues;
  cel::syntax::Ast ast = cel::syntax::Parse(source, {}, issues);
  INFO(issues.Display(source));
  REQUIRE(issues.empty());
  Result<std::shared_ptr<cel::ProgramState>> program =
      cel::plan::Plan(DynChecker(environment, std::move(ast)).Run());
  if (!program.ok()) return program.status();
  return cel::Program(*std::move(program));
}

}  // namespace apiserver::testing
