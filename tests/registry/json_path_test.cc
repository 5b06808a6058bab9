#include <catch2/catch.hpp>

#include <string>

#include "apiserver/codec/json.h"
#include "registry/json_path.h"

namespace {

using namespace apiserver;  // NOLINT: a test.

constexpr char kDocument[] =
    R"({"a":{"b.c":1,"b":{"c":5},"d":[10,20,30],"e":[],"n":null},)"
    R"("k":[{"n":1,"type":"X","v":"x"},{"n":2.5,"on":true,"type":"Ready","v":"yes"}],"t":true,)"
    R"("m":{"x":{"y":1},"z":{"y":2}},"s":"text","l":[[1,2],[3]]})";

// Paths, and what client-go's util/jsonpath v0.35.4 finds first, as a printer column shows it.
struct JsonPathRow {
  const char* path;
  const char* text;
};
constexpr JsonPathRow kJsonPathRows[] = {
    {R"~(.a['b.c'])~", R"~(5)~"},
    {R"~(.a['b\.c'])~", R"~(1)~"},
    {R"~(.a.b\.c)~", R"~(1)~"},
    {R"~(.a.d[1])~", R"~(20)~"},
    {R"~(.a.d[-1])~", R"~(30)~"},
    {R"~(.a.d[-3])~", R"~(10)~"},
    {R"~(.a.d[-4])~", R"~()~"},
    {R"~(.a.d[7])~", R"~()~"},
    {R"~(.a.d[*])~", R"~(10)~"},
    {R"~(.a.d[1:])~", R"~(20)~"},
    {R"~(.a.d[:1])~", R"~(10)~"},
    {R"~(.a.d[0:3:2])~", R"~(10)~"},
    {R"~(.a.d[1:1])~", R"~()~"},
    {R"~(.a.d[2:1])~", R"~()~"},
    {R"~(.a.d[0:9])~", R"~()~"},
    {R"~(.a.d[::0])~", R"~()~"},
    {R"~(.a.d[])~", R"~(10)~"},
    {R"~(.a.d[x])~", R"~(bad path)~"},
    {R"~(.a.e[*])~", R"~()~"},
    {R"~(.a.e[0])~", R"~()~"},
    {R"~(.a.n)~", R"~()~"},
    {R"~(.a.n.x)~", R"~()~"},
    {R"~(.a.n[0])~", R"~()~"},
    {R"~(.k[?(@.type=="Ready")].v)~", R"~(yes)~"},
    {R"~(.k[?(@.type != 'X')].v)~", R"~(yes)~"},
    {R"~(.k[?(@.type=='X')].v)~", R"~(x)~"},
    {R"~(.k[?(@.type=="None")].v)~", R"~()~"},
    {R"~(.k[?(@.n>1)].v)~", R"~()~"},
    {R"~(.k[?(@.n<2)].v)~", R"~()~"},
    {R"~(.k[?(@.n<=1)].v)~", R"~()~"},
    {R"~(.k[?(@.on)].v)~", R"~(yes)~"},
    {R"~(.k[?(@.on==true)].v)~", R"~(yes)~"},
    {R"~(.k[?(@.on!=true)].v)~", R"~()~"},
    {R"~(.k[?(@.none)].v)~", R"~()~"},
    {R"~(.k[?(@.type==Ready)].v)~", R"~()~"},
    {R"~(.k[?(@.type=="a)b")].v)~", R"~()~"},
    {R"~(.k[?(@.type==@.v)].v)~", R"~()~"},
    {R"~(.k[?(@.n=1)].v)~", R"~()~"},
    {R"~(.a.d)~", R"~([10,20,30])~"},
    {R"~(.a[)~", R"~(bad path)~"},
    {R"~($.t)~", R"~(true)~"},
    {R"~(@.t)~", R"~(true)~"},
    {R"~(.t .s)~", R"~()~"},
    {R"~(.m.*.y)~", R"~(1)~"},
    {R"~(.m[*].y)~", R"~()~"},
    {R"~(.*.x.y)~", R"~(1)~"},
    {R"~(..y)~", R"~(1)~"},
    {R"~(..none)~", R"~()~"},
    {R"~(...)~", R"~()~"},
    {R"~(..d[1])~", R"~(20)~"},
    {R"~(..['y'])~", R"~(1)~"},
    {R"~(..*)~", R"~(bad path)~"},
    {R"~(.k[0,1].v)~", R"~(x)~"},
    {R"~(.k[1,0].v)~", R"~(yes)~"},
    {R"~(.m['z','x'])~", R"~({"y":2})~"},
    {R"~(.a['b','d'])~", R"~({"c":5})~"},
    {R"~(.m["x"])~", R"~(bad path)~"},
    {R"~(.l[*][0])~", R"~(1)~"},
    {R"~(.l[*][1])~", R"~()~"},
    {R"~(.l[*][*])~", R"~(1)~"},
    {R"~(.s.x)~", R"~()~"},
    {R"~(.s[0])~", R"~()~"},
    {R"~(.t[0])~", R"~()~"},
    {R"~(.)~", R"~()~"},
    {R"~(.k..v)~", R"~(x)~"},
    {R"~(.l..x)~", R"~()~"},
    {R"~(.a.d[0)~", R"~(bad path)~"},
    {R"~(.k[?(@.type))~", R"~(bad path)~"},
    {R"~(.k[?(@.type])~", R"~(bad path)~"},
    {R"~(.k[?()].v)~", R"~(x)~"},
    {R"~(.k.v)~", R"~()~"},
    {R"~(.a..c)~", R"~(5)~"},
    {R"~(..k[?(@.v=='x')].type)~", R"~(X)~"},
    {R"~(.k[?(@.type=="Ready")])~", R"~({"n":2.5,"on":true,"type":"Ready","v":"yes"})~"},
    {R"~(.x.y[0].z)~", R"~()~"},
    {R"~(.k[0].none[0])~", R"~()~"},
    {R"~(.m.x['y'])~", R"~(1)~"},
    {R"~({.t} {.s})~", R"~(bad path)~"},
    {R"~(.s{})~", R"~(bad path)~"},
};

std::string FirstOf(const std::string& path) {
  runtime::Arena arena;
  const auto document = codec::ParseJson(kDocument, arena);
  REQUIRE(document.ok());
  const auto parsed = registry::JsonPath::Parse(path);
  return parsed.ok() ? registry::TextOf(parsed->First(*document)) : "bad path";
}

}  // namespace

TEST_CASE("registry: a JSONPath finds what client-go finds", "[registry]") {
  for (const JsonPathRow& row : kJsonPathRows) {
    INFO(row.path);
    CHECK(FirstOf(row.path) == row.text);
  }
}

TEST_CASE("registry: a JSONPath may have braces around it", "[registry]") {
  CHECK(FirstOf("{.t}") == "true");
  CHECK(FirstOf("a.b") == "bad path");
}

// Each ".." finds all below each value before it.
TEST_CASE("registry: a JSONPath that finds very much ends with nothing", "[registry]") {
  std::string json = "1";
  for (int i = 0; i < 500; ++i) json = R"({"a":)" + json + "}";
  runtime::Arena arena;
  const auto deep = codec::ParseJson(json, arena);
  REQUIRE(deep.ok());
  const auto path = registry::JsonPath::Parse("..a..a..a..a..a..b");
  REQUIRE(path.ok());
  CHECK(path->First(*deep).is_null());
}
