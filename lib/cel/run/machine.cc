#include "cel/run/machine.h"

#include <array>
#include <string>

#include "cel/run/marks.h"
#include "cel/run/registers.h"
#include "cel/run/rewrap.h"

namespace apiserver::v0::cel {
namespace {

using plan::Instruction;
using plan::Op;

constexpr std::size_t kOpCount = static_cast<std::size_t>(Op::kReturn) + 1;

// The steps, in the order of Op.
constexpr std::array<Step, kOpCount> kSteps = {
    steps::Charge,
    steps::LoadInput,
    steps::Move,
    steps::SetUnset,
    steps::EnsureSet,
    steps::ReturnSet,
    steps::Select,
    steps::Index,
    steps::Unwrap,
    steps::Rewrap,
    steps::Presence,
    steps::CallFunction,
    steps::CompareEqual,
    steps::CompareNotEqual,
    steps::Relate,
    steps::AddValues,
    steps::Not,
    steps::InSet,
    steps::Jump,
    steps::JumpIfFalse,
    steps::JumpIfTrue,
    steps::And,
    steps::Or,
    steps::Branch,
    steps::Check,
    steps::OptionalOr,
    steps::OptionalValue,
    steps::NewList,
    steps::Push,
    steps::NewMap,
    steps::Put,
    steps::NewMessage,
    steps::SetField,
    steps::EndMessage,
    steps::LoopBegin,
    steps::LoopNext,
    steps::LoopWhile,
    steps::LoopUntilFalse,
    steps::LoopUntilTrue,
    steps::AllNext,
    steps::ExistsNext,
    steps::Append,
    steps::Insert,
    steps::Return,
};

}  // namespace

void Machine::Run(Value* first_register) {
  registers = first_register;
  const Instruction* next = program.code.data();
  while (next != nullptr) {
    cost += next->cost;
    next = kSteps[static_cast<std::size_t>(next->op)](*this, *next);
  }
  // Fixed costs are looked at here and at every iteration; they only grow meanwhile.
  if (end == End::kValue && cost > limit) end = End::kCostLimit;
}

namespace steps {

const Instruction* Charge(Machine&, const Instruction& step) { return &step + 1; }

const Instruction* LoadInput(Machine& machine, const Instruction& step) {
  Value& place = machine.registers[step.dst];
  if (step.target < machine.inputs.size()) {
    const Input& input = machine.inputs[step.target];
    const Instruction& next = *(&step + 1);
    if ((next.flags & plan::kContinues) != 0 && input.lazy == nullptr && IsPlainMap(input.value)) {
      const Instruction* const after = SelectPlain(machine, next, input.value.data_members());
      if (after != nullptr) {
        machine.cost += next.cost;
        return after;
      }
    }
    place = input.lazy == nullptr ? input.value : input.lazy->Get(machine.scratch, machine.context);
    RewrapVariable(place, machine.arena);
    return &step + 1;
  }
  const std::string& name = machine.program.environment.variable(step.target).name;
  place = Value::Error(machine.arena.Copy("no such attribute(s): " + name));
  return &step + 1;
}

const Instruction* Move(Machine& machine, const Instruction& step) {
  machine.registers[step.dst] = machine.At(step.a);
  return &step + 1;
}

const Instruction* SetUnset(Machine& machine, const Instruction& step) {
  machine.registers[step.dst] = Marks::Unset();
  return &step + 1;
}

const Instruction* EnsureSet(Machine& machine, const Instruction& step) {
  if (!Marks::IsUnset(machine.registers[step.dst])) return &step + 1;
  const std::int64_t back = &step + 1 - machine.program.code.data();
  machine.registers[step.dst + 1] = Value::Int(back);
  return machine.To(step.target);
}

const Instruction* ReturnSet(Machine& machine, const Instruction& step) {
  RewrapVariable(machine.registers[step.dst], machine.arena);
  return machine.To(static_cast<std::uint32_t>(machine.registers[step.dst + 1].AsInt()));
}

const Instruction* Return(Machine& machine, const Instruction& step) {
  machine.result = machine.At(step.a);
  return nullptr;
}

}  // namespace steps

Outcome Evaluate(const Program& program, std::span<const Input> inputs, Budget& budget,
                 Scratch& scratch, const Context& context) {
  const ProgramState& state = program.state();
  Registers registers(scratch, state.register_count);
  Machine machine(state, inputs, budget.per_call, scratch, context);
  machine.Run(registers.first());
  budget.remaining -= static_cast<std::int64_t>(machine.cost);
  Outcome outcome{.value = machine.result, .cost = machine.cost, .end = machine.end};
  switch (machine.end) {
    case End::kCostLimit:
      outcome.error = "operation cancelled: actual cost limit exceeded";
      break;
    case End::kInterrupted:
      outcome.error = "operation interrupted";
      break;
    case End::kWouldBlock:
      outcome.error = "operation would block";
      break;
    default:
      if (!machine.result.is_error()) return outcome;
      outcome.error = machine.result.AsText();
      outcome.end = End::kError;
  }
  outcome.value = Value::Error(outcome.error);
  return outcome;
}

}  // namespace apiserver::v0::cel
