#include "cel/plan/builder.h"

// Comprehensions: evalFold of cel-go's interpreter.
namespace apiserver::v0::cel::plan {
namespace {

using syntax::NodeId;
using syntax::NodeKind;

}  // namespace

void Builder::PlanComprehension(NodeId id, Operand dst) {
  const syntax::Comprehension loop = ast_.comprehension(id);
  const std::size_t scope = scopes_.size();
  const bool outer_in_place = accumulates_in_place_;
  Label failed;
  // A bind iterates over nothing: its variable is the accumulator.
  const bool binds = constants_.Is(loop.range) &&
                     program_.constants[constants_.of_node[loop.range]].is_list() &&
                     program_.constants[constants_.of_node[loop.range]].size() == 0;
  const Operand iterator = binds ? kNoOperand : emitter_.NewRegister(2);
  if (!binds) {
    PlanTo(loop.range, iterator);
    emitter_.EmitJump({.op = Op::kLoopBegin,
                       .flags = static_cast<std::uint8_t>(
                           loop.second_variable == syntax::kNoName ? 0 : kTwoVariables),
                       .dst = iterator,
                       .a = dst},
                      failed);
  }
  const Operand accumulator = BeginAccumulator(loop);
  if (!binds) PlanLoop(id, iterator, accumulator);
  accumulates_in_place_ = outer_in_place;
  PlanTo(loop.result, dst);
  emitter_.Bind(failed);
  scopes_.resize(scope);
}

// Declares the accumulator. A constant begins at once, which costs nothing; every other init is
// computed when the accumulator is first read.
Operand Builder::BeginAccumulator(const syntax::Comprehension& loop) {
  const Operand place = emitter_.NewRegister(2);
  Local local{.name = loop.accumulator, .place = place};
  accumulates_in_place_ = false;
  if (constants_.Is(loop.init)) {
    const Value& init = program_.constants[constants_.of_node[loop.init]];
    accumulates_in_place_ = (init.is_list() || init.is_map()) && init.size() == 0;
    if (init.is_map() && accumulates_in_place_) {
      emitter_.Emit({.op = Op::kNewMap, .dst = place});
    } else {
      MoveTo(*ConstantOf(loop.init), place);
    }
  } else {
    local.lazy = true;
    local.init = static_cast<std::uint32_t>(deferred_.size());
    Deferred& deferred = deferred_.emplace_back();
    deferred.init = loop.init;
    deferred.place = place;
    deferred.scopes = scopes_;
    emitter_.Emit({.op = Op::kSetUnset, .dst = place});
  }
  scopes_.push_back(local);
  return place;
}

void Builder::PlanLoop(NodeId id, Operand iterator, Operand accumulator) {
  const syntax::Comprehension loop = ast_.comprehension(id);
  const std::size_t scope = scopes_.size();
  const Operand first = emitter_.NewRegister();
  Instruction next{.op = Op::kLoopNext, .dst = iterator, .a = first, .b = kNoOperand};
  scopes_.push_back({.name = loop.variable, .place = first});
  if (loop.second_variable != syntax::kNoName) {
    next.b = emitter_.NewRegister();
    scopes_.push_back({.name = loop.second_variable, .place = next.b});
  }
  // The accumulator hides a variable of the same name.
  scopes_.push_back(scopes_[scope - 1]);
  Label done;
  emitter_.Flush();
  const std::uint32_t top = emitter_.Here();
  emitter_.EmitJump(next, done);
  PlanCondition(loop.condition, accumulator, done);
  if (!PlanLogicalLoop(loop.step, next, accumulator)) {
    PlanStep(loop.step, accumulator);
    emitter_.Emit({.op = Op::kJump, .target = top});
  }
  emitter_.Bind(done);
  // The result does not see the variables of the loop.
  scopes_.resize(scope);
}

bool Builder::IsAccumulator(NodeId id, Operand accumulator) const {
  const Local* const local = FindLocal(id);
  return local != nullptr && local->place == accumulator && !local->lazy;
}

// The conditions of all and exists have an instruction: @not_strictly_false(a), and of !a.
void Builder::PlanCondition(NodeId id, Operand accumulator, Label& done) {
  if (constants_.Is(id)) {
    const Value& constant = program_.constants[constants_.of_node[id]];
    if (constant.is_bool() && !constant.AsBool()) emitter_.EmitJump(done);
    return;
  }
  const auto is_call = [this](NodeId node, std::string_view function) {
    return ast_.node(node).kind == NodeKind::kCall && ast_.name_of(node) == function &&
           ast_.node(node).count == 1;
  };
  if (is_call(id, "@not_strictly_false")) {
    const NodeId tested = ast_.children(id)[0];
    if (IsAccumulator(tested, accumulator)) {
      return emitter_.EmitJump(
          {.op = Op::kLoopUntilFalse, .cost = kAllConditionCost, .a = accumulator}, done);
    }
    if (is_call(tested, "!_") && IsAccumulator(ast_.children(tested)[0], accumulator)) {
      return emitter_.EmitJump(
          {.op = Op::kLoopUntilTrue, .cost = kExistsConditionCost, .a = accumulator}, done);
    }
  }
  const std::uint32_t free = emitter_.next_register();
  const Operand condition = Plan(id);
  emitter_.EmitJump({.op = Op::kLoopWhile, .a = condition}, done);
  emitter_.next_register() = free;
}

// all and exists: after the condition has seen that the accumulator does not decide, only the
// element can. Its value goes into the second register of the accumulator, which serves those that
// are computed when they are first read.
bool Builder::PlanLogicalLoop(NodeId step, Instruction next, Operand accumulator) {
  const Op condition = program_.code.back().op;
  const bool all = condition == Op::kLoopUntilFalse;
  if ((!all && condition != Op::kLoopUntilTrue) || program_.code.back().a != accumulator ||
      accumulator != next.dst + 2 || !IsLogicalStep(step, all ? "_&&_" : "_||_", accumulator)) {
    return false;
  }
  const auto operands = ast_.children(step);
  next.op = all ? Op::kAllNext : Op::kExistsNext;
  next.target = emitter_.Here();
  Plan(operands[0]);
  PlanTo(operands[1], static_cast<Operand>(accumulator + 1));
  emitter_.Emit(next);
  return true;
}

bool Builder::IsLogicalStep(NodeId id, std::string_view function, Operand accumulator) const {
  return !constants_.Is(id) && ast_.node(id).kind == NodeKind::kCall &&
         ast_.name_of(id) == function && ast_.node(id).count == 2 &&
         IsAccumulator(ast_.children(id)[0], accumulator);
}

void Builder::PlanStep(NodeId id, Operand accumulator) {
  if (PlanStepInPlace(id, accumulator)) return;
  const std::uint32_t free = emitter_.next_register();
  const Operand value = emitter_.NewRegister();
  PlanTo(id, value);
  MoveTo(value, accumulator);
  emitter_.next_register() = free;
}

bool Builder::PlanStepInPlace(NodeId id, Operand accumulator) {
  return PlanLogicalStep(id, accumulator) || PlanAppend(id, accumulator) ||
         PlanInsert(id, accumulator) || PlanFilter(id, accumulator);
}

// a && p and a || p: all and exists.
bool Builder::PlanLogicalStep(NodeId id, Operand accumulator) {
  const bool conjunction = IsLogicalStep(id, "_&&_", accumulator);
  if (!conjunction && !IsLogicalStep(id, "_||_", accumulator)) return false;
  const auto operands = ast_.children(id);
  Label end;
  const std::uint32_t free = emitter_.next_register();
  const Operand left = Plan(operands[0]);
  emitter_.EmitJump({.op = conjunction ? Op::kJumpIfFalse : Op::kJumpIfTrue, .a = left}, end);
  const Operand right = Plan(operands[1]);
  emitter_.Emit(
      {.op = conjunction ? Op::kAnd : Op::kOr, .dst = accumulator, .a = left, .b = right});
  emitter_.Bind(end);
  emitter_.next_register() = free;
  return true;
}

// a + [t]
bool Builder::PlanAppend(NodeId id, Operand accumulator) {
  if (!accumulates_in_place_ || constants_.Is(id) || ast_.node(id).kind != NodeKind::kCall ||
      ast_.name_of(id) != "_+_" || ast_.node(id).count != 2) {
    return false;
  }
  const NodeId list = ast_.children(id)[1];
  if (!IsAccumulator(ast_.children(id)[0], accumulator) ||
      ast_.node(list).kind != NodeKind::kList || ast_.node(list).count != 1 ||
      ast_.entry(list, 0).optional) {
    return false;
  }
  const std::uint32_t free = emitter_.next_register();
  const bool in_place = accumulates_in_place_;
  const Operand element = Plan(ast_.children(list)[0]);
  accumulates_in_place_ = in_place;
  const std::uint16_t list_cost = constants_.Is(list) ? 0 : kListCost;
  emitter_.Emit({.op = Op::kAppend,
                 .cost = static_cast<std::uint16_t>(list_cost + 2),
                 .dst = accumulator,
                 .a = element});
  emitter_.next_register() = free;
  return true;
}

// cel.@mapInsert(a, key, value) and cel.@mapInsert(a, map).
bool Builder::PlanInsert(NodeId id, Operand accumulator) {
  if (!accumulates_in_place_ || constants_.Is(id) || ast_.node(id).kind != NodeKind::kCall ||
      ast_.name_of(id) != "cel.@mapInsert") {
    return false;
  }
  const auto arguments = ast_.children(id);
  if (arguments.size() < 2 || arguments.size() > 3 || !IsAccumulator(arguments[0], accumulator)) {
    return false;
  }
  Label end;
  const std::uint32_t free = emitter_.next_register();
  const bool three = arguments.size() == 3;
  emitter_.Charge(1);
  // With three arguments none is evaluated after an error.
  if (three) emitter_.EmitJump({.op = Op::kCheck, .dst = accumulator, .a = accumulator}, end);
  const Operand key = Plan(arguments[1]);
  if (three) emitter_.EmitJump({.op = Op::kCheck, .dst = accumulator, .a = key}, end);
  const Operand value = three ? Plan(arguments[2]) : kNoOperand;
  emitter_.Emit({.op = Op::kInsert, .cost = 1, .dst = accumulator, .a = key, .b = value});
  emitter_.Bind(end);
  emitter_.next_register() = free;
  return true;
}

// p ? step : a
bool Builder::PlanFilter(NodeId id, Operand accumulator) {
  if (!accumulates_in_place_ || constants_.Is(id) || ast_.node(id).kind != NodeKind::kCall ||
      ast_.name_of(id) != "_?_:_") {
    return false;
  }
  const auto children = ast_.children(id);
  if (!IsAccumulator(children[2], accumulator)) return false;
  Label end;
  const std::uint32_t free = emitter_.next_register();
  const Operand condition = Plan(children[0]);
  emitter_.EmitJump({.op = Op::kBranch, .dst = accumulator, .a = condition}, end);
  emitter_.EmitJump(end);
  emitter_.next_register() = free;
  PlanStep(children[1], accumulator);
  emitter_.Bind(end);
  return true;
}

}  // namespace apiserver::v0::cel::plan
