#include "cel/syntax/macros.h"

#include <array>
#include <initializer_list>
#include <utility>

#include "cel/syntax/operators.h"

namespace apiserver::v0::cel::syntax {
namespace {

using std::string_view;
using Expansion = std::variant<NodeId, Issue>;

constexpr string_view kOldAccumulator = "__result__";
constexpr string_view kSortInput = "@__sortBy_input__";

// Adds the nodes of one expansion, which all have the call's place.
class Expander {
 public:
  Expander(Ast& ast, const MacroCall& call) : ast_(ast), call_(call) {}

  NodeId target() const { return call_.target; }
  NodeId argument(std::size_t index) const { return call_.arguments[index]; }
  std::size_t arguments() const { return call_.arguments.size(); }
  const Node& node(NodeId id) const { return ast_.node(id); }
  string_view name_of(NodeId id) const { return ast_.name_of(id); }
  bool IsIdentifier(NodeId id) const { return node(id).kind == NodeKind::kIdentifier; }

  Issue Wrong(NodeId id, std::string message) const {
    return {node(id).offset, std::move(message)};
  }

  NodeId Constant(syntax::Constant value) {
    return ast_.AddConstant(call_.offset, std::move(value));
  }
  NodeId Identifier(string_view name) { return ast_.AddIdentifier(call_.offset, name); }
  NodeId Accumulator() { return Identifier(operators::kAccumulator); }
  NodeId Call(string_view function, std::initializer_list<NodeId> arguments) {
    return ast_.AddCall(call_.offset, function, std::span(arguments.begin(), arguments.size()));
  }
  NodeId MemberCall(string_view function, NodeId target,
                    std::initializer_list<NodeId> arguments = {}) {
    return ast_.AddMemberCall(call_.offset, function, target,
                              std::span(arguments.begin(), arguments.size()));
  }
  NodeId List(std::initializer_list<NodeId> elements) {
    return ast_.AddList(call_.offset, std::span(elements.begin(), elements.size()));
  }
  NodeId EmptyMap() { return ast_.AddMap(call_.offset, {}, {}); }
  NodeId Has(NodeId select) {
    return ast_.AddPresenceTest(call_.offset, ast_.children(select)[0], name_of(select));
  }
  // A copy of a tree; kNoNode if there is no room for it.
  NodeId Copy(NodeId id) {
    if (ast_.size() + ast_.Reachable(id).size() > kNodesMax) return kNoNode;
    return ast_.AddCopy(id, call_.offset);
  }

  // The parts of a comprehension that work on its elements.
  struct Loop {
    NodeId init;
    NodeId condition;
    NodeId step;
    NodeId result;
  };
  NodeId Comprehension(NodeId range, std::pair<NodeId, NodeId> variables, const Loop& loop) {
    return ast_.AddComprehension(
        call_.offset,
        {.variable = node(variables.first).name,
         .second_variable = variables.second == kNoNode ? kNoName : node(variables.second).name,
         .accumulator = ast_.AddName(operators::kAccumulator),
         .range = range,
         .init = loop.init,
         .condition = loop.condition,
         .step = loop.step,
         .result = loop.result});
  }
  // `result` with the variable `name` that has the value of `init`: a loop over nothing.
  NodeId Bind(string_view name, NodeId init, NodeId step, NodeId result) {
    const NodeId range = List({});
    const NodeId condition = Constant(false);
    return ast_.AddComprehension(call_.offset,
                                 {.variable = ast_.AddName(operators::kUnusedVariable),
                                  .accumulator = ast_.AddName(name),
                                  .range = range,
                                  .init = init,
                                  .condition = condition,
                                  .step = step,
                                  .result = result});
  }

