#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "cel/declare/function.h"
#include "cel/declare/function_entry.h"

// The instructions of a program. Each names registers and constants by 16-bit operands.
namespace apiserver::inline v0::cel::plan {

// A register, or with the highest bit a constant.
using Operand = std::uint16_t;
inline constexpr Operand kConstantBit = 0x8000;
inline constexpr Operand kNoOperand = 0xFFFF;

enum class Op : std::uint8_t {
  kCharge,     // Only counts its cost.
  kLoadInput,  // dst = input number `target`.
  kMove,       // dst = a.
  kSetUnset,   // dst: computed when it is first read.
  kEnsureSet,  // If dst is unset, computes it by the code at `target`, which ends with kReturnSet.
  kReturnSet,  // Goes back to the kEnsureSet that register dst + 1 remembers.

  // Selections. They count 1 if they are reached. An error, or absence in an optional chain, ends
  // the chain: dst gets it, and the machine goes on at `target`. Flags: ChainFlag.
  kSelect,    // dst = a.field, name number b.
  kIndex,     // dst = a[b].
  kUnwrap,    // dst = the value of an optional a, or a.
  kRewrap,    // Hands dst on, if it is an optional: cel/run/rewrap.h.
  kPresence,  // Turns an optional dst into a bool: the end of has(o.?a.b).

  kCall,      // dst = callee number `target` of `flags` registers from a. The last is b, which is
              // a constant, or kNoOperand if it is computed before.
  kEqual,     // dst = a == b.
  kNotEqual,  // dst = a != b.
  kRelation,  // dst = a < b and so on: RelationFlag.
  kAdd,       // dst = a + b: AddFlag.
  kNot,       // dst = !a.
  kInSet,     // dst = a is a key of the constant map b.

  kJump,
  kJumpIfFalse,  // If a is false.
  kJumpIfTrue,   // If a is true.
  kAnd,          // dst = a && b, neither of which is known to be false.
  kOr,           // dst = a || b.
  // a ? next but one : `target`. If a is no bool, dst is the error and the next instruction
  // follows.
  kBranch,
  kCheck,          // If a is an error, dst = a and a jump.
  kOptionalOr,     // If a is an optional without value goes on; else dst = a and a jump.
  kOptionalValue,  // The same, with dst = the value.

  kNewList,  // dst = a list with room for `target` items.
  kPush,     // Adds a to the list dst; an error becomes dst, and a jump. Flag kElementOptional.
  kNewMap,   // dst = an empty map.
  kPut,  // Puts b under the key a into the map dst. Flag kElementOptional; an error as for kPush.
  kNewMessage,  // dst = an empty message of type number `target`.
  kSetField,    // Sets the field with name number b of the message dst to a. As kPut.
  kEndMessage,  // Makes the message dst a value.

  kLoopBegin,  // Begins to iterate over dst, with dst + 1 as position. Not iterable: a jump, the
               // error in a.
  kLoopNext,   // Sets register a, or a and b, to the next element; no more: a jump.
  kLoopWhile,  // A jump if a is a bool and false.
  kLoopUntilFalse,  // A jump if the accumulator a is false: all.
  kLoopUntilTrue,   // A jump if the accumulator a is true: exists.
  // The end of an iteration of all, and of exists, with the beginning of the next: the accumulator,
  // register dst + 2, becomes its && or || with register dst + 3; it has not decided before. If it
  // decides now, or there are no more elements, the next instruction follows; else sets register a,
  // or a and b, to the next element, and a jump.
  kAllNext,
  kExistsNext,
  kAppend,  // dst = dst + [a], in place.
  kInsert,  // dst = cel.@mapInsert(dst, a, b), in place; b is kNoOperand for a map a.
  kReturn,  // The result is a.
};

enum ChainFlag : std::uint8_t {
  kFirst = 1,     // a may be an optional, which is then unwrapped.
  kOptional = 2,  // Written with a question mark.
  kTest = 4,      // has(): dst = presence.
  kLast = 8,      // Wraps the result of an optional chain.
  kTyped = 16,    // The static type of a is a struct's.
  kNative = 32,   // The index may be data as the host handed it in, which has other Go types.
  kRefund = 64,   // kPresence: counts 1 less.
  // Selects from what the instruction before it, kSelect or kLoadInput, puts into dst, and is no
  // has() and has no question mark: one step can do both.
  kContinues = 128,
};
enum RelationFlag : std::uint8_t {
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kRelationMask = 3,
  kSizedRelation = 4,  // The overload is that of string or bytes, whose cost depends on the sizes.
};
enum AddFlag : std::uint8_t { kSizedAdd = 1 };  // As kSizedRelation.
enum ElementFlag : std::uint8_t { kElementOptional = 1 };
enum LoopFlag : std::uint8_t { kTwoVariables = 1 };
// The costs of the conditions of all and exists, before each element.
inline constexpr std::uint16_t kAllConditionCost = 2;
inline constexpr std::uint16_t kExistsConditionCost = 3;

struct Instruction {
  Op op = Op::kCharge;
  std::uint8_t flags = 0;
  std::uint16_t cost = 0;  // Counted whenever the instruction is reached.
  Operand dst = 0;
  Operand a = 0;
  Operand b = 0;
  std::uint32_t target = 0;
};
static_assert(sizeof(Instruction) == 16);

// A function as one call uses it.
struct Callee {
  const FunctionEntry* function = nullptr;
  // The only overload that the arguments' static types match. Null: there are several.
  const Overload* overload = nullptr;
  // Runs the call. Null: the first overload that fits the arguments does.
  Handler handler = nullptr;
  // The arguments must fit the overload.
  bool guarded = false;
  bool non_strict = false;
  bool cost_before_call = true;
  RunCost cost_by_name = nullptr;
  RunCost cost_by_overload = nullptr;
  std::shared_ptr<const void> prepared = nullptr;
  bool replaced = false;  // Function::replaced_if_prepared, of a call that was prepared.
};

}  // namespace apiserver::inline v0::cel::plan
