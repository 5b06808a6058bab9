#include "cel/run/arithmetic.h"

#include <cstring>
#include <limits>

#include "cel/run/equality.h"
#include "cel/run/time_text.h"

namespace apiserver::v0::cel {
namespace {

using Kind = Value::Kind;

constexpr std::int64_t kIntMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kNanosInSecond = 1'000'000'000;

Value NoSuchOverload() { return Value::Error("no such overload"); }
// The result of an operator that the operand's type does not define. Go asks types with methods of
// their own for it, which answer without its name. nullopt: the caller names the operator.
std::optional<Value> NotDefined(const Value& a) {
  const bool has_methods = a.is_string() || a.Is(Kind::kTimestamp) || a.Is(Kind::kDuration);
  return has_methods ? std::optional(NoSuchOverload()) : std::nullopt;
}
Value IntOverflow() { return Value::Error("integer overflow"); }
Value UintOverflow() { return Value::Error("unsigned integer overflow"); }
Value TimestampOverflow() { return Value::Error("timestamp overflow"); }

// The three operations that only overflow: __builtin_*_overflow with a choice of type.
template <class Operation>
Value IntResult(Operation operation, const Value& a, const Value& b) {
  std::int64_t result = 0;
  return operation(a.AsInt(), b.AsInt(), &result) ? IntOverflow() : Value::Int(result);
}
template <class Operation>
Value UintResult(Operation operation, const Value& a, const Value& b) {
  std::uint64_t result = 0;
  return operation(a.AsUint(), b.AsUint(), &result) ? UintOverflow() : Value::Uint(result);
}
constexpr auto kAdd = [](auto a, auto b, auto* result) {
  return __builtin_add_overflow(a, b, result);
};
constexpr auto kSubtract = [](auto a, auto b, auto* result) {
  return __builtin_sub_overflow(a, b, result);
};
constexpr auto kMultiply = [](auto a, auto b, auto* result) {
  return __builtin_mul_overflow(a, b, result);
};

Value ConcatenatedText(const Value& a, const Value& b, Arena& arena) {
  const std::string_view left = a.AsText();
  const std::string_view right = b.AsText();
  const std::size_t size = left.size() + right.size();
  auto* const text = static_cast<char*>(arena.Allocate(size, 1));
  if (!left.empty()) std::memcpy(text, left.data(), left.size());
  if (!right.empty()) std::memcpy(text + left.size(), right.data(), right.size());
  return a.is_string() ? Value::String({text, size}) : Value::Bytes({text, size});
}

Value AddedTime(const Time& time, std::int64_t nanoseconds) {
  std::int64_t seconds = nanoseconds / kNanosInSecond;
  std::int64_t nanos = time.nanoseconds + nanoseconds % kNanosInSecond;
  if (nanos < 0) {
    nanos += kNanosInSecond;
    --seconds;
  } else if (nanos >= kNanosInSecond) {
    nanos -= kNanosInSecond;
    ++seconds;
  }
  // Both are far from overflow.
  seconds += time.seconds;
  if (seconds < kMinUnixTime || seconds > kMaxUnixTime) return TimestampOverflow();
  return Value::Timestamp({seconds, static_cast<std::uint32_t>(nanos), time.offset_seconds});
}

Value TimeDifference(const Time& a, const Time& b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a.seconds - b.seconds, kNanosInSecond, &result)) return IntOverflow();
  const std::int64_t nanos = std::int64_t{a.nanoseconds} - std::int64_t{b.nanoseconds};
  if (__builtin_add_overflow(result, nanos, &result)) return IntOverflow();
  return Value::Duration(result);
}

Value DurationResult(bool overflow, std::int64_t nanoseconds) {
  return overflow ? IntOverflow() : Value::Duration(nanoseconds);
}

}  // namespace

bool IsTooLargeToAdd(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  const std::uint64_t size = std::uint64_t{a.size()} + b.size();
  if (a.is_list()) return size > kAddedItemsMax;
  const bool text = a.is_string() || a.Is(Kind::kBytes);
  return text && size > std::numeric_limits<std::uint32_t>::max();
}

