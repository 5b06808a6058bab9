#include "cel/evaluated.h"

#include <catch2/catch.hpp>

using cel_test::EvaluateAll;

TEST_CASE("cel: semver reads what blang/semver reads", "[cel]") {
  EvaluateAll({
      {"isSemver('1.2.3')", "true"},
      {"isSemver('1.2.3-rc.1+build.5')", "true"},
      {"isSemver('v1.2.3')", "false"},
      {"isSemver('1.2')", "false"},
      {"isSemver('')", "false"},
      {"semver('')", "error: Version string empty"},
      {"semver('1')", "error: No Major.Minor.Patch elements found"},
      {"semver('01.2.3')", "error: Major number must not contain leading zeroes \"01\""},
      {"semver('1.a.3')", "error: Invalid character(s) found in minor number \"a\""},
      {"semver('1.2.3.4')", "error: Invalid character(s) found in patch number \"3.4\""},
      {"semver('1.2.3-01')",
       "error: Numeric PreRelease version must not contain leading zeroes \"01\""},
      {"semver('1.2.3-')", "error: Prerelease is empty"},
      {"semver('1.2.3-a_b')", "error: Invalid character(s) found in prerelease \"a_b\""},
      {"semver('1.2.3+')", "error: Build meta data is empty"},
      {"semver('1.2.3+a_b')", "error: Invalid character(s) found in build meta data \"a_b\""},
      {"semver('18446744073709551616.0.0')",
       "error: strconv.ParseUint: parsing \"18446744073709551616\": value out of range"},
      {"semver('1..3')", "error: strconv.ParseUint: parsing \"\": invalid syntax"},
      {"semver(dyn(1))", "error: no such overload: semver(int)"},
  });
}

TEST_CASE("cel: semver normalizes a version if it is asked to", "[cel]") {
  EvaluateAll({
      {"semver('v1.2.3', true) == semver('1.2.3')", "true"},
      {"semver('01.02.03', true) == semver('1.2.3')", "true"},
      {"semver('v1', true) == semver('1.0.0')", "true"},
      {"isSemver('1.0', true)", "true"},
      {"isSemver('1.0', false)", "false"},
      {"isSemver('V1.0', true)", "false"},
      {"semver('vv1', true)", "error: Invalid character(s) found in major number \"0v1\""},
      {"semver('1.2-rc', true)", "error: short version cannot contain PreRelease/Build meta data"},
      {"semver('1.2.3-rc', true) == semver('1.2.3-rc')", "true"},
      {"semver('v', true)", "error: strconv.ParseUint: parsing \"\": invalid syntax"},
      {"semver('', true)", "error: strconv.ParseUint: parsing \"\": invalid syntax"},
      {"semver('01.a', true)", "error: Invalid character(s) found in minor number \"a\""},
  });
}

TEST_CASE("cel: versions are compared by their precedence", "[cel]") {
  EvaluateAll({
      {"semver('1.2.3').major()", "1"},
      {"semver('1.2.3').minor()", "2"},
      {"semver('1.2.3').patch()", "3"},
      {"semver('9223372036854775808.0.0').major()", "-9223372036854775808"},
      {"semver('1.0.0-alpha').isLessThan(semver('1.0.0-alpha.1'))", "true"},
      {"semver('1.0.0-alpha.1').isLessThan(semver('1.0.0-alpha.beta'))", "true"},
      {"semver('1.0.0-beta.2').isLessThan(semver('1.0.0-beta.11'))", "true"},
      {"semver('1.0.0-rc.1').isLessThan(semver('1.0.0'))", "true"},
      {"semver('1.2.3').isGreaterThan(semver('1.2.3'))", "false"},
      {"semver('1.10.0').isGreaterThan(semver('1.9.0'))", "true"},
      {"semver('1.2.3').compareTo(semver('1.2.4'))", "-1"},
      {"semver('1.2.3+a').compareTo(semver('1.2.3+b'))", "0"},
      {"semver('1.2.3+a') == semver('1.2.3')", "true"},
      {"semver('1.2.3') != semver('1.2.3-rc')", "true"},
      {"dyn(semver('1.2.3')) == 1", "error: no such overload"},
      {"[dyn(semver('1.2.3'))] == [1]", "true"},
      {"dyn(quantity('1')).isLessThan(semver('1.2.3'))",
       "error: no such overload: isLessThan(kubernetes.Quantity, kubernetes.Semver)"},
  });
}
