#include <algorithm>
#include <bit>
#include <string>

#include "cel/run/machine.h"
#include "cel/run/map.h"
#include "cel/run/print.h"
#include "cel/run/rewrap.h"
#include "cel/run/views.h"

// Comprehensions.
namespace apiserver::v0::cel::steps {
namespace {

using plan::Instruction;

// Iterations between two looks at the Context, as Kubernetes configures cel-go (CheckFrequency).
constexpr std::uint64_t kCheckFrequency = 100;

const Instruction* Fail(Machine& machine, const Instruction& step, std::string_view text) {
  machine.registers[step.a] = Value::Error(machine.arena.Copy(text));
  return machine.To(step.target);
}

// Sets the variables to element `at` of a map. False: iteration passes over it.
bool SetToEntry(Machine& machine, const Instruction& step, const Value& map, std::size_t at) {
  const std::optional<Value> key = MapKeyAt(map, at, machine.arena);
  if (!key.has_value()) return false;
  machine.registers[step.a] = *key;
  if (step.b != plan::kNoOperand) {
    machine.registers[step.b] = MapValueAt(map, at, machine.arena);
    RewrapVariable(machine.registers[step.b], machine.arena);
  }
  return true;
}

void SetToItem(Machine& machine, const Instruction& step, const Value& list, std::size_t at) {
  const bool one = step.b == plan::kNoOperand;
  if (!one) machine.registers[step.a] = Value::Int(static_cast<std::int64_t>(at));
  Value& variable = machine.registers[one ? step.a : step.b];
  variable = list.Item(at, machine.arena);
  RewrapVariable(variable, machine.arena);
}

// The instructions that follow a look for the next element.
struct Followers {
  const Instruction* element;  // There is one.
  const Instruction* done;     // There is none.
};

// Sets the variables to the next element, of any list or map, and after looking at the Context. Its
// many registers are saved only when it is called.
[[gnu::noinline]] const Instruction* AdvanceSlowly(Machine& machine, const Instruction& step,
                                                   const Followers& followers) {
  const Value& range = machine.registers[step.dst];
  auto at = static_cast<std::size_t>(machine.registers[step.dst + 1].AsInt());
  if (machine.iterations == kCheckFrequency) {
    machine.iterations = 0;
    if (machine.IsOverLimit()) return machine.StopOverLimit();
    if (machine.context.done()) return machine.Stop(End::kInterrupted);
  }
  if (range.is_list()) {
    if (at == range.size()) return followers.done;
    SetToItem(machine, step, range, at);
  } else {
    while (at < range.size() && !SetToEntry(machine, step, range, at)) ++at;
    if (at == range.size()) return followers.done;
  }
  machine.registers[step.dst + 1] = Value::Int(static_cast<std::int64_t>(at) + 1);
  return followers.element;
}

// Sets the variables to the next element. Returns the instruction that follows; nullptr: the run
// has ended.
const Instruction* Advance(Machine& machine, const Instruction& step, const Followers& followers) {
  if (machine.cost > machine.limit) return machine.Stop(End::kCostLimit);
  const Value& range = machine.registers[step.dst];
  Value& position = machine.registers[step.dst + 1];
  const auto at = static_cast<std::size_t>(position.AsInt());
  if (at > 0) ++machine.iterations;
  const bool plain = range.is_list() && range.is_data() && range.schema() == nullptr;
  const bool one_variable = step.b == plan::kNoOperand;
  if (!plain || !one_variable || machine.iterations == kCheckFrequency) {
    return AdvanceSlowly(machine, step, followers);
  }
  if (at == range.size()) return followers.done;
  const runtime::Value& item = range.data_items()[at];
  position = Value::Int(static_cast<std::int64_t>(at) + 1);
  DataViews::SetPlain(machine.registers[step.a], item, machine.arena);
  return followers.element;
}

// Ends an iteration of all or exists and begins the next. `deciding`: the value of one element that
// is the result.
template <bool deciding>
const Instruction* LogicalNext(Machine& machine, const Instruction& step) {
  Value& accumulator = machine.registers[step.dst + 2];
  const Value& of_element = machine.registers[step.dst + 3];
  if (accumulator.is_bool() && of_element.is_bool()) {
    accumulator = Value::Bool(of_element.AsBool());
  } else {
    accumulator = Combined(accumulator, of_element, deciding);
  }
  const Followers followers = {.element = machine.To(step.target), .done = &step + 1};
  const Instruction* const next = Advance(machine, step, followers);
  if (next != followers.element) return next;
  // The condition of the loop, which is not evaluated after the last element.
  machine.cost += deciding ? plan::kExistsConditionCost : plan::kAllConditionCost;
  const bool decided = accumulator.is_bool() && accumulator.AsBool() == deciding;
  return decided ? &step + 1 : next;
}

// Inserts an entry into the accumulator. False: its key is there already, and the accumulator an
// error.
bool InsertEntry(Machine& machine, Value& accumulator, const Value& key, const Value& value) {
  auto& content = const_cast<MapContent&>(accumulator.built_map());
  if (FindKey(content, key) != nullptr) {
    accumulator = Value::Error(machine.arena.Copy(
        "insert failed: key " + PrintGoValue(key, machine.arena) + " already exists"));
    return false;
  }
  MapPut(content, key, value, machine.arena);
  accumulator = Value::Map(content);
  return true;
}

void InsertAll(Machine& machine, Value& accumulator, const Value& map) {
  for (std::size_t i = 0; i < map.size(); ++i) {
    const std::optional<Value> key = MapKeyAt(map, i, machine.arena);
    if (!key.has_value()) continue;
    if (!InsertEntry(machine, accumulator, *key, MapValueAt(map, i, machine.arena))) return;
  }
}

}  // namespace

const Instruction* LoopBegin(Machine& machine, const Instruction& step) {
  const Value& range = machine.registers[step.dst];
  if (range.is_error()) {
    machine.registers[step.a] = range;
    return machine.To(step.target);
  }
  if (!range.is_list() && !range.is_map()) {
    const std::string type(GoTypeOf(range));
    return Fail(machine, step,
                (step.flags & plan::kTwoVariables) != 0
                    ? "unsupported comprehension range type: " + type
                    : "got '" + type + "', expected iterable type");
  }
  machine.registers[step.dst + 1] = Value::Int(0);
  return &step + 1;
}

const Instruction* LoopNext(Machine& machine, const Instruction& step) {
  return Advance(machine, step, {.element = &step + 1, .done = machine.To(step.target)});
}

const Instruction* LoopWhile(Machine& machine, const Instruction& step) {
  const Value& a = machine.At(step.a);
  return a.is_bool() && !a.AsBool() ? machine.To(step.target) : &step + 1;
}

const Instruction* LoopUntilFalse(Machine& machine, const Instruction& step) {
  return LoopWhile(machine, step);
}

const Instruction* LoopUntilTrue(Machine& machine, const Instruction& step) {
  const Value& a = machine.At(step.a);
  return a.is_bool() && a.AsBool() ? machine.To(step.target) : &step + 1;
}

const Instruction* AllNext(Machine& machine, const Instruction& step) {
  return LogicalNext<false>(machine, step);
}

const Instruction* ExistsNext(Machine& machine, const Instruction& step) {
  return LogicalNext<true>(machine, step);
}

const Instruction* Append(Machine& machine, const Instruction& step) {
  Value& accumulator = machine.registers[step.dst];
  if (accumulator.is_error()) return &step + 1;
  const Value element = machine.At(step.a);
  if (element.is_error()) {
    accumulator = element;
    return &step + 1;
  }
  const std::span<const Value> items = accumulator.built_items();
  auto* first = const_cast<Value*>(items.data());
  // The room is the next power of two, at least 4: it is full at those sizes.
  const std::size_t size = items.size();
  if (size == 0 || (size >= 4 && std::has_single_bit(size))) {
    const std::span<Value> room = machine.arena.New<Value>(std::max<std::size_t>(4, size * 2));
    std::copy(items.begin(), items.end(), room.begin());
    first = room.data();
  }
  first[size] = element;
  accumulator = Value::List({first, size + 1});
  return &step + 1;
}

const Instruction* Insert(Machine& machine, const Instruction& step) {
  Value& accumulator = machine.registers[step.dst];
  if (accumulator.is_error()) return &step + 1;
  const Value key = machine.At(step.a);
  const Value value = step.b == plan::kNoOperand ? Value() : machine.At(step.b);
  if (key.is_error() || value.is_error()) {
    accumulator = key.is_error() ? key : value;
  } else if (step.b != plan::kNoOperand) {
    InsertEntry(machine, accumulator, key, value);
  } else if (key.is_map()) {
    InsertAll(machine, accumulator, key);
  } else {
    accumulator =
        Value::Error(machine.arena.Copy("no such overload: cel.@mapInsert(map, " +
                                        std::string(Type(key.RuntimeType()).name()) + ")"));
  }
  return &step + 1;
}

}  // namespace apiserver::v0::cel::steps
