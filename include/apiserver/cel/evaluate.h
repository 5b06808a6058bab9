#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/cel/arena.h"
#include "apiserver/cel/program.h"
#include "apiserver/cel/value.h"

// Program and inputs to a value.
namespace apiserver::inline v0::cel {

// The cost that evaluations may have. One unit is about 5 ns.
struct Budget {
  // The limit of one evaluation, which stops when it is exceeded.
  std::uint64_t per_call = 1'000'000;
  // What is left for all evaluations that share this budget. Evaluate() subtracts the cost, also of
  // an evaluation that failed; the caller stops when it is negative.
  std::int64_t remaining = 10'000'000;
};

// The memory of evaluations: the registers, and the values that they make. Reused without freeing.
// One evaluation may run within another with the same Scratch (LazyInput). Not thread-safe.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Invalidates all values that evaluations made. Not while one runs.
  void Reset() { arena_.Reset(); }
  Arena& arena() { return arena_; }

 private:
  friend class Registers;  // cel/run/registers.h

  struct Block {
    std::unique_ptr<Value[]> registers;
    std::size_t size = 0;
  };
  Arena arena_;
  std::vector<Block> registers_;  // One for each evaluation that runs within another.
  std::size_t registers_used_ = 0;
};

// An input whose value is made when an expression reads it: a variable of a policy, the view of a
// request.
class LazyInput {
 public:
  virtual ~LazyInput() = default;
  // Returns the value; an error value makes the reading fail. Called on the evaluating thread each
  // time the expression reads the input: the implementation keeps the value. May block if
  // `context.may_block()`.
  virtual Value Get(Scratch& scratch, const Context& context) = 0;
};

// The value of one variable.
struct Input {
  Value value = {};
  LazyInput* lazy = nullptr;  // Borrowed. Null: `value` counts.
};

// The way an evaluation ended.
enum class End : std::uint8_t {
  kValue,
  kError,        // The expression failed: no such key, no such overload, ….
  kCostLimit,    // It exceeded Budget::per_call.
  kInterrupted,  // The Context ended. Looked at every 100 iterations of a loop.
  kWouldBlock,   // It must wait for an authorizer, which this thread may not.
};

// The result of an evaluation. Value and error text live as long as the inputs and until the
// Scratch is reset.
struct Outcome {
  Value value;             // kValue: the result.
  std::string_view error;  // Empty for kValue: "no such key: replicas".
  std::uint64_t cost = 0;  // Without the cost of lazy inputs.
  End end = End::kValue;

  bool ok() const { return end == End::kValue; }
};

// Evaluates a program. `inputs` are in the order of the Environment's variables; missing ones are
// errors when they are read: "no such attribute(s): x". Uses constant stack, and no heap memory
// once the Scratch has grown, except for functions that say so.
Outcome Evaluate(const Program& program, std::span<const Input> inputs, Budget& budget,
                 Scratch& scratch, const Context& context);

}  // namespace apiserver::inline v0::cel
