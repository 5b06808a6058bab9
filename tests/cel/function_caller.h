#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/function.h"
#include "cel/run/map.h"
#include "cel/run/print.h"

// Calls the functions of a table as the machine does, but without parser and checker.
namespace apiserver::cel::testing {

// Tells if a value fits a type of a signature.
inline bool Fits(const TypeNode& type, const Value& value, Arena& arena) {
  if (type.kind == TypeKind::kParameter || type.kind == TypeKind::kDyn) return true;
  if (type.kind == TypeKind::kList && value.is_list()) {
    return value.size() == 0 || Fits(*type.parameters[0], value.Item(0, arena), arena);
  }
  if (type.kind == TypeKind::kMap) return value.is_map();
  const TypeNode& actual = value.RuntimeType();
  return type.kind == actual.kind && (type.name.empty() || type.name == actual.name);
}

// An estimated call whose arguments have given sizes.
class SizedCall final : public EstimateCall {
 public:
  struct Argument {
    SizeRange size = {};
    std::optional<SizeRange> element_size = std::nullopt;
    std::optional<Type> element_type = std::nullopt;
    std::optional<std::int64_t> literal = std::nullopt;
  };
  SizedCall(const Overload& overload, std::vector<Argument> arguments)
      : overload_(overload), arguments_(std::move(arguments)) {}

  std::size_t argument_count() const override { return arguments_.size(); }
  const Overload& overload() const override { return overload_; }
  SizeRange Size(std::size_t argument) const override { return arguments_[argument].size; }
  std::optional<SizeRange> ElementSize(std::size_t argument) const override {
    return arguments_[argument].element_size;
  }
  Type TypeOf(std::size_t) const override { return Type::Dyn(); }
  std::optional<Type> ElementType(std::size_t argument) const override {
    return arguments_[argument].element_type;
  }
  std::optional<std::int64_t> IntLiteral(std::size_t argument) const override {
    return arguments_[argument].literal;
  }

 private:
  const Overload& overload_;
  std::vector<Argument> arguments_;
};

class FunctionCaller {
 public:
  explicit FunctionCaller(std::span<const Function> table, std::uint64_t limit = 1'000'000)
      : table_(table), shared_{arena_, context_, cost_, limit} {}

  // Finds the row and the overload for arguments. Fails the test if there is none.
  struct Found {
    const Function* function;
    const Overload* overload;
  };
  Found Find(std::string_view name, std::span<const Value> arguments) {
    for (const Function& function : table_) {
      if (function.name != name) continue;
      for (const Overload& overload : function.overloads) {
        if (FitsAll(overload, arguments)) return {&function, &overload};
      }
    }
    FAIL("no overload of " << name);
    std::abort();
  }

  Value Call(std::string_view name, std::vector<Value> arguments) {
    const auto [function, overload] = Find(name, arguments);
    return Run(*function, *overload, arguments);
  }
  // Calls a function whose overloads share a handler, with arguments that need not fit.
  Value CallAny(std::string_view name, std::vector<Value> arguments) {
    for (const Function& function : table_) {
      if (function.name == name) return Run(function, function.overloads[0], arguments);
    }
    FAIL("no function " << name);
    std::abort();
  }

  // Calls and prints the result; strings without quotes, errors after "error: ".
  std::string Text(std::string_view name, std::vector<Value> arguments) {
    const Value result = Call(name, std::move(arguments));
    const std::string text = PrintValue(result, arena_);
    return result.is_error() ? "error: " + text : text;
  }

  // Returns the run-time cost of a call.
  std::uint64_t Cost(std::string_view name, std::vector<Value> arguments) {
    const auto [function, overload] = Find(name, arguments);
    CostCall call{.arguments = arguments, .overload = overload};
    Value result;
    if (!function->cost_before_call) {
      result = Run(*function, *overload, arguments);
      call.result = &result;
    }
    std::optional<std::uint64_t> cost;
    if (function->run_cost != nullptr) cost = function->run_cost(call);
    if (!cost.has_value() && overload->run_cost != nullptr) cost = overload->run_cost(call);
    return cost.value_or(1);
  }

  // Estimates a call of the overload with that id.
  CallEstimate Estimated(std::string_view id, std::vector<SizedCall::Argument> arguments) {
    for (const Function& function : table_) {
      for (const Overload& overload : function.overloads) {
        if (overload.id != id) continue;
        const SizedCall call(overload, std::move(arguments));
        std::optional<CallEstimate> estimate;
        if (function.estimate != nullptr) estimate = function.estimate(call);
        if (!estimate.has_value() && overload.estimate != nullptr) {
          estimate = overload.estimate(call);
        }
        return estimate.value_or(CallEstimate{.cost = {1, 1}});
      }
    }
    FAIL("no overload " << id);
    std::abort();
  }

  Value List(std::vector<Value> items) {
    return Value::List(arena_.Copy<Value>(std::span<const Value>(items)));
  }
  Value Strings(std::initializer_list<std::string_view> texts) {
    std::vector<Value> items;
    for (const std::string_view text : texts) items.push_back(Value::String(text));
    return List(std::move(items));
  }
  Value Ints(std::initializer_list<std::int64_t> numbers) {
    std::vector<Value> items;
    for (const std::int64_t number : numbers) items.push_back(Value::Int(number));
    return List(std::move(items));
  }
  Value Map(const std::vector<MapEntry>& entries) {
    MapContent& content = arena_.Make(MapContent());
    for (const MapEntry& entry : entries) MapPut(content, entry.key, entry.value, arena_);
    return Value::Map(content);
  }

  // From now on arguments are constants, of which Function::prepare makes objects.
  void PrepareConstants() { prepares_ = true; }

  Arena& arena() { return arena_; }
  bool over_limit() const { return shared_.over_limit; }
  bool would_block() const { return shared_.would_block; }
  void set_context(const Context& context) { context_ = context; }

 private:
  bool FitsAll(const Overload& overload, std::span<const Value> arguments) {
    if (overload.signature.argument_count != arguments.size()) return false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!Fits(*overload.signature.arguments[i], arguments[i], arena_)) return false;
    }
    return true;
  }

  Value Run(const Function& function, const Overload& overload, std::span<const Value> arguments) {
    std::vector<const Value*> constants;
    for (const Value& argument : arguments) constants.push_back(&argument);
    std::shared_ptr<const void> prepared;
    if (prepares_ && function.prepare != nullptr) {
      Result<std::shared_ptr<const void>> made = function.prepare(constants);
      if (!made.ok()) return Value::Error(arena_.Copy(made.status().message()));
      prepared = *made;
    }
    CallContext call(shared_, function.name, prepared.get());
    const Handler handler = function.handler != nullptr ? function.handler : overload.handler;
    REQUIRE(handler != nullptr);
    return handler(call, arguments);
  }

  std::span<const Function> table_;
  Arena arena_;
  Context context_ = Context::Background();
  bool prepares_ = false;
  std::uint64_t cost_ = 0;
  CallContext::Shared shared_;
};

// Short names for arguments.
inline Value S(std::string_view text) { return Value::String(text); }
inline Value I(std::int64_t number) { return Value::Int(number); }
inline Value D(double number) { return Value::Double(number); }

}  // namespace apiserver::cel::testing
