#include "cel/run/machine.h"
#include "cel/run/map.h"
#include "cel/run/message.h"
#include "cel/run/print.h"

// Literals of lists, maps and messages.
namespace apiserver::inline v0::cel::steps {
namespace {

using plan::Instruction;
using Kind = Value::Kind;

const Instruction* Fail(Machine& machine, const Instruction& step, const Value& error) {
  machine.registers[step.dst] = error;
  return machine.To(step.target);
}

Value NotOptionalElement(Machine& machine, const Value& value) {
  return Value::Error(
      machine.arena.Copy("cannot initialize optional list element from non-optional value " +
                         PrintValue(value, machine.arena)));
}

Value NotOptionalEntry(Machine& machine, const Value& key, const Value& value) {
  return Value::Error(
      machine.arena.Copy("cannot initialize optional entry '" + PrintValue(key, machine.arena) +
                         "' from non-optional value " + PrintValue(value, machine.arena)));
}

// Changes the map that a register holds, which only the literal refers to.
MapContent& ContentOf(Value& map) { return const_cast<MapContent&>(map.built_map()); }

// Sets or removes an entry of a map or message under construction.
const Instruction* PutEntry(Machine& machine, const Instruction& step, const Value& key,
                            const Value& value) {
  if (value.is_error()) return Fail(machine, step, value);
  Value& map = machine.registers[step.dst];
  MapContent& content = ContentOf(map);
  const Value* put = &value;
  if ((step.flags & plan::kElementOptional) != 0) {
    if (!value.Is(Kind::kOptional)) {
      return Fail(machine, step, NotOptionalEntry(machine, key, value));
    }
    put = value.AsOptional();
  }
  if (put == nullptr) {
    MapRemove(content, key, machine.arena);
  } else {
    MapPut(content, key, *put, machine.arena);
  }
  map = map.Is(Kind::kStruct) ? Value::Struct(content, map.struct_type()) : Value::Map(content);
  return &step + 1;
}

}  // namespace

const Instruction* NewList(Machine& machine, const Instruction& step) {
  const std::span<Value> room = machine.arena.New<Value>(step.target);
  machine.registers[step.dst] = Value::List(room.first(0));
  return &step + 1;
}

const Instruction* Push(Machine& machine, const Instruction& step) {
  const Value* element = &machine.At(step.a);
  if (element->is_error()) return Fail(machine, step, *element);
  if ((step.flags & plan::kElementOptional) != 0) {
    if (!element->Is(Kind::kOptional)) {
      return Fail(machine, step, NotOptionalElement(machine, *element));
    }
    element = element->AsOptional();
    if (element == nullptr) return &step + 1;
  }
  Value& list = machine.registers[step.dst];
  const std::span<const Value> items = list.built_items();
  // NewList() has made room behind the items.
  auto* const first = const_cast<Value*>(items.data());
  first[items.size()] = *element;
  list = Value::List({first, items.size() + 1});
  return &step + 1;
}

const Instruction* NewMap(Machine& machine, const Instruction& step) {
  machine.registers[step.dst] = Value::Map(machine.arena.Make(MapContent()));
  return &step + 1;
}

const Instruction* Put(Machine& machine, const Instruction& step) {
  return PutEntry(machine, step, machine.At(step.a), machine.At(step.b));
}

const Instruction* NewMessage(Machine& machine, const Instruction& step) {
  machine.registers[step.dst] =
      Value::Struct(machine.arena.Make(MapContent()), machine.program.types[step.target].node());
  return &step + 1;
}

const Instruction* SetField(Machine& machine, const Instruction& step) {
  const Value name = Value::String(machine.program.names[step.b].name);
  return PutEntry(machine, step, name, machine.At(step.a));
}

const Instruction* EndMessage(Machine& machine, const Instruction& step) {
  Value& message = machine.registers[step.dst];
  message = FinishMessage(message, machine.arena);
  return &step + 1;
}

}  // namespace apiserver::inline v0::cel::steps
