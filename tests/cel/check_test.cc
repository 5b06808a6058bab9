#include "cel/check/checker.h"

#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cel/syntax/parser.h"
#include "cel/syntax/source.h"

using apiserver::cel::Environment;
using apiserver::cel::Mode;
using apiserver::cel::StructType;
using apiserver::cel::Type;
using apiserver::cel::check::CheckedAst;
namespace check = apiserver::cel::check;
namespace syntax = apiserver::cel::syntax;

namespace {

Environment Base(int minor = 36) {
  return Environment::Kubernetes({1, minor}, minor == 36 ? Mode::kStored : Mode::kNew);
}

// Parses and checks; what is wrong is shown in `issues`.
std::optional<CheckedAst> Check(const Environment& environment, std::string_view text,
                                std::string& issues) {
  const syntax::SourceText source(text);
  syntax::Issues found;
  syntax::Ast ast = syntax::Parse(source, {}, found);
  std::optional<CheckedAst> checked;
  if (found.empty()) checked = check::Check(environment, std::move(ast), found);
  issues = found.Display(source);
  return checked;
}

// Returns the type of the result; or, for what is refused, the issues without "ERROR: <input>:1:"
// and without the lines that show the place.
std::string TypeOf(const Environment& environment, std::string_view text) {
  std::string issues;
  const std::optional<CheckedAst> checked = Check(environment, text, issues);
  if (checked.has_value()) return checked->result_type.ToString();
  std::string short_form;
  std::string_view rest = issues;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    constexpr std::string_view kPrefix = "ERROR: <input>:1:";
    if (!line.starts_with(kPrefix)) continue;
    if (!short_form.empty()) short_form += "; ";
    short_form += line.substr(kPrefix.size());
  }
  return short_form;
}

struct Case {
  std::string_view text;
  std::string_view expected;  // As TypeOf() returns it.
};

