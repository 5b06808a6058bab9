#include "cel/evaluated.h"

#include <catch2/catch.hpp>

using cel_test::EvaluateAll;

TEST_CASE("cel: matches finds a pattern anywhere", "[cel]") {
  EvaluateAll({
      {"'foobar'.matches('foo.*')", "true"},
      {"matches('foobar', 'o+b')", "true"},
      {"'foobar'.matches('^bar')", "false"},
      {"'a\\nb'.matches('(?m)^b$')", "true"},
      {"''.matches('')", "true"},
      {"'É'.matches('^.$')", "true"},
      {"'x'.matches('(?P<n>x)')", "true"},
      {"'x'.matches('(?<n>x)')", "true"},
      {"'aa'.matches('(?P<n>a)(?P<n>a)')", "true"},
      {"'K'.matches('(?i)k')", "true"},
      {"'a'.matches(dyn(1))", "error: no such overload"},
  });
}

TEST_CASE("cel: find returns the first match and findAll all", "[cel]") {
  EvaluateAll({
      {"'abc 123'.find('[0-9]+')", "123"},
      {"'123 abc 456'.find('xyz')", ""},
      {"'abc'.find('')", ""},
      {"'héllo'.find('l+')", "ll"},
      {"'123 abc 456'.findAll('[0-9]+')", "[123, 456]"},
      {"'123 abc 456'.findAll('[0-9]+', 1)", "[123]"},
      {"'123 abc 456'.findAll('[0-9]+', 0)", "[]"},
      {"'123 abc 456'.findAll('[0-9]+', -1)", "[123, 456]"},
      {"'123 abc 456'.findAll('xyz')", "[]"},
      {"'abc'.findAll('x*')", "[, , , ]"},
      {"'aab'.findAll('a*')", "[aa, ]"},
      {"'éa'.findAll('')", "[, , ]"},
      {"'abcb'.findAll('b|c')", "[b, c, b]"},
      {"'foo'.find(dyn(1))", "error: no such overload: find(string, int)"},
  });
}

TEST_CASE("cel: patterns that are wrong have Go's errors", "[cel]") {
  EvaluateAll({
      {"'a'.matches('(')",
       "refused: compilation failed: ERROR: <input>:1:13: invalid matches argument"},
      {"'a'.matches(dyn('('))",
       "refused: program instantiation failed: error parsing regexp: missing closing ): `(`"},
      {"'a'.find(dyn('('))",
       "refused: program instantiation failed: error parsing regexp: missing closing ): `(`"},
      {"'a'.findAll(dyn('[a'))",
       "refused: program instantiation failed: error parsing regexp: missing closing ]: `[a`"},
      {"'a'.find(dyn('a**'))",
       "refused: program instantiation failed: error parsing regexp: invalid nested repetition "
       "operator: `**`"},
      {"'a'.find(dyn('*'))",
       "refused: program instantiation failed: error parsing regexp: missing argument to "
       "repetition operator: `*`"},
      {"'a'.find(dyn('a)'))",
       "refused: program instantiation failed: error parsing regexp: unexpected ): `a)`"},
      {"'a'.find(dyn('a\\\\'))",
       "refused: program instantiation failed: error parsing regexp: trailing backslash at end of "
       "expression: ``"},
      {"'a'.find(dyn('\\\\8'))",
       "refused: program instantiation failed: error parsing regexp: invalid escape sequence: "
       "`\\8`"},
      {"'a'.find(dyn('\\\\C'))",
       "refused: program instantiation failed: error parsing regexp: invalid escape sequence: "
       "`\\C`"},
      {"'a'.find(dyn('[b-a]'))",
       "refused: program instantiation failed: error parsing regexp: invalid character class "
       "range: `b-a`"},
      {"'a'.find(dyn('a{2,1}'))",
       "refused: program instantiation failed: error parsing regexp: invalid repeat count: "
       "`{2,1}`"},
      {"'a'.find(dyn('a{1001}'))",
       "refused: program instantiation failed: error parsing regexp: invalid repeat count: "
       "`{1001}`"},
      {"'a'.find(dyn('(?P<n'))",
       "refused: program instantiation failed: error parsing regexp: invalid named capture: "
       "`(?P<n`"},
      {"'a'.find(dyn('(?P<1>a)'))", "a"},
      {"'a'.find(dyn('(?z)'))",
       "refused: program instantiation failed: error parsing regexp: invalid or unsupported Perl "
       "syntax: `(?z`"},
      {"'a'.find(dyn('\\\\p{Foo}'))",
       "refused: program instantiation failed: error parsing regexp: invalid character class "
       "range: `\\p{Foo}`"},
      {"'a'.find('(')",
       "refused: program instantiation failed: error parsing regexp: missing closing ): `(`"},
  });
}
