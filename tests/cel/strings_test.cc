#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "cel/functions/libraries.h"
#include "cel/run/size.h"
#include "function_caller.h"

// Expectations are those of cel-go's ext/strings_test.go, or answers of Kubernetes 1.36.
using namespace apiserver::cel::testing;
using apiserver::cel::CostRange;
using apiserver::cel::kUnbounded;
using apiserver::cel::SizeRange;
using apiserver::cel::Time;
using apiserver::cel::Type;
using apiserver::cel::Value;

namespace {

FunctionCaller Caller(std::uint64_t limit = 1'000'000) {
  return FunctionCaller(apiserver::cel::functions::Strings(), limit);
}

}  // namespace

TEST_CASE("cel: a code point counts as one wherever it stands in a text", "[cel]") {
  for (const std::string_view wide : {"é", "€", "😀"}) {
    for (std::size_t before = 0; before < 20; ++before) {
      for (std::size_t after = 0; after < 20; ++after) {
        const std::string text =
            std::string(before, 'a') + std::string(wide) + std::string(after, 'b');
        CAPTURE(text);
        CHECK(apiserver::cel::CodePoints(text) == before + 1 + after);
        CHECK(apiserver::cel::CodePoints(text + text) == 2 * (before + 1 + after));
      }
    }
  }
  for (std::size_t size = 0; size < 40; ++size) {
    CHECK(apiserver::cel::CodePoints(std::string(size, 'a')) == size);
  }
}

TEST_CASE("cel: charAt and substring count code points", "[cel]") {
  auto f = Caller();

  CHECK(f.Text("charAt", {S("tacocat"), I(3)}) == "o");
  CHECK(f.Text("charAt", {S("tacocat"), I(7)}) == "");
  CHECK(f.Text("charAt", {S("©αT"), I(1)}) == "α");
  CHECK(f.Text("charAt", {S("tacocat"), I(30)}) == "error: index out of range: 30");
  CHECK(f.Text("charAt", {S("tacocat"), I(-1)}) == "error: index out of range: -1");
  CHECK(f.Text("substring", {S("tacocat"), I(4)}) == "cat");
  CHECK(f.Text("substring", {S("tacocat"), I(7)}) == "");
  CHECK(f.Text("substring", {S("ta©o©αT"), I(2), I(6)}) == "©o©α");
  CHECK(f.Text("substring", {S("ta©o©αT"), I(7), I(7)}) == "");
  CHECK(f.Text("substring", {S("tacocat"), I(40)}) == "error: index out of range: 40");
  CHECK(f.Text("substring", {S("tacocat"), I(-1), I(3)}) == "error: index out of range: -1");
  CHECK(f.Text("substring", {S("tacocat"), I(1), I(50)}) == "error: index out of range: 50");
  CHECK(f.Text("substring", {S("tacocat"), I(49), I(50)}) == "error: index out of range: 49");
  CHECK(f.Text("substring", {S("tacocat"), I(4), I(3)}) ==
        "error: invalid substring range. start: 4, end: 3");
}