void CheckAll(const Environment& environment, const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    INFO(each.text);
    CHECK(TypeOf(environment, each.text) == each.expected);
  }
}

}  // namespace
TEST_CASE("cel: expressions have the types and issues of cel-go", "[cel]") {
  CheckAll(
      Base(),
      {
          {"1", "int"},
          {"1u", "uint"},
          {"1.0", "double"},
          {"'a'", "string"},
          {"b'a'", "bytes"},
          {"null", "null"},
          {"true", "bool"},
          {"[1, 2]", "list(int)"},
          {"[]", "list(dyn)"},
          {"{}", "map(dyn, dyn)"},
          {"{'a': 1}", "map(string, int)"},
          {"[[], [1]]", "list(list(int))"},
          {"[[1], []]", "list(list(int))"},
          {"[[].map(x, x), [1]]", "list(list(int))"},
          {"[1, 'a']", "5: expected type 'int' but found 'string'"},
          {"[dyn(1), 'a']", "10: expected type 'dyn' but found 'string'"},
          {"[1, dyn('a')]", "8: expected type 'int' but found 'dyn'"},
          {"[dyn(1), dyn('a')]", "list(dyn)"},
          {"[[1], ['a']]", "7: expected type 'list(int)' but found 'list(string)'"},
          {"[[1, 'a']]", "6: expected type 'int' but found 'string'"},
          {"['a', [1,'a']].size() == 1 && {'a': 1, 2: 'b', 'c': 2.0} == {}",
           "7: expected type 'string' but found 'list(dyn)'; 10: expected type 'int' but found "
           "'string'; 40: expected type 'string' but found 'int'; 43: expected type 'int' but "
           "found 'string'; 53: expected type 'int' but found 'double'"},
          {"[null, 1]", "8: expected type 'null' but found 'int'"},
          {"[1, null]", "5: expected type 'int' but found 'null'"},
          {"[1, 1u, 'x']", "5: expected type 'int' but found 'uint'"},
          {"{1: 'a', 'b': 'c'}", "10: expected type 'int' but found 'string'"},
          {"{'a': null, 'b': 1}", "18: expected type 'null' but found 'int'"},
          {"[1,'a'] == foo", "12: undeclared reference to 'foo' (in container '')"},
          {"1 == 1.0", "3: found no matching overload for '_==_' applied to '(int, double)'"},
          {"dyn(1) == 1.0", "bool"},
          {"1 == dyn('a')", "bool"},
          {"1 < 1.0", "bool"},
          {"1u >= 1", "bool"},
          {"'a' < 1", "5: found no matching overload for '_<_' applied to '(string, int)'"},
          {"true < false", "bool"},
          {"null == 1", "6: found no matching overload for '_==_' applied to '(null, int)'"},
          {"1 == null", "3: found no matching overload for '_==_' applied to '(int, null)'"},
          {"null == null", "bool"},
          {"timestamp('2020-01-01T00:00:00Z') == null", "bool"},
          {"[1] == null",
           "5: found no matching overload for '_==_' applied to '(list(int), null)'"},
          {"'a' == null", "5: found no matching overload for '_==_' applied to '(string, null)'"},
          {"1 + 1u", "3: found no matching overload for '_+_' applied to '(int, uint)'"},
          {"1 + 'a'", "3: found no matching overload for '_+_' applied to '(int, string)'"},
          {"[1] + ['a']",
           "5: found no matching overload for '_+_' applied to '(list(int), list(string))'"},
          {"[] + [1]", "list(int)"},
          {"[dyn(1)] + [1]", "list(dyn)"},
          {"'a' + 'b' == 'ab'", "bool"},
          {"timestamp('2020-01-01T00:00:00Z') - timestamp('2020-01-01T00:00:00Z')", "duration"},
          {"timestamp('2020-01-01T00:00:00Z') + duration('1s')", "timestamp"},
          {"dyn(1) + 2", "int"},
          {"dyn(1) + dyn(2)", "dyn"},
          {"1 % 2.0", "3: found no matching overload for '_%_' applied to '(int, double)'"},
          {"-'a'", "1: found no matching overload for '-_' applied to '(string)'"},
          {"-dyn(1)", "dyn"},
          {"!1", "1: found no matching overload for '!_' applied to '(int)'"},
          {"!dyn(1)", "bool"},
          {"true && 1 || 'x'",
           "9: expected type 'bool' but found 'int'; 14: expected type 'bool' but found 'string'"},
          {"true && dyn(1)", "bool"},
          {"1 && 2",
           "1: expected type 'bool' but found 'int'; 6: expected type 'bool' but found 'int'"},
          {"1 ? 2 : 'a'",
           "3: found no matching overload for '_?_:_' applied to '(int, int, string)'"},
          {"true ? 1 : 2", "int"},
          {"true ? 1 : 'a'",
           "6: found no matching overload for '_?_:_' applied to '(bool, int, string)'"},
          {"true ? 2 : dyn('a')", "dyn"},
          {"true ? dyn('a') : 2", "dyn"},
          {"true ? [] : [1]", "list(int)"},
          {"true ? 1 : null",
           "6: found no matching overload for '_?_:_' applied to '(bool, int, null)'"},
          {"1 in [1]", "bool"},
          {"1 in ['a']",
           "3: found no matching overload for '@in' applied to '(int, list(string))'"},
          {"1 in {1: 'a'}", "bool"},
          {"1 in 1", "3: found no matching overload for '@in' applied to '(int, int)'"},
          {"1 in dyn(1)", "bool"},
          {"[1][0]", "int"},
          {"[1]['a']", "4: found no matching overload for '_[_]' applied to '(list(int), string)'"},
          {"{'a': 1}['a']", "int"},
          {"{'a': 1}[1]",
           "9: found no matching overload for '_[_]' applied to '(map(string, int), int)'"},
          {"dyn([1])[0]", "dyn"},
          {"dyn([1])['a']", "dyn"},
          {"1[0]", "2: found no matching overload for '_[_]' applied to '(int, int)'"},
          {"[1][dyn(0)]", "int"},
          {"foo", "1: undeclared reference to 'foo' (in container '')"},
          {".foo", "2: undeclared reference to '.foo' (in container '')"},
          {"foo.bar", "1: undeclared reference to 'foo' (in container '')"},
          {"foo.bar.baz", "1: undeclared reference to 'foo' (in container '')"},
          {"foo.bar.baz(1)",
           "1: undeclared reference to 'foo' (in container ''); 12: undeclared reference to 'baz' "
           "(in container '')"},
          {"foo(1, 2)", "4: undeclared reference to 'foo' (in container '')"},
          {"'a'.foo(1)", "8: undeclared reference to 'foo' (in container '')"},
          {"dyn(1).foo.bar()", "15: undeclared reference to 'bar' (in container '')"},
          {"{'a': 1}.a", "int"},
          {"{'a': 1}.a.b", "11: type 'int' does not support field selection"},
          {"{'a': dyn(1)}.a.b", "dyn"},
          {"{1: 'a'}.b", "string"},
          {"has({'a': 1}.b)", "bool"},
          {"has('a'.b)", "4: type 'string' does not support field selection"},
          {"has(dyn('a').b)", "bool"},
          {"has(foo.b)", "5: undeclared reference to 'foo' (in container '')"},
          {"'a'.b", "4: type 'string' does not support field selection"},
          {"[].foo", "3: type 'list(_var0)' does not support field selection"},
          {"[][0].foo", "dyn"},
          {"[[]][0][0].foo == 1", "bool"},
          {"dyn(1).b.c", "dyn"},
          {"size('a')", "int"},
          {"'a'.size()", "int"},
          {"size([1])", "int"},
          {"size(1)", "5: found no matching overload for 'size' applied to '(int)'"},
          {"size(dyn(1)) + 1", "int"},
          {"size()", "5: found no matching overload for 'size' applied to '()'"},
          {"string(1, 2)", "7: found no matching overload for 'string' applied to '(int, int)'"},
          {"int('1') + 1", "int"},
          {"int(true)", "4: found no matching overload for 'int' applied to '(bool)'"},
          {"double(1) + 1.0", "double"},
          {"bool('true')", "bool"},
          {"type(1) == int", "bool"},
          {"type(type) == type", "bool"},
          {"type([1])", "type(list(int))"},
          {"type(list) == type", "bool"},
          {"int", "type(int)"},
          {"list", "type(list(dyn))"},
          {"map", "type(map(dyn, dyn))"},
          {"type", "type(type)"},
          {"null_type", "type(null)"},
          {"google.protobuf.Timestamp", "type(timestamp)"},
          {"google.protobuf.Duration", "type(duration)"},
          {".int", "type(int)"},
          {"int.foo", "4: type 'type(int)' does not support field selection"},
          {"optional_type", "type(optional_type)"},
          {"net.IP", "type(net.IP)"},
          {"net.CIDR", "type(net.CIDR)"},
          {"dyn", "1: undeclared reference to 'dyn' (in container '')"},
          {"google.foo.bar", "1: undeclared reference to 'google' (in container '')"},
          {"kubernetes.URL", "1: undeclared reference to 'kubernetes' (in container '')"},
          {"'a'.contains('b')", "bool"},
          {"'a'.contains(1)",
           "13: found no matching overload for 'contains' applied to 'string.(int)'"},
          {"dyn(1).contains('a')", "bool"},
          {"1.contains('a')",
           "11: found no matching overload for 'contains' applied to 'int.(string)'"},
          {"contains('a', 'b')",
           "9: found no matching overload for 'contains' applied to '(string, string)'"},
          {"'a'.startsWith('b') && 'b'.endsWith(1)",
           "36: found no matching overload for 'endsWith' applied to 'string.(int)'"},
          {"dyn('a').startsWith(dyn(1))", "bool"},
      });
}

