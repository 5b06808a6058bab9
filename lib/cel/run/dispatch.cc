#include "cel/run/dispatch.h"

#include "cel/run/map.h"

namespace apiserver::v0::cel {
namespace {

// The nesting of declared types that a value is checked against: list(list(T)).
bool Fits(const Value& value, const TypeNode& type, Arena& arena);

bool FirstElementFits(const Value& value, const TypeNode& type, Arena& arena) {
  if (value.size() == 0 || type.parameter_count == 0) return true;
  if (value.is_list()) return Fits(value.Item(0, arena), *type.parameters[0], arena);
  const std::optional<Value> key = MapKeyAt(value, 0, arena);
  return !key.has_value() || (Fits(*key, *type.parameters[0], arena) &&
                              Fits(MapValueAt(value, 0, arena), *type.parameters[1], arena));
}

// Recursion is as deep as the declaration.
bool Fits(const Value& value, const TypeNode& type, Arena& arena) {
  switch (type.kind) {
    case TypeKind::kDyn:
    case TypeKind::kAny:
    case TypeKind::kError:
    case TypeKind::kParameter:
      return true;
    case TypeKind::kList:
      return value.is_list() && FirstElementFits(value, type, arena);
    case TypeKind::kMap:
      return value.is_map() && FirstElementFits(value, type, arena);
    case TypeKind::kStruct:
    case TypeKind::kOpaque:
      return value.RuntimeType().name == type.name;
    default:
      return value.RuntimeType().kind == type.kind;
  }
}

bool AllFit(std::span<const Value> arguments, const Overload& overload, Arena& arena) {
  const Signature& signature = overload.signature;
  if (arguments.size() != signature.argument_count) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!Fits(arguments[i], *signature.arguments[i], arena)) return false;
  }
  return true;
}

Handler HandlerOf(const FunctionEntry& function, std::size_t overload) {
  const Handler own = function.overloads[overload]->handler;
  return own != nullptr ? own : function.rows[function.row_of[overload]]->handler;
}

Value NoOverload(const plan::Callee& callee, CallContext& call, std::span<const Value> arguments) {
  return callee.replaced ? CallContext::NoSuchOverload(arguments)
                         : call.NoSuchOverloadOf(arguments);
}

// Finds the overload that fits at run time.
Value CallFitting(const plan::Callee& callee, CallContext& call, std::span<const Value> arguments) {
  const FunctionEntry& function = *callee.function;
  for (std::size_t i = 0; i < function.overloads.size(); ++i) {
    const Handler handler = HandlerOf(function, i);
    if (handler != nullptr && AllFit(arguments, *function.overloads[i], call.arena())) {
      return handler(call, arguments);
    }
  }
  return NoOverload(callee, call, arguments);
}

}  // namespace

bool FitsAtRunTime(const Value& value, const TypeNode& type, Arena& arena) {
  return Fits(value, type, arena);
}

plan::Callee MakeCallee(const FunctionEntry& function, const Overload* overload) {
  plan::Callee callee{.function = &function, .overload = overload};
  for (const Function* const row : function.rows) {
    if (callee.cost_by_name == nullptr) callee.cost_by_name = row->run_cost;
    callee.cost_before_call = callee.cost_before_call && row->cost_before_call;
    callee.non_strict = callee.non_strict || row->non_strict;
  }
  // One row whose handler runs all overloads.
  if (function.rows.size() == 1) callee.handler = function.rows[0]->handler;
  if (overload == nullptr) return callee;
  callee.cost_by_overload = overload->run_cost;
  if (callee.handler != nullptr && overload->handler == nullptr) return callee;
  for (std::size_t i = 0; i < function.overloads.size(); ++i) {
    if (function.overloads[i] == overload) callee.handler = HandlerOf(function, i);
  }
  callee.guarded = true;
  return callee;
}

Value CallChecked(const plan::Callee& callee, CallContext& call, std::span<const Value> arguments) {
  if (callee.handler == nullptr) return CallFitting(callee, call, arguments);
  if (callee.guarded && !AllFit(arguments, *callee.overload, call.arena())) {
    return NoOverload(callee, call, arguments);
  }
  return callee.handler(call, arguments);
}

}  // namespace apiserver::v0::cel
