#include <catch2/catch.hpp>

#include "cel/check_cases.h"

using cel_test::Base;
using cel_test::CheckAll;

TEST_CASE("cel: literal arguments are tried out", "[cel]") {
  CheckAll(
      Base(),
      {
          {"'%s %d'.format([1])", "15: index 1 out of range"},
          {"'%s %d'.format([[1,'a'], 'x'])",
           "26: error during formatting: decimal clause can only be used on integers, was given "
           "string"},
          {"'%s'.format([1, 2])",
           "12: too many arguments supplied to string.format (expected 1, got 2)"},
          {"'%%'.format([])", "string"},
          {"'%'.format([1])", "11: unexpected end of string"},
          {"'%'.format([])", "11: unexpected end of string"},
          {"'a%'.format([1])", "12: unexpected end of string"},
          {"'%q'.format([1])",
           "12: could not parse formatting clause: unrecognized formatting clause \"q\""},
          {"'%.2f %e'.format([1.5, 2.5])", "string"},
          {"'%.f'.format([1.5])",
           "13: could not parse formatting clause: error while parsing precision: error while "
           "converting precision to integer: strconv.Atoi: parsing \"\": invalid syntax"},
          {"'%.2'.format([1.5])",
           "13: could not parse formatting clause: error while parsing precision: could not find "
           "end of precision specifier"},
          {"'%f'.format([1])",
           "14: error during formatting: fixed-point clause can only be used on doubles, was given "
           "int"},
          {"'%f'.format(['NaN'])", "string"},
          {"'%e'.format([true])",
           "14: error during formatting: scientific clause can only be used on doubles, was given "
           "bool"},
          {"'%x %X'.format([1, b'a'])", "string"},
          {"'%x'.format([1.5])",
           "14: error during formatting: only integers, byte buffers, and strings can be formatted "
           "as hex, was given double"},
          {"'%b'.format([true])", "string"},
          {"'%b'.format(['a'])",
           "14: error during formatting: only integers and bools can be formatted as binary, was "
           "given string"},
          {"'%o'.format([1u])", "string"},
          {"'%o'.format(['a'])",
           "14: error during formatting: octal clause can only be used on integers, was given "
           "string"},
          {"'%d'.format([dyn('a')])", "string"},
          {"'%s'.format([optional.none()])",
           "27: error during formatting: string clause can only be used on strings, bools, bytes, "
           "ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type"},
          {"'%s'.format([[1, [optional.of(1)]]])",
           "30: error during formatting: string clause can only be used on strings, bools, bytes, "
           "ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type"},
          {"'%s'.format([{'a': optional.of(1), 'b': 2}])",
           "31: error during formatting: string clause can only be used on strings, bools, bytes, "
           "ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type"},
          {"'%s'.format([{optional.of(1): 2}])",
           "26: error during formatting: string clause can only be used on strings, bools, bytes, "
           "ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type"},
          {"'%s'.format([type(1)])", "string"},
          {"'%s'.format([null])", "string"},
          {"'%s'.format([timestamp('2020-01-01T00:00:00Z')])", "string"},
          {"'%d'.format([timestamp('2020-01-01T00:00:00Z')])",
           "23: error during formatting: decimal clause can only be used on integers, was given "
           "google.protobuf.Timestamp"},
          {"'%d'.format([null])",
           "14: error during formatting: decimal clause can only be used on integers, was given "
           "null_type"},
          {"'%d'.format([[1]])",
           "14: error during formatting: decimal clause can only be used on integers, was given "
           "list"},
          {"dyn('%d').format(['a'])", "string"},
          {"'%d'.format(dyn(['a']))", "string"},
          {"'%s'.format([[1, 'a']]) + string([1, 'a'].size())",
           "38: expected type 'int' but found 'string'"},
          {"['%s'.format([[1, 'a']]), '%d'.format(['a'])]",
           "40: error during formatting: decimal clause can only be used on integers, was given "
           "string"},
          {"'%é'.format([1])",
           "12: could not parse formatting clause: unrecognized formatting clause \"Ã\""},
          {"'%s %s'.format([duration('x'), 1])", "26: invalid duration argument"},
          {"duration('x')", "10: invalid duration argument"},
          {"timestamp('x')", "11: invalid timestamp argument"},
          {"timestamp(999999999999999)", "11: invalid timestamp argument"},
          {"timestamp(1)", "timestamp"},
          {"duration('1h') == duration('y')", "28: invalid duration argument"},
          {"[duration('x')].size() == timestamp('z')",
           "24: found no matching overload for '_==_' applied to '(int, timestamp)'"},
      });
}