TEST_CASE("cel: loops declare their variables with the types of the range", "[cel]") {
  CheckAll(
      Base(),
      {
          {"[1, 2].all(x, x > 0)", "bool"},
          {"[1, 2].all(x, x)", "15: expected type 'bool' but found 'int'"},
          {"1.all(x, x)",
           "1: expression of type 'int' cannot be range of a comprehension (must be list, map, or "
           "dynamic)"},
          {"'abc'.all(x, true)",
           "1: expression of type 'string' cannot be range of a comprehension (must be list, map, "
           "or dynamic)"},
          {"dyn(1).all(x, x)", "bool"},
          {"foo.all(x, x > 0)", "1: undeclared reference to 'foo' (in container '')"},
          {"[1].map(x, x * 2)", "list(int)"},
          {"[1].map(x, string(x))", "list(string)"},
          {"[].map(x, x)", "list(dyn)"},
          {"[].map(x, x) == [1]", "bool"},
          {"[].map(x, x + 1)", "list(int)"},
          {"[].map(x, dyn(x) + 1)", "list(int)"},
          {"[[]].map(x, x.map(y, y + 1))", "list(list(int))"},
          {"{}.map(x, x)", "list(dyn)"},
          {"{'a': 1}.map(x, x)", "list(string)"},
          {"{'a': 1}.all(x, x == 1)",
           "19: found no matching overload for '_==_' applied to '(string, int)'"},
          {"{'a': 1}.exists(k, k == 'a')", "bool"},
          {"[1].map(x, x > 0, x)", "list(int)"},
          {"[1].map(x, x, x)",
           "8: found no matching overload for '_?_:_' applied to '(int, list(int), list(int))'"},
          {"[1].map(x, y, x)", "12: undeclared reference to 'y' (in container '')"},
          {"[1].filter(x, x > 0)", "list(int)"},
          {"[1].filter(x, x)",
           "11: found no matching overload for '_?_:_' applied to '(int, list(int), list(int))'"},
          {"[1].filter(x, dyn(x))", "list(int)"},
          {"[1].exists_one(x, x > 0)", "bool"},
          {"[1].exists_one(x, x)",
           "15: found no matching overload for '_?_:_' applied to '(int, int, int)'"},
          {"[1].existsOne(x, 'a')",
           "14: undeclared reference to 'existsOne' (in container ''); 15: undeclared reference to "
           "'x' (in container '')"},
          {"[1].exists(x, y)", "15: undeclared reference to 'y' (in container '')"},
          {"[1].exists(x, x == 'a')",
           "17: found no matching overload for '_==_' applied to '(int, string)'"},
          {"[1].exists(x, x == 1) && x == 1", "26: undeclared reference to 'x' (in container '')"},
          {"[1].exists(x, .x == 1)", "bool"},
          {"[1].exists(x, [2].exists(x, x == 1))", "bool"},
          {"[1].exists(x, [x].exists(y, x == y))", "bool"},
          {"[[1]].all(x, x.all(y, y > 0))", "bool"},
          {"[[1]].all(x, x.all(y, y.foo))", "24: type 'int' does not support field selection"},
          {"dyn([1]).map(x, x)", "list(dyn)"},
          {"dyn([1]).map(x, x)[0].foo", "dyn"},
          {"dyn([1]).map(x, 1)", "list(int)"},
          {"[1].map(x, [x])", "list(list(int))"},
          {"[1, 2].all(i, v, i > 0 && v > 0)", "bool"},
          {"{'a': 1}.all(k, v, k == 'a' && v == 1)", "bool"},
          {"{'a': 1}.all(k, v, k == 1)",
           "22: found no matching overload for '_==_' applied to '(string, int)'"},
          {"[1].exists(i, v, v)", "18: expected type 'bool' but found 'int'"},
          {"{'a': 1}.exists(k, v, v == k)",
           "25: found no matching overload for '_==_' applied to '(int, string)'"},
          {"[1].existsOne(i, v, v == i)", "bool"},
          {"['a'].transformList(i, v, v + 'b')", "list(string)"},
          {"['a'].transformList(i, v, v == 'a', i)", "list(int)"},
          {"['a'].transformList(i, v, v, i)",
           "20: found no matching overload for '_?_:_' applied to '(string, list(int), "
           "list(int))'"},
          {"dyn([1]).all(i, v, i == v)", "bool"},
          {"1.all(k, v, true)",
           "1: expression of type 'int' cannot be range of a comprehension (must be list, map, or "
           "dynamic)"},
          {"[].transformList(i, v, v)", "list(dyn)"},
          {"[1].all(google, google.protobuf.Timestamp == type(google))", "bool"},
          {"[1].map(int, int)", "list(int)"},
          {"[true].all(x, x ? 1 : 0)", "17: expected type 'bool' but found 'int'"},
          {"[{'a': 1}].all(x, x.a == 1 && x.b == 'c')",
           "35: found no matching overload for '_==_' applied to '(int, string)'"},
          {"[1, 2].map(x, {'v': x}).filter(m, m.v > 1).map(m, m.v)", "list(int)"},
          {"[1].map(x, x).foo", "14: type 'list(int)' does not support field selection"},
      });
}

