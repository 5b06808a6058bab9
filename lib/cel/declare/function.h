#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/cel/arena.h"
#include "apiserver/cel/value.h"
#include "cel/declare/range.h"

// The rows of the function tables in cel/functions/: a row declares a function, runs it, and tells
// both of its costs. The checker reads the signatures, the planner the handlers, the machine the
// run-time costs, the estimator the estimates.
namespace apiserver::inline v0::cel {

struct Overload;

// The surroundings of one call, for its handler.
class CallContext {
 public:
  // The state that calls of one evaluation share.
  struct Shared {
    Arena& arena;
    const Context& context;
    const std::uint64_t& cost;  // Spent so far.
    std::uint64_t limit;
    // Set by a handler that must end the evaluation.
    bool over_limit = false;
    bool would_block = false;
    bool interrupted = false;
  };
  CallContext(Shared& shared, std::string_view function, const void* prepared)
      : shared_(shared), function_(function), prepared_(prepared) {}

  // The memory of what the handler returns.
  Arena& arena() { return shared_.arena; }
  const Context& context() const { return shared_.context; }
  // The name of the function that is called.
  std::string_view function() const { return function_; }
  // The object that Function::prepare made of constant arguments. Null: it made none.
  const void* prepared() const { return prepared_; }

  // Tells if the evaluation may still spend `cost`. A handler whose cost depends on its result asks
  // before it builds something large, and returns OverLimit() on false.
  bool CanSpend(std::uint64_t cost) const {
    return shared_.cost <= shared_.limit && cost <= shared_.limit - shared_.cost;
  }
  // Tells if the evaluation may have `bytes` more of memory. Some calls cost little and make much,
  // and others pay only when they use the result: a handler asks before it builds, and returns
  // OverLimit() on false. At the usual limit of 1,000,000 this is 128 MiB.
  bool CanBuild(std::uint64_t bytes) const;
  // Ends the evaluation: its cost limit would be exceeded.
  Value OverLimit();
  // Ends the evaluation: the Context has ended.
  Value Interrupted();
  // Ends the evaluation: the handler must wait, and context().may_block() is false.
  Value WouldBlock();

  // Makes an error of a text that is not constant.
  Value Error(std::string_view text) { return Value::Error(arena().Copy(text)); }
  // Returns the first error among the arguments, else "no such overload".
  static Value NoSuchOverload(std::span<const Value> arguments);
  // Returns "no such overload: NAME": the type of `target`, the first argument, does not have the
  // operation. Strings and times are told without the name.
  Value NoSuchOverloadByName(const Value& target);
  // Returns the first error among the arguments, else "no such overload: NAME(int, string)".
  Value NoSuchOverloadOf(std::span<const Value> arguments);

 private:
  Shared& shared_;
  std::string_view function_;
  const void* prepared_;
};

// Runs a function. Arguments begin with the target of a member call. The machine calls it only with
// arguments that are no errors and, where it is an overload's, that fit its signature at run time
// (the kinds of arguments; of lists and maps those of the first element). Errors are values.
using Handler = Value (*)(CallContext& call, std::span<const Value> arguments);

// A call whose run-time cost is asked. Arguments may be errors, and of any kind: cost is counted
// for failed calls too.
struct CostCall {
  std::span<const Value> arguments;
  // The overload that the checker found. Null: it found several, as an argument is dyn.
  const Overload* overload = nullptr;
  // The result. Null: the cost is asked before the call.
  const Value* result = nullptr;
};
// Returns the cost of a call. nullopt: the next hook decides, at last the cost of 1.
using RunCost = std::optional<std::uint64_t> (*)(const CostCall& call);

// The static cost of a call, and the size of its result as far as it is known.
struct CallEstimate {
  CostRange cost;
  std::optional<SizeRange> result_size = std::nullopt;
};

// A call whose cost is estimated. Arguments begin with the target of a member call.
class EstimateCall {
 public:
  virtual ~EstimateCall() = default;
  virtual std::size_t argument_count() const = 0;
  virtual const Overload& overload() const = 0;
  // Returns the size of an argument: computed, declared, or {0, 2^64 − 1}.
  virtual SizeRange Size(std::size_t argument) const = 0;
  // Returns the sizes of a list's elements. nullopt: the argument is no list with a known element
  // type.
  virtual std::optional<SizeRange> ElementSize(std::size_t argument) const = 0;
  virtual Type TypeOf(std::size_t argument) const = 0;
  // Returns the type of a list's elements. nullopt: as ElementSize.
  virtual std::optional<Type> ElementType(std::size_t argument) const = 0;
  // Returns the value of an argument that is an int literal.
  virtual std::optional<std::int64_t> IntLiteral(std::size_t argument) const = 0;
};
// Estimates a call. nullopt: the next hook decides, at last {1, 1}.
using Estimate = std::optional<CallEstimate> (*)(const EstimateCall& call);

// Makes an object of a call's constant arguments when a program is planned (a compiled pattern),
// which CallContext::prepared() then shows. `arguments[i]` is null where the argument is not
// constant. A null object: there is nothing to prepare. An error makes the program's instantiation
// fail.
using Prepare = Result<std::shared_ptr<const void>> (*)(std::span<const Value* const> arguments);

// The types of an overload.
struct Signature {
  const TypeNode* result = nullptr;
  std::array<const TypeNode*, 4> arguments = {};
  std::uint8_t argument_count = 0;
  bool member = false;  // The first argument is the target: x.f(y).
};
// f(arguments...).
template <class... Arguments>
constexpr Signature Free(const TypeNode& result, const Arguments&... arguments) {
  return {&result, {&arguments...}, sizeof...(Arguments), false};
}
// target.f(arguments...).
template <class... Arguments>
constexpr Signature Member(const TypeNode& result, const TypeNode& target,
                           const Arguments&... arguments) {
  return {&result, {&target, &arguments...}, 1 + sizeof...(Arguments), true};
}

// The first minor version of Kubernetes 1.x that has something. kStart: all that we serve.
inline constexpr std::uint8_t kStart = 23;
inline constexpr std::uint8_t kForever = 255;

// One of the signatures of a function.
struct Overload {
  std::string_view id;  // cel-go's: "size_string".
  Signature signature;
  // Null: the function's.
  Handler handler = nullptr;
  // Count only where the checker found this overload alone; asked after the function's.
  RunCost run_cost = nullptr;
  Estimate estimate = nullptr;
  std::uint8_t since = kStart;
};

// A row: a function of one library. Rows of several libraries with one name are one function, whose
// overloads stand in the order of the libraries.
struct Function {
  std::string_view name;  // With operators' internal names: "_+_", "@in".
  std::span<const Overload> overloads;
  // Runs every overload; arguments may then have any kind that is no error, as dyn arguments do.
  Handler handler = nullptr;
  // Count for every call by this name, also where the overload is unknown; asked first.
  RunCost run_cost = nullptr;
  Estimate estimate = nullptr;
  // The run-time cost is a function of the arguments alone, so that it is counted before the call
  // and a call that is too dear is not made.
  bool cost_before_call = true;
  // Handlers see arguments that are errors.
  bool non_strict = false;
  Prepare prepare = nullptr;
  // Go calls another function in the place of one whose arguments were prepared: it names no
  // function in its errors, and evaluates and costs nothing after an error.
  bool replaced_if_prepared = false;
  std::uint8_t since = kStart;
  std::uint8_t until = kForever;  // The first minor version without it.
};

}  // namespace apiserver::inline v0::cel
