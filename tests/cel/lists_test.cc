#include <catch2/catch.hpp>
#include <cmath>

#include "cel/functions/libraries.h"
#include "function_caller.h"

// Expectations are those of cel-go's ext/lists_test.go and sets_test.go, and of Kubernetes 1.36.
using namespace apiserver::cel::testing;
using apiserver::cel::CostRange;
using apiserver::cel::kUnbounded;
using apiserver::cel::SizeRange;
using apiserver::cel::Type;
using apiserver::cel::Value;
namespace functions = apiserver::cel::functions;

TEST_CASE("cel: sum, min, max and isSorted", "[cel]") {
  FunctionCaller f(functions::Lists());

  CHECK(f.Text("sum", {f.Ints({1, 2, 3})}) == "6");
  CHECK(f.Call("sum", {f.List({D(1), D(0.5)})}).AsDouble() == 1.5);
  CHECK(f.Text("sum", {f.List({Value::Duration(1'000'000'000), Value::Duration(500'000'000)})}) ==
        "1.5s");
  CHECK(f.Text("sum", {f.List({})}) == "0");
  CHECK(f.Text("sum", {f.Ints({INT64_MAX, 1})}) == "error: integer overflow");
  CHECK(f.Text("sum", {f.List({I(1), Value::Uint(2)})}) == "error: no such overload");
  CHECK(f.Text("min", {f.Ints({3, 1, 2})}) == "1");
  CHECK(f.Text("max", {f.Strings({"b", "c", "a"})}) == "c");
  CHECK(f.Call("max", {f.List({I(1), Value::Uint(2), D(3.5)})}).AsDouble() == 3.5);
  CHECK(f.Text("max", {f.List({I(1), S("a")})}) == "1");
  CHECK(f.Text("max", {f.List({I(1), Value::None()})}) == "error: no such overload");
  CHECK(std::isnan(f.Call("max", {f.List({D(std::nan("")), D(1)})}).AsDouble()));
  CHECK(f.Text("min", {f.List({})}) == "error: min called on empty list");
  CHECK(f.Text("max", {f.List({})}) == "error: max called on empty list");
  CHECK(f.Text("isSorted", {f.Ints({1, 2, 2, 3})}) == "true");
  CHECK(f.Text("isSorted", {f.Ints({1, 3, 2})}) == "false");
  CHECK(f.Text("isSorted", {f.List({})}) == "true");
}

TEST_CASE("cel: indexOf and lastIndexOf of lists compare as == does", "[cel]") {
  FunctionCaller f(functions::Lists());

  CHECK(f.Text("indexOf", {f.Ints({1, 2, 2}), I(2)}) == "1");
  CHECK(f.Text("indexOf", {f.Ints({1, 2, 2}), D(2)}) == "1");
  CHECK(f.Text("lastIndexOf", {f.Ints({1, 2, 2}), I(2)}) == "2");
  CHECK(f.Text("lastIndexOf", {f.Ints({1, 2, 2}), S("2")}) == "-1");
}

TEST_CASE("cel: Kubernetes' list functions cost one traversal, rounded down", "[cel]") {
  FunctionCaller f(functions::Lists());
  const std::string text(25, 'x');

  CHECK(f.Cost("sum", {f.Ints({1, 2, 3})}) == 3);
  CHECK(f.Cost("max", {f.Strings({text, text, "x"})}) == 4);
  CHECK(f.Cost("max", {f.List({})}) == 0);
  CHECK(f.Cost("indexOf", {f.List({f.Ints({1, 2}), f.Map({{S(text), I(1)}})}), I(1)}) == 5);

  using Argument = SizedCall::Argument;
  CHECK(f.Estimated("list_int_sum_int", {Argument{.size = {0, 7}, .element_type = Type::Int()}})
            .cost == CostRange{0, 7});
  CHECK(f.Estimated("list_string_max_string", {Argument{.size = {1, 7},
                                                        .element_size = SizeRange{0, 25},
                                                        .element_type = Type::String()}})
            .cost == CostRange{1, 28});
}

TEST_CASE("cel: sets compare lists without order", "[cel]") {
  FunctionCaller f(functions::Sets());
  const Value numbers = f.List({I(1), Value::Uint(2), D(3)});

  CHECK(f.Text("sets.contains", {f.List({}), f.List({})}) == "true");
  CHECK(f.Text("sets.contains", {numbers, f.Ints({3, 2, 2})}) == "true");
  CHECK(f.Text("sets.contains", {numbers, f.Ints({4})}) == "false");
  CHECK(f.Text("sets.contains", {f.List({f.Ints({1}), f.Ints({2})}), f.List({f.Ints({2})})}) ==
        "true");
  CHECK(f.Text("sets.equivalent", {f.Ints({1, 1, 2}), f.Ints({2, 1})}) == "true");
  CHECK(f.Text("sets.equivalent", {f.Ints({1, 2}), f.Ints({1})}) == "false");
  CHECK(f.Text("sets.equivalent", {f.Ints({1}), f.Ints({1, 2})}) == "false");
  CHECK(f.Text("sets.intersects", {f.Ints({1, 2}), f.Ints({2, 3})}) == "true");
  CHECK(f.Text("sets.intersects", {f.Ints({1}), f.List({})}) == "false");
  CHECK(f.Cost("sets.contains", {numbers, f.Ints({3, 2})}) == 7);
  CHECK(f.Cost("sets.equivalent", {numbers, f.Ints({3, 2})}) == 13);

  using Argument = SizedCall::Argument;
  CHECK(f.Estimated("list_sets_equivalent_list", {Argument{{1, 3}}, Argument{{2, 5}}}).cost ==
        CostRange{5, 31});
  CHECK(f.Estimated("list_sets_contains_list", {Argument{}, Argument{}}).cost.max == kUnbounded);
}

TEST_CASE("cel: slice, reverse, range and distinct make lists", "[cel]") {
  FunctionCaller f(functions::ListExtensions());
  const Value list = f.Ints({1, 2, 3, 4});

  CHECK(f.Text("slice", {list, I(0), I(4)}) == "[1, 2, 3, 4]");
  CHECK(f.Text("slice", {list, I(1), I(3)}) == "[2, 3]");
  CHECK(f.Text("slice", {list, I(2), I(2)}) == "[]");
  CHECK(f.Text("slice", {list, I(0), I(5)}) == "error: cannot slice(0, 5), list is length 4");
  CHECK(f.Text("slice", {list, I(-5), I(10)}) ==
        "error: cannot slice(-5, 10), negative indexes not supported");
  CHECK(f.Text("slice", {list, I(3), I(0)}) ==
        "error: cannot slice(3, 0), start index must be less than or equal to end index");
  CHECK(f.Text("reverse", {list}) == "[4, 3, 2, 1]");
  CHECK(f.Text("lists.range", {I(3)}) == "[0, 1, 2]");
  CHECK(f.Text("lists.range", {I(-3)}) == "[]");
  CHECK(f.Text("distinct", {f.List({I(-2), I(5), D(-2), I(1), I(1), Value::Uint(5), I(-2)})}) ==
        "[-2, 5, 1]");
  CHECK(f.Text("distinct", {f.List({})}) == "[]");
}

TEST_CASE("cel: lists.range builds nothing that the limit does not allow", "[cel]") {
  FunctionCaller f(functions::ListExtensions(), /*limit=*/1'000);

  CHECK(f.Call("lists.range", {I(1'000'000'000)}).is_error());
  CHECK(f.over_limit());
  CHECK(f.arena().bytes_used() < 1'000);
  CHECK(f.Call("lists.range", {I(INT64_MAX)}).is_error());
  CHECK(f.Cost("lists.range", {I(INT64_MAX)}) == (std::uint64_t{1} << 63U) - 1 + 11);
}

TEST_CASE("cel: flatten opens lists down to a depth", "[cel]") {
  FunctionCaller f(functions::ListExtensions());
  const Value nested = f.List({I(1), f.List({I(2), f.List({I(3), f.List({I(4)})})}), f.List({})});

  CHECK(f.Text("flatten", {nested, I(0)}) == "[1, [2, [3, [4]]], []]");
  CHECK(f.Text("flatten", {nested, I(1)}) == "[1, 2, [3, [4]]]");
  CHECK(f.Text("flatten", {nested, I(9)}) == "[1, 2, 3, 4]");
  CHECK(f.Text("flatten", {nested, I(-1)}) == "error: level must be non-negative");
  CHECK(f.CallAny("flatten", {nested}).size() == 3);
  CHECK(f.CallAny("flatten", {I(1)}).AsText() == "no such overload: int.flatten()");
  CHECK(f.CallAny("flatten", {nested, S("")}).AsText() ==
        "no such overload: list(dyn).flatten(string)");
}

TEST_CASE("cel: flatten stops at a list of lists that is much larger than it costs", "[cel]") {
  FunctionCaller f(functions::ListExtensions(), /*limit=*/1'000);
  // 10^10 items, of lists that occur ten times each.
  Value list = f.Ints({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  for (int i = 1; i < 10; ++i) list = f.List(std::vector<Value>(10, list));

  CHECK(f.Call("flatten", {list, I(10)}).is_error());
  CHECK(f.over_limit());
}

TEST_CASE("cel: sort takes items of one ordered type", "[cel]") {
  FunctionCaller f(functions::ListExtensions());

  CHECK(f.Text("sort", {f.Ints({4, 3, 2, 1})}) == "[1, 2, 3, 4]");
  CHECK(f.Text("sort", {f.Strings({"d", "a", "c"})}) == "[a, c, d]");
  CHECK(f.Text("sort", {f.List({})}) == "[]");
  CHECK(f.CallAny("sort", {f.List({I(1), S("a")})}).AsText() ==
        "list elements must have the same type");
  CHECK(f.CallAny("sort", {f.List({f.List({}), f.List({})})}).AsText() ==
        "list elements must be comparable");
  CHECK(f.CallAny("sort", {f.Map({})}).AsText() == "no such overload: sort");
  CHECK(f.Text("@sortByAssociatedKeys", {f.Strings({"foo", "bar", "baz"}), f.Ints({3, 1, 2})}) ==
        "[bar, baz, foo]");
  CHECK(f.Text("@sortByAssociatedKeys", {f.Strings({"foo"}), f.Ints({3, 1})}) ==
        "error: @sortByAssociatedKeys() expected a list of the same size as the associated keys "
        "list, but got 1 and 2 elements respectively");
}

TEST_CASE("cel: cel-go's list functions cost what they may take", "[cel]") {
  FunctionCaller f(functions::ListExtensions());
  const Value three = f.Ints({3, 1, 2});

  CHECK(f.Cost("slice", {three, I(1), I(3)}) == 13);
  CHECK(f.Cost("slice", {three, I(1), I(5)}) == 12);
  CHECK(f.Cost("reverse", {three}) == 14);
  CHECK(f.Cost("flatten", {three, I(4)}) == 23);
  CHECK(f.Cost("lists.range", {I(3)}) == 14);
  CHECK(f.Cost("lists.range", {I(-3)}) == 11);
  CHECK(f.Cost("sort", {three}) == 29);
  CHECK(f.Cost("sort", {f.Strings({"b", "a"})}) == 19);
  CHECK(f.Cost("distinct", {three}) == 29);
  CHECK(f.Cost("@sortByAssociatedKeys", {f.List({}), f.List({})}) == 11);

  using Argument = SizedCall::Argument;
  const auto slice =
      f.Estimated("list_slice", {Argument{{0, 9}}, Argument{.literal = 1}, Argument{}});
  CHECK(slice.cost == CostRange{19, 19});
  CHECK(slice.result_size == SizeRange{8, 8});
  CHECK(
      f.Estimated("list_slice", {Argument{{3, 3}}, Argument{.literal = 2}, Argument{.literal = 1}})
          .cost.max == kUnbounded);
  CHECK(f.Estimated("lists_range", {Argument{}}).cost == CostRange{kUnbounded, kUnbounded});
  CHECK(f.Estimated("lists_range", {Argument{.literal = 3}}).cost == CostRange{14, 14});
  CHECK(f.Estimated("list_flatten", {Argument{{2, 2}}}).cost == CostRange{13, 13});
  CHECK(f.Estimated("list_string_sort", {Argument{{2, 2}}}).cost == CostRange{20, 20});
  CHECK(f.Estimated("list_int_sortByAssociatedKeys", {Argument{}, Argument{{0, 3}}}).cost ==
        CostRange{11, 29});
}

TEST_CASE("cel: optional values", "[cel]") {
  FunctionCaller f(functions::Optionals());
  const auto kept = [&f](const Value& value) {
    return f.Call("optional.ofNonZeroValue", {value}).AsOptional() != nullptr;
  };

  CHECK(f.Text("value", {f.Call("optional.of", {I(1)})}) == "1");
  CHECK(f.Text("value", {f.Call("optional.none", {})}) == "error: optional.none() dereference");
  CHECK(f.Call("hasValue", {f.Call("optional.of", {Value()})}).AsBool());
  CHECK(f.Text("first", {f.Ints({1, 2})}) == "optional(1)");
  CHECK(f.Text("last", {f.Ints({1, 2})}) == "optional(2)");
  CHECK(f.Text("last", {f.List({})}) == "optional.none()");
  const Value optionals = f.List({Value::Optional(I(1), f.arena()), Value::None()});
  CHECK(f.Text("optional.unwrap", {optionals}) == "[1]");
  CHECK(f.Text("unwrapOpt", {f.List({Value::None(), I(5)})}) == "error: value 5 is not optional");
  CHECK(kept(Value::None()));
  CHECK_FALSE(kept(Value()));
  CHECK_FALSE(kept(D(-0.0)));
  CHECK_FALSE(kept(S("")));
  CHECK_FALSE(kept(f.Map({})));
  CHECK_FALSE(kept(Value::Timestamp({-62135596800, 0, 0})));
  CHECK(kept(Value::Timestamp({0, 0, 0})));
  CHECK(kept(Value::Bool(true)));
}