std::optional<Value> Add(const Value& a, const Value& b, Arena& arena) {
  switch (a.kind()) {
    case Kind::kInt:
      return b.Is(Kind::kInt) ? IntResult(kAdd, a, b) : NoSuchOverload();
    case Kind::kUint:
      return b.Is(Kind::kUint) ? UintResult(kAdd, a, b) : NoSuchOverload();
    case Kind::kDouble:
      return b.Is(Kind::kDouble) ? Value::Double(a.AsDouble() + b.AsDouble()) : NoSuchOverload();
    case Kind::kString:
    case Kind::kBytes:
      return b.Is(a.kind()) ? ConcatenatedText(a, b, arena) : NoSuchOverload();
    case Kind::kList:
      return b.is_list() ? AddLists(a, b, arena) : NoSuchOverload();
    case Kind::kTimestamp:
      return b.Is(Kind::kDuration) ? AddedTime(a.AsTime(), b.AsInt()) : NoSuchOverload();
    case Kind::kDuration: {
      if (b.Is(Kind::kTimestamp)) return AddedTime(b.AsTime(), a.AsInt());
      if (!b.Is(Kind::kDuration)) return NoSuchOverload();
      std::int64_t result = 0;
      const bool overflow = __builtin_add_overflow(a.AsInt(), b.AsInt(), &result);
      return DurationResult(overflow, result);
    }
    default:
      return std::nullopt;
  }
}

std::optional<Value> Subtract(const Value& a, const Value& b) {
  switch (a.kind()) {
    case Kind::kInt:
      return b.Is(Kind::kInt) ? IntResult(kSubtract, a, b) : NoSuchOverload();
    case Kind::kUint:
      return b.Is(Kind::kUint) ? UintResult(kSubtract, a, b) : NoSuchOverload();
    case Kind::kDouble:
      return b.Is(Kind::kDouble) ? Value::Double(a.AsDouble() - b.AsDouble()) : NoSuchOverload();
    case Kind::kTimestamp:
      if (b.Is(Kind::kTimestamp)) return TimeDifference(a.AsTime(), b.AsTime());
      if (!b.Is(Kind::kDuration)) return NoSuchOverload();
      if (b.AsInt() == kIntMin) return IntOverflow();
      return AddedTime(a.AsTime(), -b.AsInt());
    case Kind::kDuration: {
      if (!b.Is(Kind::kDuration)) return NoSuchOverload();
      std::int64_t result = 0;
      const bool overflow = __builtin_sub_overflow(a.AsInt(), b.AsInt(), &result);
      return DurationResult(overflow, result);
    }
    default:
      return NotDefined(a);
  }
}

std::optional<Value> Multiply(const Value& a, const Value& b) {
  switch (a.kind()) {
    case Kind::kInt:
      return b.Is(Kind::kInt) ? IntResult(kMultiply, a, b) : NoSuchOverload();
    case Kind::kUint:
      return b.Is(Kind::kUint) ? UintResult(kMultiply, a, b) : NoSuchOverload();
    case Kind::kDouble:
      return b.Is(Kind::kDouble) ? Value::Double(a.AsDouble() * b.AsDouble()) : NoSuchOverload();
    default:
      return NotDefined(a);
  }
}

std::optional<Value> Divide(const Value& a, const Value& b) {
  if (!a.is_number()) return NotDefined(a);
  if (a.kind() != b.kind()) return NoSuchOverload();
  if (a.Is(Kind::kDouble)) return Value::Double(a.AsDouble() / b.AsDouble());
  if (b.AsUint() == 0) return Value::Error("division by zero");
  if (a.Is(Kind::kUint)) return Value::Uint(a.AsUint() / b.AsUint());
  if (a.AsInt() == kIntMin && b.AsInt() == -1) return IntOverflow();
  return Value::Int(a.AsInt() / b.AsInt());
}

std::optional<Value> Modulo(const Value& a, const Value& b) {
  if (!a.Is(Kind::kInt) && !a.Is(Kind::kUint)) return NotDefined(a);
  if (a.kind() != b.kind()) return NoSuchOverload();
  if (b.AsUint() == 0) return Value::Error("modulus by zero");
  if (a.Is(Kind::kUint)) return Value::Uint(a.AsUint() % b.AsUint());
  if (a.AsInt() == kIntMin && b.AsInt() == -1) return IntOverflow();
  return Value::Int(a.AsInt() % b.AsInt());
}

std::optional<Value> Negate(const Value& a) {
  switch (a.kind()) {
    case Kind::kInt:
      return a.AsInt() == kIntMin ? IntOverflow() : Value::Int(-a.AsInt());
    case Kind::kDouble:
      return Value::Double(-a.AsDouble());
    case Kind::kDuration:
      return a.AsInt() == kIntMin ? IntOverflow() : Value::Duration(-a.AsInt());
    case Kind::kBool:
      return NoSuchOverload();
    default:
      return NotDefined(a);
  }
}

}  // namespace apiserver::v0::cel
