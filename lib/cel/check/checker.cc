#include "cel/check/checker.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cel/check/literals.h"
#include "cel/check/messages.h"
#include "cel/check/named_types.h"
#include "cel/check/names.h"
#include "cel/check/solver.h"
#include "cel/types/spell.h"

namespace apiserver::inline v0::cel::check {
namespace {

using syntax::Ast;
using syntax::Comprehension;
using syntax::kNoName;
using syntax::kNoNode;
using syntax::NameId;
using syntax::NodeId;
using syntax::NodeKind;
using types::kBool;
using types::kDyn;
using types::kError;

// Names resolve the same with and without a leading dot, as the container is empty.
std::string_view WithoutDot(std::string_view name) {
  if (name.starts_with('.')) name.remove_prefix(1);
  return name;
}

// cel-go has no such limit: its memory or time ends first.
constexpr std::string_view kTooComplex = "the types of the expression are too complex";

const TypeNode& TypeOfConstant(const syntax::Constant& constant) {
  static constexpr std::array<const TypeNode*, 7> kTypes = {
      &types::kNull,   &types::kBool,   &types::kInt,  &types::kUint,
      &types::kDouble, &types::kString, &types::kBytes};
  return *kTypes[constant.index()];
}

// Checks one tree. Nodes are visited in cel-go's order, which decides what type variables are bound
// to, with a stack of frames instead of recursion.
class Checker {
 public:
  Checker(const Environment& environment, Ast& ast, syntax::Issues& issues)
      : state_(environment.state()),
        ast_(ast),
        issues_(issues),
        names_(state_, solver_),
        types_(ast.size(), nullptr),
        references_(ast.size()),
        calls_(ast.size()) {}

  void Run();
  // Moves what was found, apart from the tree, to `checked`.
  void Export(CheckedAst& checked);

 private:
  // A node whose check has begun.
  struct Frame {
    NodeId node;
    std::uint32_t next = 0;  // The next part of the node to do.
    // The types of elements; of keys and values; of the accumulator; of a message's literal.
    const TypeNode* first = nullptr;
    const TypeNode* second = nullptr;
    std::string_view message = {};  // The name of the message of a literal.
  };
  struct Local {
    NameId name;
    const TypeNode* type;
  };

  // Each does the next part of a node. Returns the child to check before the part after it; kNoNode
  // when the node is done.
  NodeId Step(Frame& frame);
  NodeId StepSelect(Frame& frame);
  NodeId StepOptionalSelect(Frame& frame);
  NodeId StepCall(Frame& frame);
  NodeId StepList(Frame& frame);
  NodeId StepMap(Frame& frame);
  NodeId StepMessage(Frame& frame);
  NodeId StepComprehension(Frame& frame);

  void CheckIdentifier(NodeId id);
  bool ResolveAsName(NodeId id);
  void SelectField(NodeId id, NodeId operand, std::string_view field, bool optional);
  const TypeNode& FieldOf(NodeId id, const TypeNode& type, std::string_view field);
  const FunctionEntry* QualifiedFunction(NodeId call) const;
  void ResolveCall(NodeId call, const FunctionEntry* function);
  bool ResolveLogical(NodeId call, const FunctionEntry& function);
  const TypeNode* MatchOverloads(NodeId call, const FunctionEntry& function);
  const TypeNode& WithoutOptional(NodeId id, const TypeNode& type, bool optional);
  const TypeNode& Join(const TypeNode* previous, const TypeNode& current);
  void BeginMessage(Frame& frame);
  void CheckField(const Frame& frame, std::size_t index);
  const TypeNode& MessageField(const Frame& frame, std::string_view field, std::uint32_t offset);
  void OpenLoop(Frame& frame, const Comprehension& loop);
  void AssertType(NodeId id, const TypeNode& expected);

  std::optional<std::string> QualifiedName(NodeId id) const;
  NodeId RootOfPath(NodeId id) const;
  std::string PathOf(NodeId id) const;
  const Local* FindLocal(std::string_view name) const;
  const TypeNode& TypeOf(NodeId id) const { return types_[id] == nullptr ? kDyn : *types_[id]; }
  void SetType(NodeId id, const TypeNode& type) { types_[id] = &type; }
  void Report(NodeId id, std::string message) {
    issues_.Add(ast_.node(id).offset, std::move(message));
  }

