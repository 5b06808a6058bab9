#include "cel/evaluated.h"

#include <catch2/catch.hpp>

using cel_test::EvaluateAll;

TEST_CASE("cel: escapeKey escapes a key for a JSON pointer", "[cel]") {
  EvaluateAll({
      {"jsonpatch.escapeKey('k8s.io/my~label')", "k8s.io~1my~0label"},
      {"jsonpatch.escapeKey('')", ""},
      {"jsonpatch.escapeKey('plain')", "plain"},
      {"jsonpatch.escapeKey('~1')", "~01"},
      {"jsonpatch.escapeKey('é/é')", "é~1é"},
      {"jsonpatch.escapeKey(dyn(1))", "error: no such overload: jsonpatch.escapeKey(int)"},
      {"jsonpatch.escapeKey(1)",
       "refused: compilation failed: ERROR: <input>:1:20: found no matching overload for "
       "'jsonpatch.escapeKey' applied to '(int)'"},
  });
}
