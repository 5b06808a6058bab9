#include <new>

#include "cel/run/arithmetic.h"
#include "cel/run/dispatch.h"
#include "cel/run/equality.h"
#include "cel/run/machine.h"
#include "cel/run/map.h"
#include "cel/run/order.h"
#include "cel/run/size.h"

#include "cel/declare/range.h"

namespace apiserver::v0::cel::steps {
namespace {

using plan::Instruction;
using Kind = Value::Kind;

// Returns the first of two operands that is an error. nullptr: neither is.
const Value* ErrorOf(const Value& a, const Value& b) {
  if (a.is_error()) return &a;
  return b.is_error() ? &b : nullptr;
}

bool IsScalar(const Value& value) {
  return value.kind() <= Kind::kDouble || value.Is(Kind::kTimestamp) || value.Is(Kind::kDuration);
}

// ⌈the smaller size × 0.1⌉.
std::uint64_t CostOfSmaller(const Value& a, const Value& b) {
  // Scalars have size 1, so that only an empty text or list is cheaper.
  if (IsScalar(a) && IsScalar(b)) return 1;
  return MultiplyByFactor(std::min(CostSize(a), CostSize(b)), kStringTraversal);
}

Value EqualOperands(Machine& machine, const Instruction& step, bool inequality) {
  const Value& a = machine.At(step.a);
  const Value& b = machine.At(step.b);
  // Kubernetes' types are compared at the cost of 1; for "!=" it forgot that.
  const bool opaque = a.Is(Kind::kOpaque) && !inequality;
  machine.Charge(opaque ? 1 : CostOfSmaller(a, b));
  if (const Value* const error = ErrorOf(a, b)) return *error;
  return Equal(a, b, machine.arena);
}

// Ends the run if a step has exceeded the limit.
inline const Instruction* Next(Machine& machine, const Instruction& step) {
  return machine.IsOverLimit() ? machine.StopOverLimit() : &step + 1;
}

bool Holds(std::int64_t sign, std::uint8_t relation) {
  switch (relation) {
    case plan::kLess:
      return sign < 0;
    case plan::kLessOrEqual:
      return sign <= 0;
    case plan::kGreater:
      return sign > 0;
    default:
      return sign >= 0;
  }
}

Value NoOperator(Machine& machine, std::string_view name) {
  return Value::Error(machine.arena.Copy("no such overload: " + std::string(name)));
}

std::string_view NameOf(std::uint8_t relation) {
  constexpr std::string_view kNames[] = {"_<_", "_<=_", "_>_", "_>=_"};
  return kNames[relation];
}

// The work of reading large texts, for functions whose cost does not depend on their size.
std::uint64_t WorkOfTexts(std::span<const Value> arguments) {
  constexpr std::uint32_t kBytesFree = 4096;
  constexpr std::uint64_t kBytesPerStep = 32;
  std::uint64_t work = 0;
  for (const Value& argument : arguments) {
    const bool text = argument.is_string() || argument.Is(Kind::kBytes);
    if (text && argument.size() > kBytesFree) work += argument.size() / kBytesPerStep;
  }
  return work;
}

}  // namespace

const Instruction* CompareEqual(Machine& machine, const Instruction& step) {
  machine.registers[step.dst] = EqualOperands(machine, step, false);
  return Next(machine, step);
}

const Instruction* CompareNotEqual(Machine& machine, const Instruction& step) {
  const Value& a = machine.At(step.a);
  const Value& b = machine.At(step.b);
  const Value* const error = ErrorOf(a, b);
  const Value equal = EqualOperands(machine, step, true);
  // An error of the comparison itself counts as inequality.
  if (error == nullptr) {
    machine.registers[step.dst] = Value::Bool(!(equal.is_bool() && equal.AsBool()));
  } else {
    machine.registers[step.dst] = equal;
  }
  return Next(machine, step);
}

const Instruction* Relate(Machine& machine, const Instruction& step) {
  const Value& a = machine.At(step.a);
  const Value& b = machine.At(step.b);
  Value& place = machine.registers[step.dst];
  const std::uint8_t relation = step.flags & plan::kRelationMask;
  if (a.Is(Kind::kInt) && b.Is(Kind::kInt)) {
    const std::int64_t sign = a.AsInt() < b.AsInt() ? -1 : static_cast<int>(a.AsInt() > b.AsInt());
    place = Value::Bool(Holds(sign, relation));
    return &step + 1;
  }
  if ((step.flags & plan::kSizedRelation) != 0) machine.Charge(CostOfSmaller(a, b));
  if (const Value* const error = ErrorOf(a, b)) {
    place = *error;
  } else if (!IsOrdered(a.kind())) {
    place = NoOperator(machine, NameOf(relation));
  } else {
    const Value order = Compare(a, b);
    place = order.is_error() ? order : Value::Bool(Holds(order.AsInt(), relation));
  }
  return Next(machine, step);
}

const Instruction* AddValues(Machine& machine, const Instruction& step) {
  const Value& a = machine.At(step.a);
  const Value& b = machine.At(step.b);
  if ((step.flags & plan::kSizedAdd) != 0) {
    const std::uint64_t size = CostSize(a) + CostSize(b);
    // Before the text is built.
    if (!machine.Charge(MultiplyByFactor(size, kStringTraversal))) {
      return machine.Stop(End::kCostLimit);
    }
  }
  Value& place = machine.registers[step.dst];
  if (const Value* const error = ErrorOf(a, b)) {
    place = *error;
    return &step + 1;
  }
  if (IsTooLargeToAdd(a, b)) return machine.StopOverLimit();
  const std::optional<Value> sum = Add(a, b, machine.arena);
  place = sum.has_value() ? *sum : NoOperator(machine, "_+_");
  return Next(machine, step);
}

const Instruction* Not(Machine& machine, const Instruction& step) {
  const Value& a = machine.At(step.a);
  Value& place = machine.registers[step.dst];
  if (a.is_bool()) {
    place = Value::Bool(!a.AsBool());
  } else {
    place = a.is_error() ? a : Value::Error("no such overload");
  }
  return &step + 1;
}

const Instruction* InSet(Machine& machine, const Instruction& step) {
  const Value& a = machine.At(step.a);
  Value& place = machine.registers[step.dst];
  place = a.is_error() ? a : Value::Bool(FindExactly(machine.At(step.b).built_map(), a) != nullptr);
  return &step + 1;
}

const Instruction* CallFunction(Machine& machine, const Instruction& step) {
  const plan::Callee& callee = machine.program.callees[step.target];
  if (step.b != plan::kNoOperand) {
    machine.registers[step.a + step.flags - 1] = machine.At(step.b);
  }
  const std::span<const Value> arguments(machine.registers + step.a, step.flags);
  if (callee.cost_before_call) {
    if (!machine.Charge(CostOfCall(callee, arguments, nullptr))) {
      return machine.Stop(End::kCostLimit);
    }
  }
  CallContext::Shared shared{machine.arena, machine.context, machine.cost, machine.limit};
  if (callee.cost_by_name == nullptr && callee.cost_by_overload == nullptr &&
      !machine.arena.TakeWork(WorkOfTexts(arguments))) {
    return machine.StopOverLimit();
  }
  // Makes the result in its place, which is none of the arguments: reading a copy of what was just
  // written stalls.
  Value* const result = ::new (machine.registers + step.dst) Value(Call(callee, shared, arguments));
  if (shared.over_limit) return machine.StopOverLimit();
  if (shared.interrupted) return machine.Stop(End::kInterrupted);
  if (shared.would_block) return machine.Stop(End::kWouldBlock);
  if (!callee.cost_before_call && !machine.Charge(CostOfCall(callee, arguments, result))) {
    return machine.Stop(End::kCostLimit);
  }
  return Next(machine, step);
}

}  // namespace apiserver::v0::cel::steps
