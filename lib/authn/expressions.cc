#include "authn/expressions.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "apiserver/cel/compile.h"
#include "apiserver/cel/names.h"
#include "cel/syntax/parser.h"

namespace apiserver::v0::authn {
namespace {

using cel::Type;
using cel::syntax::NodeId;
using cel::syntax::NodeKind;

// The variables' names.
constexpr std::string_view kClaims = "claims";
constexpr std::string_view kUser = "user";

// Makes the type of `user`: buildUserType of the Go compiler.
Type UserType() {
  const Type texts = Type::List(Type::String());
  return Type::Struct({.name = "kubernetes.UserInfo",
                       .fields = {{"username", Type::String()},
                                  {"uid", Type::String()},
                                  {"groups", texts},
                                  {"extra", Type::Map(Type::String(), texts)}}});
}

// A configuration file is no text that older servers must read: everything is allowed.
cel::Environment With(std::string_view variable, const Type& type) {
  return cel::Environment::Kubernetes({}, cel::Mode::kStored).With({{std::string(variable), type}});
}

// True for an identifier `claims`, also one with a leading dot.
bool IsClaims(const cel::syntax::Ast& tree, NodeId id) {
  if (tree.node(id).kind != NodeKind::kIdentifier) return false;
  std::string_view name = tree.name_of(id);
  if (name.starts_with('.')) name.remove_prefix(1);
  return name == kClaims;
}

// Returns the text of a constant. Null: the node is none, or has another type.
const std::string* TextOf(const cel::syntax::Ast& tree, NodeId id) {
  if (tree.node(id).kind != NodeKind::kConstant) return nullptr;
  return std::get_if<std::string>(&tree.constant(id));
}

// A selection: the object and the name.
struct Selection {
  NodeId operand;
  std::string_view name;
  bool is_index;
};

// Returns the selection that a node is: a.b, has(a.b), a.?b, a["b"] or a[?"b"].
std::optional<Selection> SelectionAt(const cel::syntax::Ast& tree, NodeId id) {
  const cel::syntax::Node& node = tree.node(id);
  if (node.kind == NodeKind::kSelect)
    return Selection{tree.children(id)[0], tree.name_of(id), false};
  if (node.kind != NodeKind::kCall || node.has_target || node.count != 2) return std::nullopt;
  const std::string_view function = tree.name_of(id);
  const bool is_index = function == "_[_]" || function == "_[?_]";
  if (!is_index && function != "_?._") return std::nullopt;
  const std::string* const name = TextOf(tree, tree.children(id)[1]);
  if (name == nullptr) return std::nullopt;
  return Selection{tree.children(id)[0], *name, is_index};
}

}  // namespace

ExpressionCompiler::ExpressionCompiler()
    : claims_(With(kClaims, Type::Map(Type::String(), Type::Of(cel::TypeKind::kAny)))),
      user_(With(kUser, UserType())) {}

std::optional<Expression> ExpressionCompiler::Compile(ExpressionInput input,
                                                      ExpressionResult result,
                                                      const std::string& text,
                                                      const field::Path& path,
                                                      field::ErrorList& errors) const {
  cel::CompileOptions options;
  if (result == ExpressionResult::kBool) options.result_types = {Type::Bool()};
  cel::CompileStage stage = cel::CompileStage::kDone;
  const cel::Environment& environment = input == ExpressionInput::kClaims ? claims_ : user_;
  Result<cel::Program> program = cel::Compile(environment, text, options, &stage);
  if (program.ok()) return Expression{text, *std::move(program)};
  if (stage == cel::CompileStage::kProgram) {
    errors.Internal(path, std::string(program.status().message()));
  } else if (stage == cel::CompileStage::kResultType) {
    // Unlike other users of expressions, authentication does not tell the type that it got.
    errors.Invalid(path, text, "must evaluate to bool");
  } else {
    errors.Invalid(path, text, std::string(program.status().message()));
  }
  return std::nullopt;
}

// Looks at the parsed text: hasSelectExp of the Go validation looks at the syntax, too, so that a
// loop variable named `claims` counts.
ExpressionSyntax ReadSyntax(std::string_view expression) {
  const cel::syntax::SourceText source(expression);
  cel::syntax::Issues issues;
  const cel::syntax::Ast tree = cel::syntax::Parse(source, {}, issues);
  ExpressionSyntax syntax;
  if (!issues.empty()) return syntax;
  for (const NodeId id : tree.Reachable(tree.root())) {
    const std::optional<Selection> selection = SelectionAt(tree, id);
    if (!selection.has_value()) continue;
    if (selection->name.find("__") != std::string_view::npos) {
      syntax.escaped_names.emplace_back(selection->name);
    }
    if (selection->is_index || !IsClaims(tree, selection->operand)) continue;
    syntax.selects_email |= selection->name == "email";
    syntax.selects_email_verified |= selection->name == "email_verified";
  }
  return syntax;
}

void AddEscapedNames(const ExpressionSyntax& syntax, std::vector<EscapedName>& names) {
  for (const std::string& name : syntax.escaped_names) {
    if (std::ranges::find(names, name, &EscapedName::escaped) != names.end()) continue;
    std::optional<std::string> property = cel::Unescape(name);
    if (property != name) names.push_back({name, std::move(property)});
  }
}

}  // namespace apiserver::v0::authn