 private:
  Ast& ast_;
  const MacroCall& call_;
};

bool IsAccumulator(string_view name) {
  return name == operators::kAccumulator || name == kOldAccumulator;
}

// Returns the reason why the argument cannot be the variable of a loop; nullopt if it can.
std::optional<Issue> CheckVariable(const Expander& call, NodeId id, string_view not_a_name) {
  if (!call.IsIdentifier(id)) return call.Wrong(id, std::string(not_a_name));
  if (IsAccumulator(call.name_of(id))) {
    return call.Wrong(id, "iteration variable overwrites accumulator variable");
  }
  return std::nullopt;
}

constexpr string_view kNoSimpleName = "argument must be a simple name";
constexpr string_view kNoIdentifier = "argument is not an identifier";

// Returns the reason why the first two arguments cannot be the variables of a loop; nullopt if they
// can.
std::optional<Issue> CheckTwoVariables(const Expander& call) {
  const std::array ids = {call.argument(0), call.argument(1)};
  for (const NodeId id : ids) {
    if (!call.IsIdentifier(id)) return call.Wrong(id, std::string(kNoSimpleName));
  }
  const string_view name = call.name_of(ids[0]);
  if (name == call.name_of(ids[1])) {
    return call.Wrong(ids[1], "duplicate variable name: " + std::string(name));
  }
  for (const NodeId id : ids) {
    if (std::optional<Issue> wrong = CheckVariable(call, id, kNoSimpleName)) return wrong;
  }
  return std::nullopt;
}

// The loops of all, exists and exists_one over one variable or two; `predicate` is the last
// argument.
Expander::Loop AllLoop(Expander& call, NodeId predicate) {
  return {.init = call.Constant(true),
          .condition = call.Call(operators::kNotStrictlyFalse, {call.Accumulator()}),
          .step = call.Call(operators::kLogicalAnd, {call.Accumulator(), predicate}),
          .result = call.Accumulator()};
}

Expander::Loop ExistsLoop(Expander& call, NodeId predicate) {
  return {.init = call.Constant(false),
          .condition = call.Call(operators::kNotStrictlyFalse,
                                 {call.Call(operators::kLogicalNot, {call.Accumulator()})}),
          .step = call.Call(operators::kLogicalOr, {call.Accumulator(), predicate}),
          .result = call.Accumulator()};
}

Expander::Loop ExistsOneLoop(Expander& call, NodeId predicate) {
  const NodeId one_more =
      call.Call(operators::kAdd, {call.Accumulator(), call.Constant(std::int64_t{1})});
  return {
      .init = call.Constant(std::int64_t{0}),
      .condition = call.Constant(true),
      .step = call.Call(operators::kConditional, {predicate, one_more, call.Accumulator()}),
      .result = call.Call(operators::kEqual, {call.Accumulator(), call.Constant(std::int64_t{1})})};
}

template <Expander::Loop (*MakeLoop)(Expander&, NodeId)>
Expansion Quantifier(Expander& call) {
  if (auto wrong = CheckVariable(call, call.argument(0), kNoSimpleName)) return *wrong;
  return call.Comprehension(call.target(), {call.argument(0), kNoNode},
                            MakeLoop(call, call.argument(1)));
}

template <Expander::Loop (*MakeLoop)(Expander&, NodeId)>
Expansion TwoVariableQuantifier(Expander& call) {
  if (auto wrong = CheckTwoVariables(call)) return *wrong;
  return call.Comprehension(call.target(), {call.argument(0), call.argument(1)},
                            MakeLoop(call, call.argument(2)));
}

// A loop that makes a collection of what `step` does for each element; with a predicate, only for
// elements that it accepts.
Expander::Loop Collect(Expander& call, NodeId init, NodeId step, NodeId predicate) {
  if (predicate != kNoNode) {
    step = call.Call(operators::kConditional, {predicate, step, call.Accumulator()});
  }
  return {
      .init = init, .condition = call.Constant(true), .step = step, .result = call.Accumulator()};
}

NodeId Append(Expander& call, NodeId element) {
  return call.Call(operators::kAdd, {call.Accumulator(), call.List({element})});
}

// range.map(x, t) and range.map(x, p, t).
Expansion MapOver(Expander& call, NodeId range) {
  if (auto wrong = CheckVariable(call, call.argument(0), kNoIdentifier)) return *wrong;
  const bool filters = call.arguments() == 3;
  const NodeId step = Append(call, call.argument(filters ? 2 : 1));
  return call.Comprehension(
      range, {call.argument(0), kNoNode},
      Collect(call, call.List({}), step, filters ? call.argument(1) : kNoNode));
}

Expansion Map(Expander& call) { return MapOver(call, call.target()); }

Expansion Filter(Expander& call) {
  if (auto wrong = CheckVariable(call, call.argument(0), kNoIdentifier)) return *wrong;
  const NodeId step = Append(call, call.argument(0));
  return call.Comprehension(call.target(), {call.argument(0), kNoNode},
                            Collect(call, call.List({}), step, call.argument(1)));
}

// The step of a transform, given what it makes of an element.
using TransformStep = NodeId (*)(Expander&, NodeId);

NodeId InsertAtKey(Expander& call, NodeId value) {
  const NodeId key = call.Identifier(call.name_of(call.argument(0)));
  return call.Call(operators::kMapInsert, {call.Accumulator(), key, value});
}

NodeId InsertEntry(Expander& call, NodeId entry) {
  return call.Call(operators::kMapInsert, {call.Accumulator(), entry});
}

// transformList, transformMap and transformMapEntry: (k, v, t) and (k, v, p, t).
template <TransformStep MakeStep, bool makes_list>
Expansion Transform(Expander& call) {
  if (auto wrong = CheckTwoVariables(call)) return *wrong;
  const bool filters = call.arguments() == 4;
  const NodeId step = MakeStep(call, call.argument(filters ? 3 : 2));
  const NodeId init = makes_list ? call.List({}) : call.EmptyMap();
  return call.Comprehension(call.target(), {call.argument(0), call.argument(1)},
                            Collect(call, init, step, filters ? call.argument(2) : kNoNode));
}

Expansion Has(Expander& call) {
  const NodeId select = call.argument(0);
  if (call.node(select).kind != NodeKind::kSelect) {
    return call.Wrong(select, "invalid argument to has() macro");
  }
  return call.Has(select);
}

Issue TooLarge() {
  return {kNoOffset,
          "expression has more than " + std::to_string(kNodesMax) + " parts after macro expansion"};
}

// o.optMap(x, t) and o.optFlatMap(x, t): the target is in the expansion twice.
template <bool wraps>
Expansion OptionalMap(Expander& call) {
  const NodeId variable = call.argument(0);
  if (!call.IsIdentifier(variable)) {
    return call.Wrong(variable, std::string(wraps ? "optMap()" : "optFlatMap()") +
                                    " variable name must be a simple identifier");
  }
  const NodeId copy = call.Copy(call.target());
  if (copy == kNoNode) return TooLarge();
  const string_view name = call.name_of(variable);
  const NodeId step = call.Identifier(name);
  NodeId mapped = call.Bind(name, call.MemberCall("value", copy), step, call.argument(1));
  if (wraps) mapped = call.Call("optional.of", {mapped});
  const NodeId has_value = call.MemberCall("hasValue", call.target());
  return call.Call(operators::kConditional, {has_value, mapped, call.Call("optional.none", {})});
}

Expansion SortBy(Expander& call) {
  const NodeKind kind = call.node(call.target()).kind;
  const bool sortable = kind == NodeKind::kList || kind == NodeKind::kSelect ||
                        kind == NodeKind::kIdentifier || kind == NodeKind::kComprehension ||
                        kind == NodeKind::kCall;
  if (!sortable) {
    return call.Wrong(call.target(),
                      "sortBy can only be applied to a list, identifier, comprehension, call or "
                      "select expression");
  }
  const Expansion keys = MapOver(call, call.Identifier(kSortInput));
  if (std::holds_alternative<Issue>(keys)) return keys;
  const NodeId sorted = call.MemberCall(operators::kSortByAssociatedKeys,
                                        call.Identifier(kSortInput), {std::get<NodeId>(keys)});
  return call.Bind(kSortInput, call.target(), call.Identifier(kSortInput), sorted);
}

Expansion CelBind(Expander& call) {
  const NodeId variable = call.argument(0);
  if (!call.IsIdentifier(variable)) {
    return call.Wrong(variable, "cel.bind() variable names must be simple identifiers");
  }
  const string_view name = call.name_of(variable);
  return call.Bind(name, call.argument(1), call.Identifier(name), call.argument(2));
}

// The option that a macro needs; null for those of every environment.
using Option = bool MacroOptions::*;

struct Macro {
  string_view name;
  std::size_t arguments;
  bool member;
  Expansion (*expand)(Expander&);
  Option option = nullptr;
};

constexpr Option kOptional = &MacroOptions::optional_types;
constexpr Option kTwo = &MacroOptions::two_variables;

constexpr Macro kMacros[] = {
    {"has", 1, false, Has},
    {"all", 2, true, Quantifier<AllLoop>},
    {"exists", 2, true, Quantifier<ExistsLoop>},
    {"exists_one", 2, true, Quantifier<ExistsOneLoop>},
    {"map", 2, true, Map},
    {"map", 3, true, Map},
    {"filter", 2, true, Filter},
    {"optMap", 2, true, OptionalMap<true>, kOptional},
    {"optFlatMap", 2, true, OptionalMap<false>, kOptional},
    {"all", 3, true, TwoVariableQuantifier<AllLoop>, kTwo},
    {"exists", 3, true, TwoVariableQuantifier<ExistsLoop>, kTwo},
    {"exists_one", 3, true, TwoVariableQuantifier<ExistsOneLoop>, kTwo},
    {"existsOne", 3, true, TwoVariableQuantifier<ExistsOneLoop>, kTwo},
    {"transformList", 3, true, Transform<Append, true>, kTwo},
    {"transformList", 4, true, Transform<Append, true>, kTwo},
    {"transformMap", 3, true, Transform<InsertAtKey, false>, kTwo},
    {"transformMap", 4, true, Transform<InsertAtKey, false>, kTwo},
    {"transformMapEntry", 3, true, Transform<InsertEntry, false>, kTwo},
    {"transformMapEntry", 4, true, Transform<InsertEntry, false>, kTwo},
    {"sortBy", 2, true, SortBy, &MacroOptions::sort_by},
    {"bind", 3, true, CelBind, &MacroOptions::bind},
};

// The macro that a call names; null for an ordinary call.
const Macro* FindMacro(const Ast& ast, const MacroOptions& options, const MacroCall& call) {
  const bool member = call.target != kNoNode;
  for (const Macro& macro : kMacros) {
    if (macro.name != call.function || macro.arguments != call.arguments.size()) continue;
    if (macro.member != member) continue;
    if (macro.option != nullptr && !(options.*macro.option)) continue;
    if (macro.expand != CelBind) return &macro;
    // bind is a macro of the namespace alone.
    const bool of_cel =
        ast.node(call.target).kind == NodeKind::kIdentifier && ast.name_of(call.target) == "cel";
    if (of_cel) return &macro;
  }
  return nullptr;
}

}  // namespace

std::optional<Expansion> ExpandMacro(Ast& ast, const MacroOptions& options, const MacroCall& call) {
  const Macro* macro = FindMacro(ast, options, call);
  if (macro == nullptr) return std::nullopt;
  Expander expander(ast, call);
  return macro->expand(expander);
}

}  // namespace apiserver::v0::cel::syntax
