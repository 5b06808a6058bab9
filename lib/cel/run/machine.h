#pragma once

#include <algorithm>
#include <span>

#include "apiserver/cel/evaluate.h"
#include "cel/declare/range.h"
#include "cel/run/marks.h"
#include "cel/run/program_state.h"

// The machine that runs programs.
namespace apiserver::inline v0::cel {

// The memory that an evaluation may take, and the work that it may do for each unit of its limit
// without a cost (comparisons of nested values: about a second at the usual limit). More ends it as
// the cost limit does.
inline constexpr std::size_t kArenaBytesMax = std::size_t{256} << 20U;
inline constexpr std::uint64_t kWorkPerCost = 32;
// The least work that is allowed, however small the limit.
inline constexpr std::uint64_t kWorkLeast = 1'000'000;

// One run of a program.
class Machine {
 public:
  using Instruction = plan::Instruction;

  Machine(const ProgramState& program, std::span<const Input> inputs, std::uint64_t limit,
          Scratch& scratch, const Context& context)
      : program(program),
        constants(program.constants.data()),
        inputs(inputs),
        scratch(scratch),
        context(context),
        arena(scratch.arena()),
        limit(limit),
        arena_limit(scratch.arena().bytes_used() + kArenaBytesMax),
        outer_work_(arena.work_left()) {
    arena.set_work_left(std::max(SaturatingMultiply(limit, kWorkPerCost), kWorkLeast));
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine() {
    arena.set_work_left(outer_work_);
    arena.ForgetMaps();
  }

  void Run(Value* first_register);

  const Value& At(plan::Operand operand) const {
    return (operand & plan::kConstantBit) == 0
               ? registers[operand]
               : constants[operand & static_cast<plan::Operand>(~plan::kConstantBit)];
  }
  const Instruction* To(std::uint32_t target) const { return program.code.data() + target; }

  // Counts a cost. False: the limit is exceeded, and the machine must stop.
  bool Charge(std::uint64_t cost_of_step) {
    cost = cost_of_step > ~cost ? ~std::uint64_t{0} : cost + cost_of_step;
    return cost <= limit;
  }
  // Ends the run.
  const Instruction* Stop(End how) {
    end = how;
    return nullptr;
  }
  // Ends the run as one whose cost is over the limit.
  const Instruction* StopOverLimit() {
    cost = std::max(cost, SaturatingAdd(limit, 1));
    return Stop(End::kCostLimit);
  }
  // Tells if the cost, the memory or the work is over its limit.
  bool IsOverLimit() const {
    return cost > limit || arena.bytes_used() > arena_limit || arena.out_of_work();
  }

  const ProgramState& program;
  Value* registers = nullptr;
  const Value* const constants;
  const std::span<const Input> inputs;
  Scratch& scratch;
  const Context& context;
  Arena& arena;
  const std::uint64_t limit;
  const std::size_t arena_limit;

  std::uint64_t cost = 0;
  std::uint64_t iterations = 0;  // Since the last look at the Context.
  Value result;
  End end = End::kValue;

 private:
  // The work left to the evaluation in which this one runs.
  const std::uint64_t outer_work_;
};

// Combines the operands of a logical operator, neither of which is known to decide: `deciding`
// does.
Value Combined(const Value& a, const Value& b, bool deciding);

// Tells if a value is a map of data that no schema describes and that stands in no optional chain:
// selecting from it is finding a member.
inline bool IsPlainMap(const Value& value) {
  return value.is_map() && value.is_data() && value.schema() == nullptr &&
         !Marks::InOptional(value);
}

// Runs one instruction and returns the next. nullptr: the run has ended.
using Step = const plan::Instruction* (*)(Machine&, const plan::Instruction&);

// The steps by the instructions' part of the language.
namespace steps {
// machine.cc
const plan::Instruction* Charge(Machine&, const plan::Instruction&);
const plan::Instruction* LoadInput(Machine&, const plan::Instruction&);
const plan::Instruction* Move(Machine&, const plan::Instruction&);
const plan::Instruction* SetUnset(Machine&, const plan::Instruction&);
const plan::Instruction* EnsureSet(Machine&, const plan::Instruction&);
const plan::Instruction* ReturnSet(Machine&, const plan::Instruction&);
const plan::Instruction* Return(Machine&, const plan::Instruction&);
// select.cc
const plan::Instruction* Select(Machine&, const plan::Instruction&);
// Runs a selection from a plain map, and those that continue it: no value is made of what lies
// between. Returns the instruction that follows. nullptr: there is no such member, and nothing has
// changed.
const plan::Instruction* SelectPlain(Machine&, const plan::Instruction&,
                                     std::span<const runtime::Member> members);
const plan::Instruction* Index(Machine&, const plan::Instruction&);
const plan::Instruction* Unwrap(Machine&, const plan::Instruction&);
const plan::Instruction* Rewrap(Machine&, const plan::Instruction&);
const plan::Instruction* Presence(Machine&, const plan::Instruction&);
// operate.cc
const plan::Instruction* CallFunction(Machine&, const plan::Instruction&);
const plan::Instruction* CompareEqual(Machine&, const plan::Instruction&);
const plan::Instruction* CompareNotEqual(Machine&, const plan::Instruction&);
const plan::Instruction* Relate(Machine&, const plan::Instruction&);
const plan::Instruction* AddValues(Machine&, const plan::Instruction&);
const plan::Instruction* Not(Machine&, const plan::Instruction&);
const plan::Instruction* InSet(Machine&, const plan::Instruction&);
// branch.cc
const plan::Instruction* Jump(Machine&, const plan::Instruction&);
const plan::Instruction* JumpIfFalse(Machine&, const plan::Instruction&);
const plan::Instruction* JumpIfTrue(Machine&, const plan::Instruction&);
const plan::Instruction* And(Machine&, const plan::Instruction&);
const plan::Instruction* Or(Machine&, const plan::Instruction&);
const plan::Instruction* Branch(Machine&, const plan::Instruction&);
const plan::Instruction* Check(Machine&, const plan::Instruction&);
const plan::Instruction* OptionalOr(Machine&, const plan::Instruction&);
const plan::Instruction* OptionalValue(Machine&, const plan::Instruction&);
// construct.cc
const plan::Instruction* NewList(Machine&, const plan::Instruction&);
const plan::Instruction* Push(Machine&, const plan::Instruction&);
const plan::Instruction* NewMap(Machine&, const plan::Instruction&);
const plan::Instruction* Put(Machine&, const plan::Instruction&);
const plan::Instruction* NewMessage(Machine&, const plan::Instruction&);
const plan::Instruction* SetField(Machine&, const plan::Instruction&);
const plan::Instruction* EndMessage(Machine&, const plan::Instruction&);
// iterate.cc
const plan::Instruction* LoopBegin(Machine&, const plan::Instruction&);
const plan::Instruction* LoopNext(Machine&, const plan::Instruction&);
const plan::Instruction* LoopWhile(Machine&, const plan::Instruction&);
const plan::Instruction* LoopUntilFalse(Machine&, const plan::Instruction&);
const plan::Instruction* LoopUntilTrue(Machine&, const plan::Instruction&);
const plan::Instruction* AllNext(Machine&, const plan::Instruction&);
const plan::Instruction* ExistsNext(Machine&, const plan::Instruction&);
const plan::Instruction* Append(Machine&, const plan::Instruction&);
const plan::Instruction* Insert(Machine&, const plan::Instruction&);
}  // namespace steps

}  // namespace apiserver::inline v0::cel
