#include "patch/go_print.h"

#include <string>
#include <utility>

#include "apiserver/codec/json.h"
#include "runtime/scalar.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0::patch {
namespace {

using runtime::Arena;
using runtime::Value;

struct Printed {
  std::string json;
  std::string value;   // %v
  std::string text;    // %s
  std::string syntax;  // %#v
  std::string type;    // %T
};

// What fmt prints of what encoding/json reads, integers as int64.
TEST_CASE("patch: values are shown as fmt shows them", "[patch]") {
  const Printed rows[] = {
      {"null", "<nil>", "%!s(<nil>)", "interface {}(nil)", "<nil>"},
      {"true", "true", "%!s(bool=true)", "true", "bool"},
      {"-7", "-7", "%!s(int64=-7)", "-7", "int64"},
      {"1.5", "1.5", "%!s(float64=1.5)", "1.5", "float64"},
      {R"("a\"\n")", "a\"\n", "a\"\n", R"("a\"\n")", "string"},
      {"[]", "[]", "[]", "[]interface {}{}", "[]interface {}"},
      {"{}", "map[]", "map[]", "map[string]interface {}{}", "map[string]interface {}"},
      {R"([null,[true],"x"])", "[<nil> [true] x]", "[<nil> [%!s(bool=true)] x]",
       R"([]interface {}{interface {}(nil), []interface {}{true}, "x"})", "[]interface {}"},
      {R"({"b":{"d":2,"c":[]},"a":null})", "map[a:<nil> b:map[c:[] d:2]]",
       "map[a:<nil> b:map[c:[] d:%!s(int64=2)]]",
       R"(map[string]interface {}{"a":interface {}(nil), )"
       R"("b":map[string]interface {}{"c":[]interface {}{}, "d":2}})",
       "map[string]interface {}"},
  };
  for (const Printed& row : rows) {
    CAPTURE(row.json);
    Arena arena;
    const Value value = codec::ParseJson(row.json, arena).value();
    CHECK(PrintGo(value) == row.value);
    CHECK(PrintGoText(value) == row.text);
    CHECK(PrintGoSyntax(value, kShownBytesMax) == row.syntax);
    CHECK(runtime::GoTypeOf(value) == row.type);
  }
}

TEST_CASE("patch: floats are shown with an exponent below 1e-4 and from 1e6 on", "[patch]") {
  const std::pair<double, std::string> rows[] = {
      {100000, "100000"},
      {999999.5, "999999.5"},
      {1e6, "1e+06"},
      {123456789, "1.23456789e+08"},
      {1e21, "1e+21"},
      {0.0001, "0.0001"},
      {0.00001, "1e-05"},
      {-0.25, "-0.25"},
      {0, "0"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
  };
  for (const auto& [number, shown] : rows) {
    std::string out;
    AppendGoFloat(number, out);
    CHECK(out == shown);
  }
}

TEST_CASE("patch: what is shown is cut off where the caller says", "[patch]") {
  Arena arena;
  const Value list = codec::ParseJson(R"(["0123456789",1,2,3])", arena).value();
  CHECK(PrintGo(list, 8) == "[01234567...");
  CHECK(PrintGo(list, 13) == "[0123456789 1 2...");
  CHECK(PrintGo(list, 100) == "[0123456789 1 2 3]");
  CHECK(PrintGoSyntax(list, 8) == R"([]interface {}{...)");

  Value deep;
  for (int depth = 0; depth < 100'000; ++depth) {
    runtime::ListBuilder items(arena);
    items.Add(deep);
    deep = items.Build();
  }
  CHECK(PrintGo(deep, kShownBytesMax) == std::string(kShownBytesMax + 1, '[') + "...");
  CHECK(PrintGo(deep) == std::string(100'000, '[') + "<nil>" + std::string(100'000, ']'));
}

}  // namespace
}  // namespace apiserver::inline v0::patch
