#include "cel/functions/common.h"
#include "cel/functions/libraries.h"
#include "cel/run/print.h"
#include "cel/run/time_text.h"
#include "cel/types/spell.h"

// The optional types of cel-go, version 2: cel/library.go. Selections and indexes are in
// operators.cc.
namespace apiserver::v0::cel::functions {
namespace optional_rows {
namespace {

using types::kA;
using types::kBool;
using types::kListOf;
using types::kOptionalOf;

using Kind = Value::Kind;

constexpr const TypeNode& kOptionalOfA = kOptionalOf<kA>;
constexpr const TypeNode& kListOfA = kListOf<kA>;
constexpr std::uint8_t kSince = 28;
constexpr std::uint8_t kVersion2 = 34;

// Tells if Go's value has IsZeroValue() and is zero: the time at year 1, but no optional.
bool IsZero(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return !value.AsBool();
    case Kind::kInt:
    case Kind::kDuration:
      return value.AsInt() == 0;
    case Kind::kUint:
      return value.AsUint() == 0;
    case Kind::kDouble:
      return value.AsDouble() == 0;
    case Kind::kString:
    case Kind::kBytes:
      return value.size() == 0;
    case Kind::kList:
    case Kind::kMap:
      // Views through a schema are never zero.
      return value.size() == 0 && value.schema() == nullptr;
    case Kind::kStruct:
      return value.struct_type().open && value.size() == 0;
    case Kind::kTimestamp:
      return value.AsTime().seconds == kMinUnixTime && value.AsTime().nanoseconds == 0;
    default:
      return false;
  }
}

Value Of(CallContext& call, std::span<const Value> arguments) {
  return Value::Optional(arguments[0], call.arena());
}

Value OfNonZeroValue(CallContext& call, std::span<const Value> arguments) {
  return IsZero(arguments[0]) ? Value::None() : Value::Optional(arguments[0], call.arena());
}

Value None(CallContext&, std::span<const Value>) { return Value::None(); }

Value Held(CallContext&, std::span<const Value> arguments) {
  const Value* const held = arguments[0].AsOptional();
  return held != nullptr ? *held : Value::Error("optional.none() dereference");
}

Value HasValue(CallContext&, std::span<const Value> arguments) {
  return Value::Bool(arguments[0].AsOptional() != nullptr);
}

Value ItemOrNone(CallContext& call, const Value& list, std::size_t index) {
  if (index >= list.size()) return Value::None();
  // An item of data that does not fit its schema is an error within the optional.
  return Value::Optional(list.Item(index, call.arena()), call.arena());
}

Value First(CallContext& call, std::span<const Value> arguments) {
  return ItemOrNone(call, arguments[0], 0);
}

Value Last(CallContext& call, std::span<const Value> arguments) {
  return ItemOrNone(call, arguments[0], std::size_t{arguments[0].size()} - 1);
}

Value Unwrap(CallContext& call, std::span<const Value> arguments) {
  const Value& list = arguments[0];
  if (!call.CanBuild(list.size() * sizeof(Value))) return call.OverLimit();
  const std::span<Value> items = call.arena().New<Value>(list.size());
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < list.size(); ++i) {
    const Value item = list.Item(i, call.arena());
    if (!item.Is(Kind::kOptional)) {
      return call.Error("value " + PrintGoValue(item, call.arena()) + " is not optional");
    }
    if (item.AsOptional() != nullptr) items[count++] = *item.AsOptional();
  }
  return Value::List(items.first(count));
}

constexpr Overload kOf[] = {
    {.id = "optional_of", .signature = Free(kOptionalOfA, kA), .handler = Of},
};
constexpr Overload kOfNonZeroValue[] = {
    {.id = "optional_ofNonZeroValue",
     .signature = Free(kOptionalOfA, kA),
     .handler = OfNonZeroValue},
};
constexpr Overload kNone[] = {
    {.id = "optional_none", .signature = Free(kOptionalOfA), .handler = None},
};
constexpr Overload kValue[] = {
    {.id = "optional_value", .signature = Member(kA, kOptionalOfA), .handler = Held},
};
constexpr Overload kHasValue[] = {
    {.id = "optional_hasValue", .signature = Member(kBool, kOptionalOfA), .handler = HasValue},
};
// The planner makes jumps of these two.
constexpr Overload kOr[] = {
    {.id = "optional_or_optional", .signature = Member(kOptionalOfA, kOptionalOfA, kOptionalOfA)},
};
constexpr Overload kOrValue[] = {
    {.id = "optional_orValue_value", .signature = Member(kA, kOptionalOfA, kA)},
};
constexpr Overload kFirst[] = {
    {.id = "list_first", .signature = Member(kOptionalOfA, kListOfA), .handler = First},
};
constexpr Overload kLast[] = {
    {.id = "list_last", .signature = Member(kOptionalOfA, kListOfA), .handler = Last},
};
constexpr Overload kUnwrap[] = {
    {.id = "optional_unwrap",
     .signature = Free(kListOfA, kListOf<kOptionalOfA>),
     .handler = Unwrap},
};
constexpr Overload kUnwrapOpt[] = {
    {.id = "optional_unwrapOpt",
     .signature = Member(kListOfA, kListOf<kOptionalOfA>),
     .handler = Unwrap},
};

constexpr Function kFunctions[] = {
    {.name = "optional.of", .overloads = kOf, .since = kSince},
    {.name = "optional.ofNonZeroValue", .overloads = kOfNonZeroValue, .since = kSince},
    {.name = "optional.none", .overloads = kNone, .since = kSince},
    {.name = "value", .overloads = kValue, .since = kSince},
    {.name = "hasValue", .overloads = kHasValue, .since = kSince},
    {.name = "or", .overloads = kOr, .since = kSince},
    {.name = "orValue", .overloads = kOrValue, .since = kSince},
    {.name = "last", .overloads = kLast, .since = kVersion2},
    {.name = "first", .overloads = kFirst, .since = kVersion2},
    {.name = "optional.unwrap", .overloads = kUnwrap, .since = kVersion2},
    {.name = "unwrapOpt", .overloads = kUnwrapOpt, .since = kVersion2},
};

}  // namespace
}  // namespace optional_rows

std::span<const Function> Optionals() { return optional_rows::kFunctions; }

}  // namespace apiserver::v0::cel::functions
