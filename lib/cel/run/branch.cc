#include "cel/run/machine.h"

// Jumps and the logical operators.
namespace apiserver::v0::cel {
namespace {

// The error that a value stands for where a bool is needed.
Value NotBool(const Value& value) {
  return value.is_error() ? value : Value::Error("no such overload");
}

}  // namespace

Value Combined(const Value& a, const Value& b, bool deciding) {
  if (b.is_bool() && b.AsBool() == deciding) return b;
  if (!a.is_bool()) return NotBool(a);
  return b.is_bool() ? Value::Bool(!deciding) : NotBool(b);
}

namespace steps {

using plan::Instruction;

const Instruction* Jump(Machine& machine, const Instruction& step) {
  return machine.To(step.target);
}

const Instruction* JumpIfFalse(Machine& machine, const Instruction& step) {
  const Value& a = machine.At(step.a);
  return a.is_bool() && !a.AsBool() ? machine.To(step.target) : &step + 1;
}

const Instruction* JumpIfTrue(Machine& machine, const Instruction& step) {
  const Value& a = machine.At(step.a);
  return a.is_bool() && a.AsBool() ? machine.To(step.target) : &step + 1;
}

const Instruction* And(Machine& machine, const Instruction& step) {
  const Value& a = machine.At(step.a);
  const Value& b = machine.At(step.b);
  const bool bools = a.is_bool() && b.is_bool();
  machine.registers[step.dst] =
      bools ? Value::Bool(a.AsBool() && b.AsBool()) : Combined(a, b, false);
  return &step + 1;
}

const Instruction* Or(Machine& machine, const Instruction& step) {
  const Value& a = machine.At(step.a);
  const Value& b = machine.At(step.b);
  const bool bools = a.is_bool() && b.is_bool();
  machine.registers[step.dst] =
      bools ? Value::Bool(a.AsBool() || b.AsBool()) : Combined(a, b, true);
  return &step + 1;
}

const Instruction* Branch(Machine& machine, const Instruction& step) {
  const Value& a = machine.At(step.a);
  if (a.is_bool()) return a.AsBool() ? &step + 2 : machine.To(step.target);
  machine.registers[step.dst] = NotBool(a);
  return &step + 1;
}

const Instruction* Check(Machine& machine, const Instruction& step) {
  const Value& a = machine.At(step.a);
  if (!a.is_error()) return &step + 1;
  machine.registers[step.dst] = a;
  return machine.To(step.target);
}

const Instruction* OptionalOr(Machine& machine, const Instruction& step) {
  const Value& a = machine.At(step.a);
  if (a.Is(Value::Kind::kOptional) && a.AsOptional() == nullptr) return &step + 1;
  machine.registers[step.dst] = a;
  return machine.To(step.target);
}

const Instruction* OptionalValue(Machine& machine, const Instruction& step) {
  const Value& a = machine.At(step.a);
  const bool optional = a.Is(Value::Kind::kOptional);
  if (optional && a.AsOptional() == nullptr) return &step + 1;
  machine.registers[step.dst] = optional ? *a.AsOptional() : a;
  return machine.To(step.target);
}

}  // namespace steps
}  // namespace apiserver::v0::cel
