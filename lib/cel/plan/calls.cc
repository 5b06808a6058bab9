#include "cel/plan/builder.h"
#include "cel/run/dispatch.h"
#include "cel/run/map.h"

// Calls: interpreter/planner.go of cel-go.
namespace apiserver::v0::cel::plan {
namespace {

using syntax::NodeId;

// Tells if the overload that the checker found is that of strings or bytes, whose cost depends on
// sizes.
bool IsSized(const Overload* overload) {
  return overload != nullptr &&
         (overload->id.ends_with("_string") || overload->id.ends_with("_bytes"));
}

std::optional<RelationFlag> RelationOf(std::string_view function) {
  if (function == "_<_") return kLess;
  if (function == "_<=_") return kLessOrEqual;
  if (function == "_>_") return kGreater;
  if (function == "_>=_") return kGreaterOrEqual;
  return std::nullopt;
}

}  // namespace

void Builder::PlanCall(NodeId id, Operand dst) {
  const std::string_view function = ast_.name_of(id);
  const syntax::Node& node = ast_.node(id);
  if (!node.has_target && node.count == 2) {
    if (function == "_&&_") return PlanLogical(id, dst, true);
    if (function == "_||_") return PlanLogical(id, dst, false);
  }
  if (node.has_target && node.count == 2) {
    if (function == "or") return PlanOptionalOr(id, dst, Op::kOptionalOr);
    if (function == "orValue") return PlanOptionalOr(id, dst, Op::kOptionalValue);
  }
  if (!PlanOperator(id, dst)) PlanFunction(id, dst);
}

// A determining operand decides wherever it stands; else the first error does.
void Builder::PlanLogical(NodeId id, Operand dst, bool conjunction) {
  const auto operands = ast_.children(id);
  Label end;
  // Not into `dst`, which an operand may read: the accumulator of a loop.
  const Operand left = emitter_.NewRegister();
  PlanTo(operands[0], left);
  emitter_.EmitJump({.op = conjunction ? Op::kJumpIfFalse : Op::kJumpIfTrue, .a = left}, end);
  const Operand right = Plan(operands[1]);
  emitter_.Emit({.op = conjunction ? Op::kAnd : Op::kOr, .dst = left, .a = left, .b = right});
  emitter_.Bind(end);
  MoveTo(left, dst);
}

void Builder::PlanOptionalOr(NodeId id, Operand dst, Op op) {
  const auto operands = ast_.children(id);
  Label end;
  const Operand left = Plan(operands[0]);
  emitter_.EmitJump({.op = op, .dst = dst, .a = left}, end);
  PlanTo(operands[1], dst);
  emitter_.Bind(end);
}

void Builder::PlanBinary(NodeId id, Operand dst, Instruction instruction) {
  const auto operands = ast_.children(id);
  instruction.dst = dst;
  instruction.a = Plan(operands[0]);
  instruction.b = Plan(operands[1]);
  emitter_.Emit(instruction);
}

// Plans the operators that have an instruction. False: the node is another call.
bool Builder::PlanOperator(NodeId id, Operand dst) {
  const std::string_view function = ast_.name_of(id);
  if (ast_.node(id).has_target) return false;
  const std::size_t count = ast_.node(id).count;
  if (count == 1 && function == "!_") {
    const Operand operand = Plan(ast_.children(id)[0]);
    emitter_.Emit({.op = Op::kNot, .cost = 1, .dst = dst, .a = operand});
    return true;
  }
  if (count != 2) return false;
  const bool sized = IsSized(checked_.OverloadOf(id));
  if (function == "_==_") {
    PlanBinary(id, dst, {.op = Op::kEqual});
  } else if (function == "_!=_") {
    PlanBinary(id, dst, {.op = Op::kNotEqual});
  } else if (function == "_+_") {
    PlanBinary(id, dst,
               {.op = Op::kAdd,
                .flags = static_cast<std::uint8_t>(sized ? kSizedAdd : 0),
                .cost = static_cast<std::uint16_t>(sized ? 0 : 1)});
  } else if (const std::optional<RelationFlag> relation = RelationOf(function)) {
    PlanBinary(id, dst,
               {.op = Op::kRelation,
                .flags = static_cast<std::uint8_t>(*relation | (sized ? kSizedRelation : 0)),
                .cost = static_cast<std::uint16_t>(sized ? 0 : 1)});
  } else {
    return function == "@in" && PlanIn(id, dst);
  }
  return true;
}

// Looks a value up among constant scalars. This costs nothing.
bool Builder::PlanIn(NodeId id, Operand dst) {
  const auto operands = ast_.children(id);
  const Overload* const overload = checked_.OverloadOf(id);
  if (overload == nullptr || overload->id != "in_list" || !constants_.Is(operands[1])) {
    return false;
  }
  auto& set = program_.arena.Make(MapContent());
  if (!MakeSet(program_.constants[constants_.of_node[operands[1]]], set, program_.arena)) {
    return false;
  }
  const Operand value = Plan(operands[0]);
  program_.constants.push_back(Value::Map(set));
  const auto number = static_cast<Operand>((program_.constants.size() - 1) | kConstantBit);
  emitter_.Emit({.op = Op::kInSet, .dst = dst, .a = value, .b = number});
  return true;
}

void Builder::PlanFunction(NodeId id, Operand dst) {
  const check::ResolvedCall& call = checked_.calls[id];
  if (call.function == nullptr) {
    return Refuse(id, "no such overload: " + std::string(ast_.name_of(id)));
  }
  Callee callee = MakeCallee(*call.function, checked_.OverloadOf(id));
  Prepare(id, callee);
  // Calls of three arguments, those whose overload is found when they are made, and those with a
  // constant pattern evaluate no argument after an error, and such a call costs nothing.
  const auto arguments = ast_.children(id);
  const bool stops = arguments.size() >= 3 || callee.handler == nullptr || callee.replaced;
  Label end;
  const auto count = static_cast<std::uint32_t>(arguments.size());
  const std::optional<Operand> last = count == 0 ? std::nullopt : ConstantOf(arguments.back());
  const Operand first = emitter_.NewRegister(std::max<std::uint32_t>(1, count));
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto place = static_cast<Operand>(first + i);
    if (last.has_value() && i + 1 == count) break;
    PlanTo(arguments[i], place);
    if (stops && i + 1 < count && !callee.non_strict && !constants_.Is(arguments[i])) {
      emitter_.EmitJump({.op = Op::kCheck, .dst = dst, .a = place}, end);
    }
  }
  program_.callees.push_back(std::move(callee));
  emitter_.Emit({.op = Op::kCall,
                 .flags = static_cast<std::uint8_t>(count),
                 .dst = dst,
                 .a = first,
                 .b = last.value_or(kNoOperand),
                 .target = static_cast<std::uint32_t>(program_.callees.size() - 1)});
  emitter_.Bind(end);
}

// Lets the function prepare what its constant arguments determine, as a compiled pattern.
void Builder::Prepare(NodeId id, Callee& callee) {
  for (const Function* const row : callee.function->rows) {
    if (row->prepare == nullptr || callee.prepared != nullptr) continue;
    std::vector<const Value*> constants;
    for (const NodeId argument : ast_.children(id)) {
      constants.push_back(
          constants_.Is(argument) ? &program_.constants[constants_.of_node[argument]] : nullptr);
    }
    Result<std::shared_ptr<const void>> prepared = row->prepare(constants);
    if (!prepared.ok()) return Refuse(id, std::string(prepared.status().message()));
    callee.prepared = *std::move(prepared);
    callee.replaced = callee.prepared != nullptr && row->replaced_if_prepared;
  }
}

}  // namespace apiserver::v0::cel::plan