TEST_CASE("cel: indexOf and lastIndexOf find code points from an offset", "[cel]") {
  struct Row {
    std::string_view text;
    std::string_view needle;
    std::optional<std::int64_t> offset;
    std::string_view first;
    std::string_view last;
  };
  const Row rows[] = {
      {"tacocat", "", {}, "0", "7"},
      {"tacocat", "ac", {}, "1", "1"},
      {"tacocat", "none", {}, "-1", "-1"},
      {"tacocat", "", 3, "3", "3"},
      {"tacocat", "", 30, "30", "30"},
      {"tacocat", "a", 3, "5", "1"},
      {"tacocat", "at", 3, "5", "-1"},
      {"tacocat", "at", 6, "-1", "5"},
      {"tacocat", "a", 30, "-1", "-1"},
      {"tacocat", "a", -1, "error: index out of range: -1", "error: index out of range: -1"},
      {"ta©o©αT", "©", {}, "2", "4"},
      {"ta©o©αT", "©", 3, "4", "2"},
      {"ta©o©αT", "©αT", 3, "4", "-1"},
      {"ta©o©αT", "©α", 5, "-1", "4"},
      {"", "@@", {}, "-1", "-1"},
      {"", "a", 0, "-1", "-1"},
      {"hello wello", "ello", 6, "7", "1"},
      {"hello wello", "hello wello", {}, "0", "0"},
      {"hello wello", "elbo room!!!", {}, "-1", "-1"},
      {"aabaabaab", "aab", {}, "0", "6"},
      {"aabaabaab", "aab", 5, "6", "3"},
  };
  auto f = Caller();
  for (const Row& row : rows) {
    CAPTURE(row.text, row.needle, row.offset.value_or(-99));
    std::vector<Value> arguments = {S(row.text), S(row.needle)};
    if (row.offset.has_value()) arguments.push_back(I(*row.offset));

    CHECK(f.Text("indexOf", arguments) == row.first);
    CHECK(f.Text("lastIndexOf", arguments) == row.last);
  }
}

TEST_CASE("cel: searching backwards takes linear time", "[cel]") {
  auto f = Caller();
  const std::string text(2'000'000, 'a');
  const std::string needle = "b" + std::string(1'000'000, 'a');

  CHECK(f.Text("lastIndexOf", {S(text), S(needle)}) == "-1");
  CHECK(f.Text("indexOf", {S(text), S(needle)}) == "-1");
}

TEST_CASE("cel: lowerAscii, upperAscii and trim", "[cel]") {
  auto f = Caller();

  CHECK(f.Text("lowerAscii", {S("TacoCÆt Xii[@`{")}) == "tacocÆt xii[@`{");
  CHECK(f.Text("upperAscii", {S("tacoCÆt Xii[@`{")}) == "TACOCÆT XII[@`{");
  CHECK(f.Text("trim", {S(" \f\n\r\t\vtext\u0085\u00a0\u1680")}) == "text");
  CHECK(f.Text("trim", {S("\u2000\u200a\u2028\u2029\u202f\u205f\u3000te xt")}) == "te xt");
  CHECK(f.Text("trim", {S("\u180e\u200b")}) == "\u180e\u200b");
  CHECK(f.Text("trim", {S("  ")}) == "");
}

TEST_CASE("cel: replace puts texts around characters if it replaces nothing", "[cel]") {
  auto f = Caller();

  CHECK(f.Text("replace", {S("12 days 12 hours"), S("{0}"), S("2")}) == "12 days 12 hours");
  CHECK(f.Text("replace", {S("{0} days {0} hours"), S("{0}"), S("2")}) == "2 days 2 hours");
  CHECK(f.Text("replace", {S("{0} days {0} hours"), S("{0}"), S("2"), I(1)}) == "2 days {0} hours");
  CHECK(f.Text("replace", {S("1 ©αT taco"), S("αT"), S("o©α")}) == "1 ©o©α taco");
  CHECK(f.Text("replace", {S("hello hello"), S("he"), S("we"), I(0)}) == "hello hello");
  CHECK(f.Text("replace", {S("hello hello"), S("he"), S("we"), I(-1)}) == "wello wello");
  CHECK(f.Text("replace", {S("hé"), S(""), S("_")}) == "_h_é_");
  CHECK(f.Text("replace", {S("hello"), S(""), S("_"), I(2)}) == "_h_ello");
  CHECK(f.Text("replace", {S(""), S(""), S("_")}) == "_");
  CHECK(f.Text("replace", {S("aaa"), S("a"), S("")}) == "");
}

