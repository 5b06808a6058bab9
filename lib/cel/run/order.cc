#include "cel/run/order.h"

#include <cmath>
#include <limits>

#include "cel/run/lossless.h"

namespace apiserver::inline v0::cel {
namespace {

using Kind = Value::Kind;

template <class T>
int Sign(T a, T b) {
  return a < b ? -1 : static_cast<int>(a > b);
}

Value Ordered(int sign) { return Value::Int(sign); }

Value NoSuchOverload(const Value& other) {
  return other.is_error() ? other : Value::Error("no such overload");
}

Value NotOrdered() { return Value::Error("NaN values cannot be ordered"); }

Value CompareInt(std::int64_t a, const Value& b) {
  switch (b.kind()) {
    case Kind::kInt:
      return Ordered(Sign(a, b.AsInt()));
    case Kind::kUint:
      return Ordered(CompareNumbers(a, b.AsUint()));
    case Kind::kDouble:
      return std::isnan(b.AsDouble()) ? NotOrdered() : Ordered(-CompareNumbers(b.AsDouble(), a));
    default:
      return NoSuchOverload(b);
  }
}

Value CompareUint(std::uint64_t a, const Value& b) {
  switch (b.kind()) {
    case Kind::kInt:
      return Ordered(-CompareNumbers(b.AsInt(), a));
    case Kind::kUint:
      return Ordered(Sign(a, b.AsUint()));
    case Kind::kDouble:
      return std::isnan(b.AsDouble()) ? NotOrdered() : Ordered(-CompareNumbers(b.AsDouble(), a));
    default:
      return NoSuchOverload(b);
  }
}

Value CompareDouble(double a, const Value& b) {
  if (std::isnan(a)) return NotOrdered();
  switch (b.kind()) {
    case Kind::kInt:
      return Ordered(CompareNumbers(a, b.AsInt()));
    case Kind::kUint:
      return Ordered(CompareNumbers(a, b.AsUint()));
    case Kind::kDouble:
      return std::isnan(b.AsDouble()) ? NotOrdered() : Ordered(Sign(a, b.AsDouble()));
    default:
      return NoSuchOverload(b);
  }
}

Value CompareTimes(const Time& a, const Time& b) {
  if (a.seconds != b.seconds) return Ordered(Sign(a.seconds, b.seconds));
  return Ordered(Sign(a.nanoseconds, b.nanoseconds));
}

}  // namespace

int CompareNumbers(std::int64_t a, std::uint64_t b) {
  if (a < 0 || b > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return -1;
  return Sign(static_cast<std::uint64_t>(a), b);
}

int CompareNumbers(double a, std::int64_t b) {
  if (a < -kTwoTo63) return -1;
  if (a > kTwoTo63) return 1;
  return Sign(a, static_cast<double>(b));
}

int CompareNumbers(double a, std::uint64_t b) {
  if (a < 0) return -1;
  if (a > kTwoTo64) return 1;
  return Sign(a, static_cast<double>(b));
}

bool IsOrdered(Kind kind) { return kind >= Kind::kBool && kind <= Kind::kDuration; }

Value Compare(const Value& a, const Value& b) {
  switch (a.kind()) {
    case Kind::kInt:
      return CompareInt(a.AsInt(), b);
    case Kind::kUint:
      return CompareUint(a.AsUint(), b);
    case Kind::kDouble:
      return CompareDouble(a.AsDouble(), b);
    default:
      break;
  }
  if (a.kind() != b.kind()) return NoSuchOverload(b);
  switch (a.kind()) {
    case Kind::kBool:
      return Ordered(Sign(a.AsBool(), b.AsBool()));
    case Kind::kString:
    case Kind::kBytes: {
      const int order = a.AsText().compare(b.AsText());
      return Ordered(Sign(order, 0));
    }
    case Kind::kTimestamp:
      return CompareTimes(a.AsTime(), b.AsTime());
    case Kind::kDuration:
      return Ordered(Sign(a.AsInt(), b.AsInt()));
    default:
      return NoSuchOverload(b);
  }
}

}  // namespace apiserver::inline v0::cel