TEST_CASE("cel: message literals make values of protobuf's well-known types", "[cel]") {
  CheckAll(
      Base(),
      {
          {"google.protobuf.ListValue{values: [1,'a']}",
           "38: expected type 'int' but found 'string'"},
          {"google.protobuf.ListValue{values: [1]}", "list(dyn)"},
          {"google.protobuf.ListValue", "type(list(dyn))"},
          {"google.protobuf.Value{string_value: 1}",
           "35: expected type of field 'string_value' is 'string' but provided type is 'int'"},
          {"google.protobuf.Value{null_value: 0}", "dyn"},
          {"google.protobuf.Value{null_value: null}",
           "33: expected type of field 'null_value' is 'int' but provided type is 'null'"},
          {"google.protobuf.Value{struct_value: {}, list_value: []}", "dyn"},
          {"google.protobuf.Any{type_url: 'a', value: b''}", "any"},
          {"google.protobuf.Duration{seconds: 1, nanos: 2u}",
           "43: expected type of field 'nanos' is 'int' but provided type is 'uint'"},
          {"google.protobuf.BoolValue{value: true}", "wrapper(bool)"},
          {"google.protobuf.FloatValue{value: 1}",
           "33: expected type of field 'value' is 'double' but provided type is 'int'"},
          {"google.protobuf.DoubleValue{value: 1.0}", "wrapper(double)"},
          {"google.protobuf.UInt32Value{value: 1u}", "wrapper(uint)"},
          {"google.protobuf.Int32Value{value: 1}.value",
           "37: type 'wrapper(int)' does not support field selection"},
          {"google.protobuf.Struct{fields: [1]}",
           "30: expected type of field 'fields' is 'map(string, dyn)' but provided type is "
           "'list(int)'"},
          {"google.protobuf.Struct{fields: {'a': 1}}", "map(string, dyn)"},
          {"google.protobuf.StringValue{value: 'a'} == null", "bool"},
          {"google.protobuf.StringValue{value: 'a'} == 'a'", "bool"},
          {"google.protobuf.StringValue{value: 'a'}.size()", "int"},
          {"google.protobuf.StringValue{value: null}",
           "34: expected type of field 'value' is 'string' but provided type is 'null'"},
          {"google.protobuf.StringValue{foo: 1, value: 2}",
           "32: undefined field 'foo'; 42: expected type of field 'value' is 'string' but provided "
           "type is 'int'"},
          {"google.protobuf.StringValue{foo: 1, foo: 2}",
           "32: undefined field 'foo'; 40: undefined field 'foo'"},
          {"google.protobuf.Struct.FieldsEntry{key: 1}",
           "39: expected type of field 'key' is 'string' but provided type is 'int'"},
          {"google.protobuf.Empty{}", "google.protobuf.Empty"},
          {"google.protobuf.Empty{}.x", "24: undefined field 'x'"},
          {"google.protobuf.NullValue", "1: undeclared reference to 'google' (in container '')"},
          {"google.protobuf.NullValue{}",
           "26: undeclared reference to 'google.protobuf.NullValue' (in container '')"},
          {"google.protobuf.NullValue.NULL_VALUE", "int"},
          {"1 + google.protobuf.Int64Value{value: 1}", "int"},
          {"google.protobuf.Int64Value{value: 1} == google.protobuf.Int32Value{value: 1}", "bool"},
          {"google.protobuf.Int64Value{value: 1} == google.protobuf.UInt32Value{value: 1u}",
           "38: found no matching overload for '_==_' applied to '(wrapper(int), wrapper(uint))'"},
          {"[google.protobuf.Int64Value{value: 1}, 1]", "list(wrapper(int))"},
          {"[1, google.protobuf.Int64Value{value: 1}]", "list(int)"},
          {"[google.protobuf.Int64Value{value: 1}, null]",
           "40: expected type 'wrapper(int)' but found 'null'"},
          {"type(google.protobuf.Int64Value{value: 1})", "type(wrapper(int))"},
          {"true ? google.protobuf.Int64Value{value: 1} : null", "wrapper(int)"},
          {".google.protobuf.Timestamp{}", "timestamp"},
          {"google.protobuf.Timestamp{seconds: 1}.seconds",
           "38: type 'timestamp' does not support field selection"},
          {"google.protobuf.FieldMask{}",
           "26: undeclared reference to 'google.protobuf.FieldMask' (in container '')"},
          {"net.IP{}", "7: 'net.IP' is not a message type"},
          {"list{}", "5: 'list' is not a message type"},
          {"map{}", "4: 'map' is not a message type"},
          {"int{}", "4: 'int' is not a message type"},
          {"int{a: 1}", "4: 'int' is not a message type; 6: unexpected failed resolution of 'int'"},
          {"int{a: b}",
           "4: 'int' is not a message type; 6: unexpected failed resolution of 'int'; 8: "
           "undeclared reference to 'b' (in container '')"},
          {"null_type{}", "null"},
          {"null_type{a: 1}", "12: unexpected failed resolution of 'google.protobuf.NullValue'"},
          {"optional_type{}", "14: 'optional_type' is not a message type"},
          {"type{}", "5: 'type' is not a message type"},
          {"Foo{a: 1, b: c}", "4: undeclared reference to 'Foo' (in container '')"},
      });
}