TEST_CASE("cel: replace ends the evaluation before it builds something large", "[cel]") {
  auto f = Caller(/*limit=*/1'000);
  const std::string text(100'000, 'x');

  const Value replaced = f.Call("replace", {S(text), S(""), S(text)});

  CHECK(replaced.AsText() == "operation cancelled: actual cost limit exceeded");
  CHECK(f.over_limit());
  CHECK(f.arena().bytes_used() < 1'000);
}

TEST_CASE("cel: split, join and quote", "[cel]") {
  auto f = Caller();

  CHECK(f.Text("split", {S("hello hello hello"), S(" ")}) == "[hello, hello, hello]");
  CHECK(f.Text("split", {S("hello hello hello"), S(" "), I(0)}) == "[]");
  CHECK(f.Text("split", {S("hello hello hello"), S(" "), I(1)}) == "[hello hello hello]");
  CHECK(f.Text("split", {S("hello hello hello"), S(" "), I(2)}) == "[hello, hello hello]");
  CHECK(f.Text("split", {S("hello hello"), S(" "), I(-1)}) == "[hello, hello]");
  CHECK(f.Text("split", {S("aé€"), S("")}) == "[a, é, €]");
  CHECK(f.Text("split", {S("aé€"), S(""), I(2)}) == "[a, é€]");
  CHECK(f.Text("split", {S("aé"), S(""), I(9)}) == "[a, é]");
  CHECK(f.Call("split", {S(""), S("")}).size() == 0);
  CHECK(f.Call("split", {S(""), S(",")}).size() == 1);
  CHECK(f.Text("join", {f.Strings({"x", "y"})}) == "xy");
  CHECK(f.Text("join", {f.Strings({"x", "y", "z"}), S(" a ")}) == "x a y a z");
  CHECK(f.Text("join", {f.List({}), S("-")}) == "");
  CHECK(f.Text("join", {f.List({S("x"), I(1)}), S("-")}) == "error: join: invalid input: 1");
  CHECK(f.Text("strings.quote", {S("a\a\b\f\n\r\t\v\\\"é'")}) ==
        "\"a\\a\\b\\f\\n\\r\\t\\v\\\\\\\"é'\"");
}

TEST_CASE("cel: format prints numbers in English", "[cel]") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  struct Row {
    std::string_view format;
    double number;
    std::string_view text;
  };
  const Row rows[] = {
      {"%.3f", 1234567.1, "1,234,567.100"},
      {"%f", 123456789012345678901234567890.0, "123,456,789,012,345,677,877,719,597,056.000000"},
      {"%.2f", -0.001, "-0.00"},
      {"%.0f", 2.5, "2"},
      {"%.1f", 0.35, "0.3"},
      {"%.2f", 1.005, "1.00"},
      {"%.3f", 1234.5675, "1,234.568"},
      {"%f", -0.0, "0.000000"},
      {"%.20f", 0.1, "0.10000000000000000555"},
      {"%f", kInfinity, "∞"},
      {"%f", -kInfinity, "-∞"},
      {"%f", std::nan(""), "NaN"},
      {"%e", 1234.5, "1.234500×10⁰³"},
      {"%e", 0.0, "0.000000×10⁰⁰"},
      {"%e", 1e300, "1.000000×10³⁰⁰"},
      {"%e", -1.5e-300, "-1.500000×10⁻³⁰⁰"},
      {"%e", 9.9999995, "9.999999×10⁰⁰"},
      {"%e", kInfinity, "     ∞"},
      {"%e", std::nan(""), "   NaN"},
      {"%.0e", -kInfinity, "-∞"},
      // The precision of %e is a width: cel-go's quirk.
      {"%.3e", 9.9996, "9.999600×10⁰⁰"},
      {"%.20e|", 1.5, "       1.500000×10⁰⁰|"},
      // Fraction digits above 255 wrap around.
      {"%.300f", 1.5, "1.50000000000000000000000000000000000000000000"},
      {"%.40000f", 1.1, "1.1000000000000000000000000000000000000000000000000000000000000000"},
      {"%.10000010f", 1.5, "%!(NOVERB)"},
  };
  auto f = Caller();
  for (const Row& row : rows) {
    CAPTURE(row.format, row.number);
    CHECK(f.Text("format", {S(row.format), f.List({D(row.number)})}) == row.text);
  }
}

TEST_CASE("cel: format prints values as literals within lists and maps", "[cel]") {
  auto f = Caller();
  const Value time = Value::Timestamp({1577829600, 500'000'000, 7200});
  const auto text = [&f](const Value& value) {
    return f.Text("format", {S("%s"), f.List({value})});
  };

  CHECK(text(f.List({I(1), D(1.5), S("a\"b\n€"), Value::Bytes("ab"), Value(),
                     Value::Bool(true)})) == "[1, 1.500000, \"a\\\"b\\n€\", b\"ab\", null, true]");
  CHECK(text(f.List({time, Value::Duration(90'000'000'000)})) ==
        "[timestamp(\"2020-01-01T00:00:00.5+02:00\"), duration(\"90s\")]");
  CHECK(text(f.List({D(HUGE_VAL), D(-HUGE_VAL), D(1e20)})) ==
        "[\"+Inf\", \"-Inf\", 100000000000000000000.000000]");
  CHECK(text(time) == "2020-01-01T00:00:00.5+02:00");
  CHECK(text(D(1e10)) == "1e+10");
  CHECK(text(Value::Bytes("ab")) == "ab");
  CHECK(text(f.Map({{S("a"), f.Map({{S("x"), f.Ints({1})}})}, {S("B"), Value()}})) ==
        "{\"B\":null, \"a\":{\"x\":[1]}}");
  CHECK(text(f.Map({{I(1), I(2)}, {I(10), I(3)}, {I(9), I(4)}})) == "{1:2, 10:3, 9:4}");
  CHECK(text(f.Map({{Value::Bool(true), I(1)}, {S("x"), I(2)}})) == "{\"x\":2, true:1}");
  CHECK(f.Text("format", {S("%d %x %X %x %o %b %b a%%"),
                          f.List({I(-7), I(255), I(-255), S("hi"), Value::Uint(8),
                                  Value::Bool(true), I(-5)})}) == "-7 ff -FF 6869 10 1 -101 a%");
  CHECK(f.Text("format", {S("%f %.5s|%.5d"), f.List({S("NaN"), S("abcdefgh"), I(3)})}) ==
        "NaN abcdefgh|3");
}

TEST_CASE("cel: format says which clause is wrong", "[cel]") {
  auto f = Caller();
  const auto error = [&f](std::string_view format, std::vector<Value> items) {
    return f.Text("format", {S(format), f.List(std::move(items))});
  };

  CHECK(error("%d", {D(1.5)}) ==
        "error: error during formatting: decimal clause can only be used on integers, was given "
        "double");
  CHECK(error("%f", {I(1)}) ==
        "error: error during formatting: fixed-point clause can only be used on doubles, was given "
        "int");
  CHECK(error("%e", {I(1)}) ==
        "error: error during formatting: scientific clause can only be used on doubles, was given "
        "int");
  CHECK(error("%o", {S("a")}) ==
        "error: error during formatting: octal clause can only be used on integers, was given "
        "string");
  CHECK(error("%b", {S("a")}) ==
        "error: error during formatting: only integers and bools can be formatted as binary, was "
        "given string");
  CHECK(error("%x", {D(1.5)}) ==
        "error: error during formatting: only integers, byte buffers, and strings can be formatted "
        "as hex, was given double");
  CHECK(error("%s", {Value::None()}) ==
        "error: error during formatting: string clause can only be used on strings, bools, bytes, "
        "ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type");
  CHECK(error("%s", {f.List({Value::None()})}) ==
        "error: error during formatting: no formatting function for optional_type");
  CHECK(error("%s", {f.Map({{D(1.5), I(2)}})}) ==
        "error: error during formatting: no formatting function for map key of type double");
  CHECK(error("%s", {Value::Bytes("\xff")}) ==
        "error: error during formatting: could not convert argument \"invalid UTF-8 in bytes, "
        "cannot convert to string\" to string");
  CHECK(error("%q", {I(1)}) ==
        "error: could not parse formatting clause: unrecognized formatting clause \"q\"");
  CHECK(error("%é", {I(1)}) ==
        "error: could not parse formatting clause: unrecognized formatting clause \"Ã\"");
  CHECK(error("%.x", {I(1)}) ==
        "error: could not parse formatting clause: error while parsing precision: error while "
        "converting precision to integer: strconv.Atoi: parsing \"\": invalid syntax");
  CHECK(
      error("%.99999999999999999999f", {I(1)}) ==
      "error: could not parse formatting clause: error while parsing precision: error while "
      "converting precision to integer: strconv.Atoi: parsing \"99999999999999999999\": value out "
      "of range");
  CHECK(error("%.3", {I(1)}) ==
        "error: could not parse formatting clause: error while parsing precision: could not find "
        "end of precision specifier");
  CHECK(error("%", {I(1)}) == "error: unexpected end of string");
  CHECK(error("%s %s", {I(1)}) == "error: index 1 out of range");
}

TEST_CASE("cel: format bounds its result", "[cel]") {
  auto f = Caller(/*limit=*/1'000);
  const std::string text(800'000, 'x');

  const Value formatted = f.Call("format", {S("%s%s"), f.List({S(text), S(text)})});

  CHECK(formatted.AsText() == "operation cancelled: actual cost limit exceeded");
  CHECK(f.over_limit());
}

TEST_CASE("cel: functions of strings have Kubernetes' costs", "[cel]") {
  auto f = Caller();
  const Value text = S("012345678901234567890");  // 21.

  CHECK(f.Cost("charAt", {text, I(1)}) == 1);
  CHECK(f.Cost("indexOf", {text, S("x")}) == 2);
  CHECK(f.Cost("indexOf", {S("é€é€"), S("x")}) == 1);  // Bytes, not code points.
  CHECK(f.Cost("lastIndexOf", {S(""), S("x")}) == 0);
  CHECK(f.Cost("lowerAscii", {text}) == 3);
  CHECK(f.Cost("substring", {text, I(1)}) == 3);
  CHECK(f.Cost("replace", {text, S("x"), S("y")}) == 5);
  CHECK(f.Cost("split", {text, S("x")}) == 5);
  CHECK(f.Cost("join", {f.List({text, text})}) == 9);
  CHECK(f.Cost("format", {text, f.List({})}) == 3);
  CHECK(f.Cost("strings.quote", {text}) == 3);

  using Argument = SizedCall::Argument;
  const auto estimate = f.Estimated("string_replace_string_string",
                                    {Argument{{10, 20}}, Argument{{2, 4}}, Argument{{3, 9}}});
  CHECK(estimate.cost == CostRange{2, 4});
  CHECK(estimate.result_size == SizeRange{9, 90});
  CHECK(f.Estimated("string_split_string_int",
                    {Argument{{10, 20}}, Argument{{1, 1}}, Argument{.literal = 3}})
            .result_size == SizeRange{0, 3});
  CHECK(f.Estimated("list_join_string", {Argument{.size = {0, 5},
                                                  .element_size = SizeRange{0, 10},
                                                  .element_type = Type::String()},
                                         Argument{{1, 1}}})
            .cost == CostRange{0, 6});
  CHECK(f.Estimated("strings_quote", {Argument{{5, 5}}}).result_size == SizeRange{7, 12});
  CHECK(f.Estimated("string_index_of_string", {Argument{{0, 15}}, Argument{{1, 1}}}).cost ==
        CostRange{0, 2});
}
