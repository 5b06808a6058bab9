#include "cel/evaluated.h"

#include <catch2/catch.hpp>

using cel_test::EvaluateAll;

TEST_CASE("cel: formats are found by their names", "[cel]") {
  EvaluateAll({
      {"format.named('dns1123Label').value() == format.dns1123Label()", "true"},
      {"format.named('datetime').value() == format.datetime()", "true"},
      {"format.named('DNS1123Label').hasValue()", "false"},
      {"format.named('unknown')", "optional.none()"},
      {"format.byte() == format.date()", "false"},
      {"type(format.uri())", "kubernetes.NamedFormat"},
      {"format.dns1123Label() != format.dns1035Label()", "true"},
      {"dyn(format.byte()) == 1", "error: no such overload"},
      {"format.named(dyn(1))", "error: no such overload: format.named(int)"},
  });
}

TEST_CASE("cel: formats tell what is wrong with a text", "[cel]") {
  EvaluateAll({
      {"format.dns1123Label().validate('my-name')", "optional.none()"},
      {"format.dns1123Label().validate('My.Name')",
       "optional([a lowercase RFC 1123 label must consist of lower case alphanumeric characters or "
       "'-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
       "regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')])"},
      {"format.dns1123Label().validate('my.name')", "optional([must not contain dots])"},
      {"format.dns1123Subdomain().validate('my.name')", "optional.none()"},
      {"format.dns1123Subdomain().validate('-x')",
       "optional([a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
       "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
       "'example.com', regex used for validation is "
       "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')])"},
      {"format.dns1035Label().validate('a1')", "optional.none()"},
      {"format.dns1035Label().validate('1a')",
       "optional([a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
       "start with an alphabetic character, and end with an alphanumeric character (e.g. "
       "'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')])"},
      {"format.qualifiedName().validate('example.com/MyName')", "optional.none()"},
      {"format.qualifiedName().validate('a/b/c')",
       "optional([a valid label key must consist of alphanumeric characters, '-', '_' or '.', and "
       "must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
       "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with "
       "an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')])"},
      {"format.qualifiedName().validate('')",
       "optional([name part must be non-empty, name part must consist of alphanumeric characters, "
       "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
       "'my.name',  or '123-abc', regex used for validation is "
       "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')])"},
      {"format.dns1123LabelPrefix().validate('my-name-')", "optional.none()"},
      {"format.dns1123SubdomainPrefix().validate('my.name.-')", "optional.none()"},
      {"format.dns1035LabelPrefix().validate('a-')", "optional.none()"},
      {"format.labelValue().validate('a_b')", "optional.none()"},
      {"format.labelValue().validate('a b')",
       "optional([a valid label must be an empty string or consist of alphanumeric characters, "
       "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  "
       "or 'my_value',  or '12345', regex used for validation is "
       "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')])"},
      {"format.uri().validate('https://example.com')", "optional.none()"},
      {"format.uri().validate('../x')", "optional([parse \"../x\": invalid URI for request])"},
      {"format.uuid().validate('123e4567-e89b-12d3-a456-426614174000')", "optional.none()"},
      {"format.uuid().validate('123E4567e89b12d3a456426614174000')", "optional.none()"},
      {"format.uuid().validate('123e4567')", "optional([does not match the UUID format])"},
      {"format.byte().validate('YWI=')", "optional.none()"},
      {"format.byte().validate('YWI')", "optional([invalid base64])"},
      {"format.byte().validate('')", "optional([invalid base64])"},
      {"format.date().validate('2024-02-29')", "optional.none()"},
      {"format.date().validate('2023-02-29')", "optional([invalid date])"},
      {"format.datetime().validate('2023-01-01T00:00:00.5+01:00')", "optional.none()"},
      {"format.datetime().validate('2023-01-01t00:00:00z')", "optional.none()"},
      {"format.datetime().validate('2023-01-01T24:00:00Z')", "optional([invalid datetime])"},
      {"format.datetime().validate('2023-01-01 00:00:00Z')", "optional([invalid datetime])"},
      {"format.date().validate(dyn(1))",
       "error: no such overload: validate(kubernetes.NamedFormat, int)"},
      {"dyn(1).validate('x')", "error: no such overload: validate(int, string)"},
  });
}
