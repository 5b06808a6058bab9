#include "cel/check/literals.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/cel/arena.h"
#include "apiserver/cel/value.h"
#include "cel/check/format_calls.h"
#include "cel/check/messages.h"
#include "cel/check/solver.h"

namespace apiserver::inline v0::cel::check {
namespace {

using syntax::Ast;
using syntax::NodeId;
using syntax::NodeKind;

// The way in which the root reaches a node.
enum class Reach : std::uint8_t {
  kNone,  // A macro's call as it was written.
  kOrdinary,
  kFormat,  // Within a call of format(), whose arguments are of several types.
};

Value ValueOf(const syntax::Constant& constant) {
  struct ToValue {
    Value operator()(std::monostate) const { return {}; }
    Value operator()(bool value) const { return Value::Bool(value); }
    Value operator()(std::int64_t value) const { return Value::Int(value); }
    Value operator()(std::uint64_t value) const { return Value::Uint(value); }
    Value operator()(double value) const { return Value::Double(value); }
    Value operator()(const std::string& value) const { return Value::String(value); }
    Value operator()(const syntax::Bytes& value) const { return Value::Bytes(value.value); }
  };
  return std::visit(ToValue{}, constant);
}

class LiteralChecker {
 public:
  LiteralChecker(const CheckedAst& checked, syntax::Issues& issues)
      : checked_(checked), ast_(checked.ast), issues_(issues) {}

  void Run();

 private:
  void FindReach();
  void CheckElements(NodeId list);
  void CheckEntries(NodeId map);
  void CheckArgument(NodeId call);
  bool IsRefused(NodeId call, const Value& argument) const;
  static bool IsBadPattern(const FunctionEntry& function, const Value& text);
  Type ElementType(NodeId element, bool optional) const;
  bool IsMismatch(NodeId id, const Type& expected, const Type& actual);

  const CheckedAst& checked_;
  const Ast& ast_;
  syntax::Issues& issues_;
  std::vector<Reach> reach_;
};

void LiteralChecker::Run() {
  FindReach();
  for (NodeId id = 0; id < ast_.size(); ++id) {
    if (reach_[id] != Reach::kOrdinary) continue;
    if (ast_.node(id).kind == NodeKind::kList) CheckElements(id);
    if (ast_.node(id).kind == NodeKind::kMap) CheckEntries(id);
  }
  const LanguageFeatures& features = checked_.environment.state().features;
  for (NodeId id = 0; id < ast_.size(); ++id) {
    if (reach_[id] == Reach::kNone || ast_.node(id).kind != NodeKind::kCall) continue;
    if (features.literal_arguments) CheckArgument(id);
    if (features.format_calls) CheckFormatCall(checked_, id, issues_);
  }
}

// Children have lower numbers than their parents, so that going down visits parents first.
void LiteralChecker::FindReach() {
  reach_.assign(ast_.size(), Reach::kNone);
  reach_[ast_.root()] = Reach::kOrdinary;
  const bool exempts = checked_.environment.state().features.format_calls;
  for (NodeId id = ast_.root() + 1; id-- > 0;) {
    if (reach_[id] == Reach::kNone) continue;
    const bool format =
        exempts && ast_.node(id).kind == NodeKind::kCall && ast_.name_of(id) == "format";
    const Reach below = format ? Reach::kFormat : reach_[id];
    for (const NodeId child : ast_.children(id)) reach_[child] = below;
  }
}

// Returns the type of an element, of the value of an optional one.
Type LiteralChecker::ElementType(NodeId element, bool optional) const {
  const Type& type = checked_.types[element];
  // cel-go panics on an optional element of type dyn: [?dyn(1), 2].
  return optional && type.is_optional() ? type.parameter(0) : type;
}

bool LiteralChecker::IsMismatch(NodeId id, const Type& expected, const Type& actual) {
  if (IsExact(expected.node(), actual.node())) return false;
  issues_.Add(ast_.node(id).offset, TypeMismatch(expected.node(), actual.node()));
  return true;
}

void LiteralChecker::CheckElements(NodeId list) {
  const std::span<const NodeId> elements = ast_.children(list);
  if (elements.empty()) return;
  const Type first = ElementType(elements[0], ast_.entry(list, 0).optional);
  for (std::size_t i = 1; i < elements.size(); ++i) {
    const Type type = ElementType(elements[i], ast_.entry(list, i).optional);
    if (IsMismatch(elements[i], first, type)) return;
  }
}

void LiteralChecker::CheckEntries(NodeId map) {
  const std::span<const NodeId> children = ast_.children(map);
  if (children.empty()) return;
  const Type keys = checked_.types[children[0]];
  const Type values = ElementType(children[1], ast_.entry(map, 0).optional);
  for (std::size_t i = 2; i < children.size(); i += 2) {
    IsMismatch(children[i], keys, checked_.types[children[i]]);
    const bool optional = ast_.entry(map, i / 2).optional;
    IsMismatch(children[i + 1], values, ElementType(children[i + 1], optional));
  }
}

void LiteralChecker::CheckArgument(NodeId call) {
  const std::string_view function = ast_.name_of(call);
  const bool converts = function == "duration" || function == "timestamp";
  if (!converts && function != "matches") return;
  const std::span<const NodeId> arguments = ast_.arguments(call);
  if (arguments.empty() || ast_.node(arguments[0]).kind != NodeKind::kConstant) return;
  const Value argument = ValueOf(ast_.constant(arguments[0]));
  // cel-go takes the first argument for the pattern, also in the free form, where it is the text.
  const FunctionEntry* const entry = checked_.calls[call].function;
  const bool refused =
      converts ? IsRefused(call, argument) : entry != nullptr && IsBadPattern(*entry, argument);
  if (refused) issues_.Add(ast_.node(arguments[0]).offset, InvalidArgument(function));
}

// Tells if a conversion fails, by calling it.
bool LiteralChecker::IsRefused(NodeId call, const Value& argument) const {
  const FunctionEntry* const function = checked_.calls[call].function;
  const Overload* const overload = checked_.OverloadOf(call);
  if (function == nullptr || overload == nullptr) return false;
  Handler handler = overload->handler;
  for (std::size_t i = 0; handler == nullptr && i < function->overloads.size(); ++i) {
    if (function->overloads[i] == overload) handler = function->rows[function->row_of[i]]->handler;
  }
  if (handler == nullptr) return false;
  Arena arena;
  const Context context = Context::Background();
  const std::uint64_t cost = 0;
  CallContext::Shared shared{arena, context, cost, std::numeric_limits<std::uint64_t>::max()};
  CallContext surroundings(shared, function->name, nullptr);
  return handler(surroundings, {&argument, 1}).is_error();
}

// Tells if the text is no pattern, by preparing a call with it.
bool LiteralChecker::IsBadPattern(const FunctionEntry& function, const Value& text) {
  const std::array<const Value*, 2> arguments = {nullptr, &text};
  for (const Function* const row : function.rows) {
    if (row->prepare != nullptr && !row->prepare(arguments).ok()) return true;
  }
  return false;
}

}  // namespace

void CheckLiterals(const CheckedAst& checked, syntax::Issues& issues) {
  LiteralChecker(checked, issues).Run();
}

}  // namespace apiserver::inline v0::cel::check