  const EnvironmentState& state_;
  Ast& ast_;
  syntax::Issues& issues_;
  Solver solver_;
  Names names_;
  std::vector<Local> locals_;
  std::vector<const TypeNode*> types_;
  std::vector<Reference> references_;
  std::vector<ResolvedCall> calls_;
  std::vector<const Overload*> overloads_;
};

void Checker::Run() {
  std::vector<Frame> open = {{.node = ast_.root()}};
  while (!open.empty()) {
    const NodeId child = Step(open.back());
    if (solver_.exhausted()) {
      Report(open.back().node, std::string(kTooComplex));
      return;
    }
    if (child == kNoNode) {
      open.pop_back();
    } else {
      open.push_back({.node = child});
    }
  }
}

void Checker::Export(CheckedAst& checked) {
  checked.types.resize(types_.size());
  for (std::size_t i = 0; i < types_.size(); ++i) {
    if (types_[i] != nullptr) checked.types[i] = solver_.Export(*types_[i]);
  }
  if (solver_.exhausted()) Report(ast_.root(), std::string(kTooComplex));
  checked.references = std::move(references_);
  checked.calls = std::move(calls_);
  checked.overloads = std::move(overloads_);
  checked.result_type = checked.types[ast_.root()];
}

NodeId Checker::Step(Frame& frame) {
  switch (ast_.node(frame.node).kind) {
    case NodeKind::kConstant:
      SetType(frame.node, TypeOfConstant(ast_.constant(frame.node)));
      return kNoNode;
    case NodeKind::kIdentifier:
      CheckIdentifier(frame.node);
      return kNoNode;
    case NodeKind::kSelect:
      return StepSelect(frame);
    case NodeKind::kCall:
      return ast_.name_of(frame.node) == "_?._" ? StepOptionalSelect(frame) : StepCall(frame);
    case NodeKind::kList:
      return StepList(frame);
    case NodeKind::kMap:
      return StepMap(frame);
    case NodeKind::kMessage:
      return StepMessage(frame);
    case NodeKind::kComprehension:
      return StepComprehension(frame);
    case NodeKind::kUnspecified:
      break;
  }
  SetType(frame.node, kError);
  return kNoNode;
}

// Names.

const Checker::Local* Checker::FindLocal(std::string_view name) const {
  const NameId id = ast_.FindName(name);
  if (id == kNoName) return nullptr;
  const auto found = std::find_if(locals_.rbegin(), locals_.rend(),
                                  [id](const Local& local) { return local.name == id; });
  return found == locals_.rend() ? nullptr : &*found;
}

void Checker::CheckIdentifier(NodeId id) {
  if (ResolveAsName(id)) return;
  SetType(id, kError);
  Report(id, UndeclaredReference(ast_.name_of(id)));
}

// Makes the node an identifier if its path is a declared name.
bool Checker::ResolveAsName(NodeId id) {
  const std::optional<std::string> path = QualifiedName(id);
  if (!path.has_value()) return false;
  const std::string_view name = WithoutDot(*path);
  if (const Local* const local = FindLocal(name); local != nullptr) {
    SetType(id, *local->type);
    references_[id] = {.kind = Reference::Kind::kLocal};
  } else if (std::optional<Names::Named> named = names_.Find(name); named.has_value()) {
    SetType(id, *named->type);
    references_[id] = std::move(named->reference);
  } else {
    return false;
  }
  if (ast_.name_of(id) != name || ast_.node(id).kind != NodeKind::kIdentifier) {
    ast_.RewriteAsIdentifier(id, name);
  }
  return true;
}

// Returns the dotted name that a path of identifiers is: "a.b.c". nullopt: it is none, or no name
// begins with its first word.
std::optional<std::string> Checker::QualifiedName(NodeId id) const {
  const NodeId root = RootOfPath(id);
  if (root == kNoNode) return std::nullopt;
  if (root != id && !names_.MayBeDotted(WithoutDot(ast_.name_of(root)))) return std::nullopt;
  return PathOf(id);
}

// Returns the identifier that a path of selections begins with. kNoNode: the node is no such path.
NodeId Checker::RootOfPath(NodeId id) const {
  while (ast_.node(id).kind == NodeKind::kSelect && !ast_.node(id).test_only) {
    id = ast_.children(id)[0];
  }
  return ast_.node(id).kind == NodeKind::kIdentifier ? id : kNoNode;
}

// Returns the words of a path with dots between them.
std::string Checker::PathOf(NodeId id) const {
  std::vector<std::string_view> words;
  for (; ast_.node(id).kind == NodeKind::kSelect; id = ast_.children(id)[0]) {
    words.push_back(ast_.name_of(id));
  }
  std::string path(ast_.name_of(id));
  for (std::size_t i = words.size(); i-- > 0;) path.append(1, '.').append(words[i]);
  return path;
}

// Selections.

NodeId Checker::StepSelect(Frame& frame) {
  const NodeId operand = ast_.children(frame.node)[0];
  if (frame.next++ == 0) return ResolveAsName(frame.node) ? kNoNode : operand;
  SelectField(frame.node, operand, ast_.name_of(frame.node), false);
  if (ast_.node(frame.node).test_only) SetType(frame.node, kBool);
  return kNoNode;
}

// a.?b, which the parser makes a call of the operand and the field's name.
NodeId Checker::StepOptionalSelect(Frame& frame) {
  const std::span<const NodeId> arguments = ast_.arguments(frame.node);
  if (frame.next++ == 0) return arguments[0];
  const auto* const field = std::get_if<std::string>(&ast_.constant(arguments[1]));
  SetType(arguments[1], types::kString);
  SelectField(frame.node, arguments[0], field == nullptr ? "" : *field, true);
  ResolvedCall& call = calls_[frame.node];
  call.function = state_.functions->Find("_?._");
  if (call.function == nullptr) return kNoNode;
  call.first = static_cast<std::uint32_t>(overloads_.size());
  call.count = 1;
  overloads_.push_back(call.function->overloads[0]);
  return kNoNode;
}

void Checker::SelectField(NodeId id, NodeId operand, std::string_view field, bool optional) {
  const TypeNode& operand_type = solver_.Resolve(TypeOf(operand));
  const TypeNode* const value = OptionalValue(operand_type);
  const TypeNode& result = FieldOf(id, value == nullptr ? operand_type : *value, field);
  const bool is_optional = optional || value != nullptr;
  SetType(id, solver_.Resolve(is_optional ? solver_.Optional(result) : result));
}

// Returns the type of a member of a value of the type. `id`: the node that issues are about.
const TypeNode& Checker::FieldOf(NodeId id, const TypeNode& type, std::string_view field) {
  switch (type.kind) {
    case TypeKind::kMap:
      return type.parameter_count == 2 ? *type.parameters[1] : kDyn;
    case TypeKind::kStruct: {
      const Names::FieldType found = names_.FindField(type.name, type, field);
      if (found.type != nullptr) return *found.type;
      Report(id, found.is_struct ? UndefinedField(field) : UnresolvedType(type.name));
      return kError;
    }
    case TypeKind::kParameter:
      solver_.Assign(kDyn, type);
      return kDyn;
    default:
      if (!IsDynOrError(type)) Report(id, NoFieldSelection(type));
      return kDyn;
  }
}

// Calls.

NodeId Checker::StepCall(Frame& frame) {
  const NodeId call = frame.node;
  const std::span<const NodeId> arguments = ast_.arguments(call);
  if (frame.next < arguments.size()) return arguments[frame.next++];
  if (!ast_.node(call).has_target) {
    const std::string name(WithoutDot(ast_.name_of(call)));
    const FunctionEntry* const function = state_.functions->Find(name);
    if (function != nullptr && ast_.name_of(call) != name) ast_.RewriteAsFreeCall(call, name);
    ResolveCall(call, function);
    return kNoNode;
  }
  if (frame.next++ == arguments.size()) {
    const FunctionEntry* const function = QualifiedFunction(call);
    if (function == nullptr) return ast_.target(call);
    ast_.RewriteAsFreeCall(call, function->name);
    ResolveCall(call, function);
    return kNoNode;
  }
  ResolveCall(call, state_.functions->Find(ast_.name_of(call)));
  return kNoNode;
}

// Returns the function whose dotted name is the path of a member call. Null: there is none.
const FunctionEntry* Checker::QualifiedFunction(NodeId call) const {
  const NodeId target = ast_.target(call);
  const NodeId root = RootOfPath(target);
  if (root == kNoNode) return nullptr;
  if (!state_.functions->HasNamesBelow(WithoutDot(ast_.name_of(root)))) return nullptr;
  const std::string path = PathOf(target).append(1, '.').append(ast_.name_of(call));
  return state_.functions->Find(WithoutDot(path));
}

void Checker::ResolveCall(NodeId call, const FunctionEntry* function) {
  SetType(call, kError);
  if (function == nullptr) {
    Report(call, UndeclaredReference(ast_.name_of(call)));
    return;
  }
  calls_[call] = {.function = function, .first = static_cast<std::uint32_t>(overloads_.size())};
  if (function->name == "_&&_" || function->name == "_||_") {
    if (ResolveLogical(call, *function)) SetType(call, kBool);
  } else if (const TypeNode* const result = MatchOverloads(call, *function); result != nullptr) {
    SetType(call, *result);
  } else if (!solver_.exhausted()) {
    std::vector<Type> arguments;
    for (const NodeId child : ast_.children(call)) {
      arguments.push_back(solver_.Export(TypeOf(child)));
    }
    Report(call, NoMatchingOverload(function->name, arguments, ast_.node(call).has_target));
  }
  calls_[call].count = static_cast<std::uint32_t>(overloads_.size()) - calls_[call].first;
}

// Operands of && and || are reported one by one.
bool Checker::ResolveLogical(NodeId call, const FunctionEntry& function) {
  overloads_.push_back(function.overloads[0]);
  bool matches = true;
  for (const NodeId operand : ast_.children(call)) {
    if (solver_.Assign(TypeOf(operand), kBool)) continue;
    Report(operand, TypeMismatch(kBool, TypeOf(operand)));
    matches = false;
  }
  return matches;
}

// Adds all overloads that the arguments match, each with the variables that those before it bound.
// Returns the type of the result. Null: none matches.
const TypeNode* Checker::MatchOverloads(NodeId call, const FunctionEntry& function) {
  std::vector<const TypeNode*> arguments;
  for (const NodeId child : ast_.children(call)) arguments.push_back(&TypeOf(child));
  const TypeNode* result = nullptr;
  for (const Overload* const overload : function.overloads) {
    const Signature& signature = overload->signature;
    if (signature.member != ast_.node(call).has_target) continue;
    if (signature.argument_count != arguments.size()) {
      solver_.SkipVariablesOf(signature);
      continue;
    }
    const Solver::Instance instance = solver_.Instantiate(signature);
    if (!solver_.AssignAll(arguments, std::span(instance.arguments).first(arguments.size()))) {
      continue;
    }
    overloads_.push_back(overload);
    const TypeNode& own = solver_.Resolve(*instance.result);
    if (result == nullptr) {
      result = &own;
    } else if (!IsDyn(*result) && !IsExact(own, *result)) {
      result = &kDyn;
    }
  }
  return result;
}

// Literals.

// Returns the type of the value that an optional element gives; the type itself of others.
const TypeNode& Checker::WithoutOptional(NodeId id, const TypeNode& type, bool optional) {
  if (!optional) return type;
  if (const TypeNode* const value = OptionalValue(type); value != nullptr) return *value;
  if (!IsDyn(type)) Report(id, TypeMismatch(solver_.Optional(type), type));
  return type;
}

// Returns the type of elements of both types; different ones make dyn, which the validator of
// literals refuses later.
const TypeNode& Checker::Join(const TypeNode* previous, const TypeNode& current) {
  if (previous == nullptr) return current;
  return solver_.Assign(*previous, current) ? solver_.MostGeneral(*previous, current) : kDyn;
}

NodeId Checker::StepList(Frame& frame) {
  const std::span<const NodeId> elements = ast_.children(frame.node);
  if (frame.next > 0) {
    const std::size_t last = frame.next - 1;
    const NodeId element = elements[last];
    const bool optional = ast_.entry(frame.node, last).optional;
    frame.first = &Join(frame.first, WithoutOptional(element, TypeOf(element), optional));
  }
  if (frame.next < elements.size()) return elements[frame.next++];
  SetType(frame.node, solver_.List(frame.first == nullptr ? solver_.NewVariable() : *frame.first));
  return kNoNode;
}

NodeId Checker::StepMap(Frame& frame) {
  const std::span<const NodeId> children = ast_.children(frame.node);
  if (frame.next > 0) {
    const std::size_t last = frame.next - 1;
    const NodeId child = children[last];
    if (last % 2 == 0) {
      frame.first = &Join(frame.first, TypeOf(child));
    } else {
      const bool optional = ast_.entry(frame.node, last / 2).optional;
      frame.second = &Join(frame.second, WithoutOptional(child, TypeOf(child), optional));
    }
  }
  if (frame.next < children.size()) return children[frame.next++];
  if (frame.first == nullptr) {
    frame.first = &solver_.NewVariable();
    frame.second = &solver_.NewVariable();
  }
  SetType(frame.node, solver_.Map(*frame.first, *frame.second));
  return kNoNode;
}

// Messages.

NodeId Checker::StepMessage(Frame& frame) {
  if (frame.next == 0) {
    BeginMessage(frame);
    if (frame.first == nullptr) return kNoNode;
  } else {
    CheckField(frame, frame.next - 1);
  }
  const std::span<const NodeId> values = ast_.children(frame.node);
  return frame.next < values.size() ? values[frame.next++] : kNoNode;
}

// Finds the type that a literal makes a value of.
void Checker::BeginMessage(Frame& frame) {
  const NodeId id = frame.node;
  const std::string name(WithoutDot(ast_.name_of(id)));
  const std::optional<Names::Named> named = names_.Find(name);
  SetType(id, kError);
  if (!named.has_value()) {
    Report(id, UndeclaredReference(ast_.name_of(id)));
    return;
  }
  frame.first = &kError;
  frame.message = WithoutDot(ast_.name_of(id));
  if (named->type->kind == TypeKind::kType && named->type->parameter_count == 1) {
    const TypeNode& type = *named->type->parameters[0];
    const std::string_view message = MessageOf(type);
    if (message.empty() && type.kind != TypeKind::kStruct) {
      Report(id, NotAMessageType(type));
      return;
    }
    SetType(id, type);
    frame.first = &type;
    frame.message = message.empty() ? type.name : message;
  } else if (named->type->kind != TypeKind::kError) {
    Report(id, NotAType(*named->type));
  }
}

void Checker::CheckField(const Frame& frame, std::size_t index) {
  const syntax::Entry entry = ast_.entry(frame.node, index);
  const NodeId value = ast_.children(frame.node)[index];
  const std::string_view field = ast_.name(entry.field);
  const TypeNode& expected = MessageField(frame, field, entry.offset);
  const TypeNode& given = WithoutOptional(value, TypeOf(value), entry.optional);
  if (solver_.Assign(expected, given)) return;
  issues_.Add(entry.offset, FieldTypeMismatch(field, expected, given));
}

const TypeNode& Checker::MessageField(const Frame& frame, std::string_view field,
                                      std::uint32_t offset) {
  const Names::FieldType found = names_.FindField(frame.message, *frame.first, field);
  if (found.type != nullptr) return *found.type;
  issues_.Add(offset, found.is_struct ? UndefinedField(field) : UnresolvedType(frame.message));
  return kError;
}

// Comprehensions.

NodeId Checker::StepComprehension(Frame& frame) {
  const Comprehension loop = ast_.comprehension(frame.node);
  switch (frame.next++) {
    case 0:
      return loop.range;
    case 1:
      return loop.init;
    case 2:
      OpenLoop(frame, loop);
      return loop.condition;
    case 3:
      AssertType(loop.condition, kBool);
      return loop.step;
    case 4:
      AssertType(loop.step, *frame.first);
      locals_.resize(locals_.size() - (loop.second_variable == kNoName ? 1 : 2));
      return loop.result;
    default:
      locals_.pop_back();
      SetType(frame.node, solver_.Resolve(TypeOf(loop.result)));
      return kNoNode;
  }
}

// Declares the accumulator and the variables of a loop.
void Checker::OpenLoop(Frame& frame, const Comprehension& loop) {
  const TypeNode& range = solver_.Resolve(TypeOf(loop.range));
  const bool two = loop.second_variable != kNoName;
  frame.first = &TypeOf(loop.init);
  locals_.push_back({loop.accumulator, frame.first});
  const TypeNode* variable = &kDyn;
  const TypeNode* second = &kDyn;
  if (range.kind == TypeKind::kList && range.parameter_count == 1) {
    second = range.parameters[0];
    variable = two ? &types::kInt : second;
  } else if (range.kind == TypeKind::kMap && range.parameter_count == 2) {
    variable = range.parameters[0];
    second = range.parameters[1];
  } else if (range.kind == TypeKind::kDyn || range.kind == TypeKind::kError ||
             range.kind == TypeKind::kParameter) {
    solver_.Assign(kDyn, range);
  } else {
    Report(loop.range, NotIterable(range));
    variable = &kError;
    second = &kError;
  }
  locals_.push_back({loop.variable, variable});
  if (two) locals_.push_back({loop.second_variable, second});
}

void Checker::AssertType(NodeId id, const TypeNode& expected) {
  if (!solver_.Assign(expected, TypeOf(id))) Report(id, TypeMismatch(expected, TypeOf(id)));
}

}  // namespace

std::optional<CheckedAst> Check(const Environment& environment, Ast ast, syntax::Issues& issues) {
  CheckedAst checked{.environment = environment, .ast = std::move(ast)};
  Checker checker(environment, checked.ast, issues);
  checker.Run();
  if (!issues.empty()) return std::nullopt;
  checker.Export(checked);
  CheckLiterals(checked, issues);
  if (!issues.empty()) return std::nullopt;
  return checked;
}

}  // namespace apiserver::inline v0::cel::check
