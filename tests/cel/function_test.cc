#include "cel/function.h"

#include <array>
#include <catch2/catch.hpp>
#include <vector>

#include "cel/functions/libraries.h"

using apiserver::Context;
using apiserver::cel::Arena;
using apiserver::cel::CallContext;
using apiserver::cel::CostCall;
using apiserver::cel::Function;
using apiserver::cel::Overload;
using apiserver::cel::Value;

namespace {

const Function& FindFunction(std::string_view name) {
  for (const Function& function : apiserver::cel::functions::Standard()) {
    if (function.name == name) return function;
  }
  FAIL("no function " << name);
  std::abort();
}

// Calls functions without a machine.
struct Caller {
  Value Call(std::string_view name, std::vector<Value> arguments) {
    const Function& function = FindFunction(name);
    CallContext call(shared, name, nullptr);
    const auto handler =
        function.handler != nullptr ? function.handler : function.overloads[0].handler;
    return handler(call, arguments);
  }

  Arena arena;
  Context context = Context::Background();
  std::uint64_t cost = 90;
  CallContext::Shared shared = {arena, context, cost, 100};
};

}  // namespace

TEST_CASE("cel: size counts code points, bytes and items", "[cel]") {
  Caller caller;
  const std::array items = {Value::Int(1), Value()};

  CHECK(caller.Call("size", {Value::String("aé€😀")}).AsInt() == 4);
  CHECK(caller.Call("size", {Value::String("abcdefgh€abcdefgh")}).AsInt() == 17);
  CHECK(caller.Call("size", {Value::Bytes("aé")}).AsInt() == 3);
  CHECK(caller.Call("size", {Value::List(items)}).AsInt() == 2);
  CHECK(caller.Call("size", {Value::Int(1)}).AsText() == "no such overload: size");
}

TEST_CASE("cel: contains costs a tenth of both texts multiplied", "[cel]") {
  Caller caller;
  const std::string target(21, 'x');
  const std::array arguments = {Value::String(target), Value::String("xxxxxxxxxxx")};
  const Overload& overload = FindFunction("contains").overloads[0];

  CHECK(caller.Call("contains", {arguments[0], arguments[1]}).AsBool());
  CHECK_FALSE(caller.Call("contains", {arguments[1], arguments[0]}).AsBool());
  CHECK(overload.run_cost({.arguments = arguments}) == 6);
  CHECK(caller.Call("startsWith", {arguments[0], Value::String("")}).AsBool());
  CHECK_FALSE(caller.Call("endsWith", {arguments[0], Value::String("y")}).AsBool());
}

TEST_CASE("cel: a handler can refuse what the budget does not allow", "[cel]") {
  Caller caller;
  CallContext call(caller.shared, "f", nullptr);

  CHECK(call.CanSpend(10));
  CHECK_FALSE(call.CanSpend(11));
  CHECK_FALSE(call.CanSpend(~std::uint64_t{0}));
  CHECK(call.OverLimit().AsText() == "operation cancelled: actual cost limit exceeded");
  CHECK(caller.shared.over_limit);
}

TEST_CASE("cel: a call that no overload fits names the arguments' types", "[cel]") {
  Caller caller;
  CallContext call(caller.shared, "f", nullptr);
  const std::array fine = {Value::Int(1), Value(), Value::Duration(1)};
  const std::array broken = {Value::Int(1), Value::Error("first"), Value::Error("second")};

  CHECK(call.NoSuchOverloadOf(fine).AsText() ==
        "no such overload: f(int, null_type, google.protobuf.Duration)");
  CHECK(call.NoSuchOverloadOf(broken).AsText() == "first");
  CHECK(CallContext::NoSuchOverload(fine).AsText() == "no such overload");
}
