#include "cel/evaluated.h"

#include <catch2/catch.hpp>

using cel_test::EvaluateAll;

TEST_CASE("cel: quantity reads what ParseQuantity reads", "[cel]") {
  EvaluateAll({
      {"isQuantity('1.3Gi')", "true"},
      {"isQuantity('1.3GiB')", "false"},
      {"isQuantity('10000k')", "true"},
      {"isQuantity('1,3G')", "false"},
      {"isQuantity('1e3')", "true"},
      {"isQuantity('1E')", "true"},
      {"isQuantity('1e')", "false"},
      {"isQuantity('.5')", "true"},
      {"isQuantity('5.')", "true"},
      {"isQuantity('.')", "true"},
      {"isQuantity('')", "false"},
      {"isQuantity(' 1')", "false"},
      {"isQuantity('-1')", "true"},
      {"isQuantity('1.5Ki')", "true"},
      {"quantity('10Mm')", "error: unable to parse quantity's suffix"},
      {"quantity('')",
       "error: quantities must match the regular expression "
       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {"quantity('1 ')",
       "error: quantities must match the regular expression "
       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {"quantity('1kk')", "error: unable to parse quantity's suffix"},
      {"quantity('x')",
       "error: quantities must match the regular expression "
       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
      {"quantity(dyn(1))", "error: no such overload: quantity(int)"},
  });
}

TEST_CASE("cel: only small numbers are integers", "[cel]") {
  EvaluateAll({
      {"quantity('50k').asInteger()", "50000"},
      {"quantity('1k').isInteger()", "true"},
      {"quantity('50.3k').asInteger()", "50300"},
      {"quantity('1.0').isInteger()", "false"},
      {"quantity('1000m').isInteger()", "false"},
      {"quantity('1Ki').asInteger()", "1024"},
      {"quantity('9223372036854775807').isInteger()", "false"},
      {"quantity('9223372036854775808').isInteger()", "false"},
      {"quantity('7Ei').asInteger()", "error: cannot convert value to integer"},
      {"quantity('-0').asInteger()", "0"},
      {"quantity('1e18').asInteger()", "1000000000000000000"},
      {"quantity('50.3').asInteger()", "error: cannot convert value to integer"},
      {"quantity('9999999999999999999999999999999999999G').asInteger()",
       "error: cannot convert value to integer"},
  });
}

TEST_CASE("cel: quantities convert to doubles", "[cel]") {
  EvaluateAll({
      {"quantity('50.703k').asApproximateFloat()", "50703"},
      {"quantity('1n').asApproximateFloat()", "1e-09"},
      {"quantity('0.1n').asApproximateFloat()", "1e-09"},
      {"quantity('1.5Gi').asApproximateFloat()", "1.610612736e+09"},
      {"quantity('-1500m').asApproximateFloat()", "-1.5"},
      {"quantity('1e30').asApproximateFloat()", "1e+30"},
      {"quantity('1e1000').asApproximateFloat()", "+Inf"},
  });
}

TEST_CASE("cel: quantities compare by their numbers", "[cel]") {
  EvaluateAll({
      {"quantity('200M') == quantity('0.2G')", "true"},
      {"quantity('1Ki') == quantity('1024')", "true"},
      {"quantity('1Ki') == quantity('1k')", "false"},
      {"quantity('1') != quantity('1000m')", "false"},
      {"quantity('50M').isLessThan(quantity('50Mi'))", "true"},
      {"quantity('50Mi').isGreaterThan(quantity('50M'))", "true"},
      {"quantity('200M').compareTo(quantity('0.2G'))", "0"},
      {"quantity('1').compareTo(quantity('2'))", "-1"},
      {"quantity('1e40').compareTo(quantity('1e39'))", "1"},
      {"sign(quantity('-1'))", "-1"},
      {"sign(quantity('0'))", "0"},
      {"sign(quantity('1n'))", "1"},
      {"quantity('1').sign()",
       "refused: compilation failed: ERROR: <input>:1:19: found no matching overload for 'sign' "
       "applied to 'kubernetes.Quantity.()'"},
      {"dyn(quantity('1')) == 1", "error: no such overload"},
      {"quantity('1') == null", "false"},
  });
}

TEST_CASE("cel: quantities add up", "[cel]") {
  EvaluateAll({
      {"quantity('50k').add(quantity('20')) == quantity('50.02k')", "true"},
      {"quantity('50k').add(20).asInteger()", "50020"},
      {"quantity('50k').sub(20).asInteger()", "49980"},
      {"quantity('50k').sub(quantity('20')).asInteger()", "49980"},
      {"quantity('1').sub(quantity('1500m')).asApproximateFloat()", "-0.5"},
      {"quantity('9223372036854775807').add(1).isInteger()", "false"},
      {"quantity('9223372036854775807').add(1).asApproximateFloat()", "9.223372036854776e+18"},
      {"quantity('7Ei').add(quantity('7Ei')).asApproximateFloat()", "1.6140901064495858e+19"},
      {"quantity('1').sub(-9223372036854775807 - 1).asApproximateFloat()",
       "-9.223372036854776e+18"},
      {"quantity('1e40').sub(quantity('1e40')).asApproximateFloat()", "0"},
      {"quantity('0.5').add(quantity('0.5')).asInteger()",
       "error: cannot convert value to integer"},
      {"quantity('1').add(dyn('x'))", "error: no such overload: add(kubernetes.Quantity, string)"},
  });
}
