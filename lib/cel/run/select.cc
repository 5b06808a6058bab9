#include "cel/run/lookup.h"
#include "cel/run/machine.h"
#include "cel/run/marks.h"
#include "cel/run/member_index.h"
#include "cel/run/rewrap.h"
#include "cel/run/views.h"

namespace apiserver::v0::cel::steps {
namespace {

using plan::Instruction;
using Kind = Value::Kind;

// The value that a selection begins with.
struct Object {
  const Value* value;
  bool in_optional;
};

// Ends the chain with a value: an error, or optional.none().
const Instruction* EndChain(Machine& machine, const Instruction& step, const Value& value) {
  machine.registers[step.dst] = value;
  return machine.To(step.target);
}

// has() of an absent link or an empty optional is false.
Value Absent(const Instruction& step) {
  return (step.flags & plan::kTest) != 0 ? Value::Bool(false) : Value::None();
}

// Looks at the object. nullptr in `value`: the chain has ended, in `next`.
Object Begin(Machine& machine, const Instruction& step, const Instruction*& next) {
  const Value& object = machine.At(step.a);
  bool in_optional = Marks::InOptional(object);
  const Value* value = &object;
  if (object.is_error()) {
    next = EndChain(machine, step, object);
    return {nullptr, false};
  }
  if ((step.flags & plan::kFirst) != 0 && object.Is(Kind::kOptional)) {
    if (object.AsOptional() == nullptr) {
      next = EndChain(machine, step, Absent(step));
      return {nullptr, false};
    }
    value = &machine.arena.Make(TakenOut(*object.AsOptional(), machine.arena));
    in_optional = true;
    if (value->is_error()) {
      next = EndChain(machine, step, *value);
      return {nullptr, false};
    }
  }
  return {value, in_optional || (step.flags & plan::kOptional) != 0};
}

// Puts the result of a selection into its register.
const Instruction* Finish(Machine& machine, const Instruction& step, const Value& found,
                          bool in_optional) {
  Value& place = machine.registers[step.dst];
  if (found.is_error()) return EndChain(machine, step, found);
  if ((step.flags & plan::kTest) != 0) {
    place = Value::Bool(true);
  } else if (in_optional && (step.flags & plan::kLast) != 0) {
    place = Value::Optional(found, machine.arena);
  } else {
    place = found;
    Marks::SetInOptional(place, in_optional);
  }
  return &step + 1;
}

// A selection in an optional chain, or of has(): absence is no error. A step that is absent costs
// nothing in an optional chain.
const Instruction* FinishMaybe(Machine& machine, const Instruction& step,
                               const std::optional<Value>& found, bool in_optional) {
  const bool present = found.has_value() && !found->is_error();
  if (present || !in_optional) ++machine.cost;
  if (!found.has_value()) return EndChain(machine, step, Absent(step));
  return Finish(machine, step, *found, in_optional);
}

const runtime::Value* FindName(Machine& machine, const Instruction& step,
                               std::span<const runtime::Member> members) {
  const std::string_view name = machine.program.names[step.b].name;
  return members.size() <= kSearchedMembersMax ? FindMember(members, name)
                                               : machine.arena.FindMember(members, name);
}

// Runs a selection from any value. Its many registers are saved only when it is called.
[[gnu::noinline]] const Instruction* SelectSlowly(Machine& machine, const Instruction& step) {
  const Instruction* next = nullptr;
  const auto [object, in_optional] = Begin(machine, step, next);
  if (object == nullptr) return next;
  const FieldName& name = machine.program.names[step.b];
  if (in_optional || (step.flags & plan::kTest) != 0) {
    return FinishMaybe(machine, step, FindField(*object, name, machine.arena), in_optional);
  }
  ++machine.cost;
  const auto select = (step.flags & plan::kTyped) != 0 ? SelectTypedField : SelectField;
  return Finish(machine, step, select(*object, name, machine.arena), false);
}

}  // namespace

const Instruction* SelectPlain(Machine& machine, const Instruction& step,
                               std::span<const runtime::Member> members) {
  const runtime::Value* member = FindName(machine, step, members);
  if (member == nullptr) return nullptr;
  ++machine.cost;
  const Instruction* next = &step + 1;
  while ((next->flags & plan::kContinues) != 0 && member->is_map()) {
    const runtime::Value* const inner = FindName(machine, *next, member->members());
    if (inner == nullptr) break;
    member = inner;
    machine.cost += next->cost + std::uint64_t{1};
    ++next;
  }
  DataViews::SetPlain(machine.registers[step.dst], *member, machine.arena);
  return next;
}

const Instruction* Select(Machine& machine, const Instruction& step) {
  const Value& object = machine.At(step.a);
  if (IsPlainMap(object) && (step.flags & (plan::kTest | plan::kOptional)) == 0) {
    const Instruction* const next = SelectPlain(machine, step, object.data_members());
    if (next != nullptr) return next;
  }
  return SelectSlowly(machine, step);
}

const Instruction* Index(Machine& machine, const Instruction& step) {
  const Instruction* next = nullptr;
  const auto [object, in_optional] = Begin(machine, step, next);
  if (object == nullptr) return next;
  const Value& index = machine.At(step.b);
  // A key is compared with those of its length.
  constexpr std::uint32_t kKeyBytesFree = 4096;
  constexpr std::uint64_t kKeyBytesPerStep = 256;
  if (index.is_string() && index.size() > kKeyBytesFree) {
    (void)machine.arena.TakeWork(index.size() / kKeyBytesPerStep);
  }
  if (!IsIndex(index)) {
    if (!in_optional) ++machine.cost;
    return EndChain(machine, step,
                    NotAnIndex(index, (step.flags & plan::kNative) != 0, machine.arena));
  }
  if (in_optional) {
    const std::optional<Value> found = FindIndex(*object, index, machine.arena);
    // An item of data that does not fit its schema is there.
    if (object->is_list() && index.Is(Kind::kInt) && found.has_value() && found->is_error() &&
        (step.flags & plan::kLast) != 0) {
      ++machine.cost;
      machine.registers[step.dst] = Value::Optional(*found, machine.arena);
      return &step + 1;
    }
    return FinishMaybe(machine, step, found, true);
  }
  ++machine.cost;
  return Finish(machine, step, ApplyIndex(*object, index, machine.arena), false);
}

const Instruction* Unwrap(Machine& machine, const Instruction& step) {
  const Value object = machine.At(step.a);
  if (object.is_error()) return EndChain(machine, step, object);
  if (!object.Is(Kind::kOptional)) {
    machine.registers[step.dst] = object;
    return &step + 1;
  }
  if (object.AsOptional() == nullptr) return EndChain(machine, step, object);
  const Value held = TakenOut(*object.AsOptional(), machine.arena);
  if (held.is_error()) return EndChain(machine, step, held);
  machine.registers[step.dst] = held;
  Marks::SetInOptional(machine.registers[step.dst], true);
  return &step + 1;
}

const Instruction* Rewrap(Machine& machine, const Instruction& step) {
  RewrapVariable(machine.registers[step.dst], machine.arena);
  return &step + 1;
}

const Instruction* Presence(Machine& machine, const Instruction& step) {
  Value& place = machine.registers[step.dst];
  if (place.Is(Kind::kOptional)) place = Value::Bool(place.AsOptional() != nullptr);
  if ((step.flags & plan::kRefund) != 0 && machine.cost > 0) --machine.cost;
  return &step + 1;
}

}  // namespace apiserver::v0::cel::steps
