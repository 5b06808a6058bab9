#include "cel/declare/function.h"

#include <algorithm>

namespace apiserver::v0::cel {
namespace {

const Value* FirstError(std::span<const Value> arguments) {
  for (const Value& argument : arguments) {
    if (argument.is_error()) return &argument;
  }
  return nullptr;
}

}  // namespace

bool CallContext::CanBuild(std::uint64_t bytes) const {
  constexpr std::uint64_t kBytesPerCost = 128;
  // Small limits must not forbid small results.
  constexpr std::uint64_t kLeastLimit = 8192;
  const std::uint64_t most =
      SaturatingMultiply(std::max(shared_.limit, kLeastLimit), kBytesPerCost);
  return SaturatingAdd(shared_.arena.bytes_used(), bytes) <= most;
}

Value CallContext::OverLimit() {
  shared_.over_limit = true;
  return Value::Error("operation cancelled: actual cost limit exceeded");
}

Value CallContext::Interrupted() {
  shared_.interrupted = true;
  return Value::Error("operation interrupted");
}

Value CallContext::WouldBlock() {
  shared_.would_block = true;
  return Value::Error("operation would block");
}

Value CallContext::NoSuchOverload(std::span<const Value> arguments) {
  const Value* const error = FirstError(arguments);
  return error != nullptr ? *error : Value::Error("no such overload");
}

Value CallContext::NoSuchOverloadByName(const Value& target) {
  // Go lets these look for a method of their own before.
  using Kind = Value::Kind;
  if (target.Is(Kind::kString) || target.Is(Kind::kDuration) || target.Is(Kind::kTimestamp)) {
    return Value::Error("no such overload");
  }
  return Error(std::string("no such overload: ").append(function_));
}

Value CallContext::NoSuchOverloadOf(std::span<const Value> arguments) {
  if (const Value* const error = FirstError(arguments)) return *error;
  std::string text = "no such overload: ";
  text += function_;
  text += '(';
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (i > 0) text += ", ";
    text += Type(arguments[i].RuntimeType()).name();
  }
  text += ')';
  return Error(text);
}

}  // namespace apiserver::v0::cel