TEST_CASE("cel: functions of libraries are declared as cel-go has them", "[cel]") {
  CheckAll(
      Base(),
      {
          {"optional.none()", "optional_type(dyn)"},
          {"[optional.none(), optional.of(1)]", "list(optional_type(int))"},
          {"optional.none().or(optional.of(1))", "optional_type(int)"},
          {"optional.of(1).or(2)",
           "18: found no matching overload for 'or' applied to 'optional_type(int).(int)'"},
          {"optional.none() == 1",
           "17: found no matching overload for '_==_' applied to '(optional_type(dyn), int)'"},
          {"optional.of(1).orValue('a')",
           "23: found no matching overload for 'orValue' applied to 'optional_type(int).(string)'"},
          {"optional.of(1).orValue(2)", "int"},
          {"optional.of(1).value() + 'a'",
           "24: found no matching overload for '_+_' applied to '(int, string)'"},
          {"optional.of(1).hasValue()", "bool"},
          {"optional.of(1).optMap(x, x + 'a')",
           "28: found no matching overload for '_+_' applied to '(int, string)'"},
          {"optional.of(1).optMap(x, string(x))", "optional_type(string)"},
          {"optional.of(1).optFlatMap(x, optional.of(string(x)))", "optional_type(string)"},
          {"optional.of(1).optFlatMap(x, x)",
           "26: found no matching overload for '_?_:_' applied to '(bool, int, "
           "optional_type(dyn))'"},
          {"optional.ofNonZeroValue('')", "optional_type(string)"},
          {"{'a': 1}.?b", "optional_type(int)"},
          {"{'a': 1}.?b.c.orValue(2)", "12: type 'int' does not support field selection"},
          {"{'a': {'c': 1}}.?b.c", "optional_type(int)"},
          {"'a'.?b", "4: type 'string' does not support field selection"},
          {"dyn('a').?b", "optional_type(dyn)"},
          {"dyn(1).?b.c[0]", "dyn"},
          {"[1][?0]", "optional_type(int)"},
          {"[1][?'a']",
           "4: found no matching overload for '_[?_]' applied to '(list(int), string)'"},
          {"{'a': 1}[?'b']", "optional_type(int)"},
          {"{'a': 1}[?'b'].foo", "15: type 'int' does not support field selection"},
          {"optional.of([1])[0]", "optional_type(int)"},
          {"optional.of({'a': 1})['a']", "optional_type(int)"},
          {"optional.of({'a': 1}).a", "optional_type(int)"},
          {"optional.of('x').a", "17: type 'string' does not support field selection"},
          {"has({'a': 1}.?b)", "13: invalid argument to has() macro"},
          {"[?optional.of(1), 2]", "list(int)"},
          {"[?1]", "3: expected type 'optional_type(int)' but found 'int'"},
          {"[?optional.of('a'), 2]", "21: expected type 'string' but found 'int'"},
          {"{?'a': optional.of(1), 'b': 2}", "map(string, int)"},
          {"{?'a': 1}", "8: expected type 'optional_type(int)' but found 'int'"},
          {"{?'a': optional.of('x'), 'b': 2}", "31: expected type 'string' but found 'int'"},
          {"[1, 2].first()", "optional_type(int)"},
          {"[1, 2].last().value() + 1", "int"},
          {"[optional.of(1)].unwrapOpt()", "list(int)"},
          {"optional.unwrap([optional.of('a')])", "list(string)"},
          {"optional.of(1) == null", "bool"},
          {"sets.contains([1], ['a'])",
           "14: found no matching overload for 'sets.contains' applied to '(list(int), "
           "list(string))'"},
          {"sets.contains([1], [2])", "bool"},
          {"sets.intersects([], [1])", "bool"},
          {"sets.foo([1])",
           "1: undeclared reference to 'sets' (in container ''); 9: undeclared reference to 'foo' "
           "(in container '')"},
          {"[1].sum()", "int"},
          {"['a'].sum()", "10: found no matching overload for 'sum' applied to 'list(string).()'"},
          {"[[1]].isSorted()",
           "15: found no matching overload for 'isSorted' applied to 'list(list(int)).()'"},
          {"[dyn(1)].max()", "dyn"},
          {"[1].indexOf('a')",
           "12: found no matching overload for 'indexOf' applied to 'list(int).(string)'"},
          {"['b', 'a'].sort()", "list(string)"},
          {"[[3]].sort()",
           "11: found no matching overload for 'sort' applied to 'list(list(int)).()'"},
          {"[3,2].sortBy(x, -x)", "list(int)"},
          {"[dyn(3)].sortBy(x, x)", "list(dyn)"},
          {"[[3]].sortBy(x, x)",
           "13: found no matching overload for '@sortByAssociatedKeys' applied to "
           "'list(list(int)).(list(list(int)))'"},
          {"[[1], [2]].flatten()", "list(int)"},
          {"[1].flatten()",
           "12: found no matching overload for 'flatten' applied to 'list(int).()'"},
          {"[1].slice(0, 'a')",
           "10: found no matching overload for 'slice' applied to 'list(int).(int, string)'"},
          {"lists.range(3)", "list(int)"},
          {"[1].distinct()", "list(int)"},
          {"[1].reverse().map(x, string(x))", "list(string)"},
          {"'a'.charAt('b')",
           "11: found no matching overload for 'charAt' applied to 'string.(string)'"},
          {"'a,b'.split(',').join()", "string"},
          {"[1].join()", "9: found no matching overload for 'join' applied to 'list(int).()'"},
          {"'abc'.substring(1, 2).upperAscii()", "string"},
          {"strings.quote('a')", "string"},
          {"'a'.replace('b', 'c', 1).trim()", "string"},
          {"'a'.reverse()", "12: found no matching overload for 'reverse' applied to 'string.()'"},
      });
}
