#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/cel/compile.h"
#include "apiserver/cel/evaluate.h"
#include "cel/small_world.h"

// Answers of cel-go that the comparison with its program (differential.cc) found.
namespace {

namespace cel = apiserver::cel;

class Quirks {
 public:
  struct Answer {
    std::string error;
    std::uint64_t cost = 0;
  };

  cel::Program Compiled(std::string_view expression) const {
    const auto program = cel::Compile(world_.In({1, 36}, cel::Mode::kStored), expression);
    INFO(std::string(program.status().message()));
    REQUIRE(program.ok());
    return *program;
  }
  Answer Evaluated(std::string_view expression) const {
    cel::Scratch scratch;
    cel::Budget budget;
    const cel::Outcome outcome = cel::Evaluate(Compiled(expression), world_.inputs(), budget,
                                               scratch, apiserver::Context::Background());
    return {std::string(outcome.error), outcome.cost};
  }
  std::string ErrorOf(std::string_view expression) const { return Evaluated(expression).error; }

 private:
  cel_test::SmallWorld world_;
};

}  // namespace

TEST_CASE_METHOD(Quirks, "cel: a constant pattern is not matched with an error, at no cost",
                 "[cel]") {
  CHECK(Evaluated("ls[9].matches('a')").cost == 2);
  CHECK(Evaluated("ls[9].matches(s)").cost == 6);
  CHECK(Evaluated("ls[9].find('a')").cost == 2);
  CHECK(ErrorOf("o.spec.replicas.find('a')") == "no such overload");
  CHECK(ErrorOf("o.spec.replicas.find(s)") == "no such overload: find(int, string)");
  CHECK(ErrorOf("o.spec.replicas.matches(s)") == "no such overload: matches");
}

TEST_CASE_METHOD(Quirks, "cel: types with methods refuse an operator without its name", "[cel]") {
  CHECK(ErrorOf("o.kind - 1") == "no such overload");
  CHECK(ErrorOf("-o.kind") == "no such overload");
  CHECK(ErrorOf("dyn(r) * 2") == "no such overload");
  CHECK(ErrorOf("dyn(b) * 2") == "no such overload: _*_");
}

TEST_CASE_METHOD(Quirks, "cel: an index is named by the Go type of its data", "[cel]") {
  CHECK(ErrorOf("[1][o.l]") == "invalid qualifier type: []interface {}");
  CHECK(ErrorOf("[1][o.spec]") == "invalid qualifier type: map[string]interface {}");
  CHECK(ErrorOf("[1][o.spec.nothing]") == "invalid qualifier type: <nil>");
  CHECK(ErrorOf("[1][dyn(self.list)]") == "invalid qualifier type: *common.unstructuredList");
  CHECK(ErrorOf("[1][dyn(self.set)]") == "invalid qualifier type: *common.unstructuredSetList");
  CHECK(ErrorOf("[1][dyn(self.labels)]") == "invalid qualifier type: *common.unstructuredMap");
  CHECK(ErrorOf("[1][dyn([i])]") == "invalid qualifier type: *types.baseList");
}

TEST_CASE_METHOD(Quirks, "cel: the estimated size of an unbounded quoted text overflows", "[cel]") {
  const cel::CostRange quoted = Compiled("strings.quote(ms.k)").estimate();
  const cel::CostRange as_bytes = Compiled("bytes(strings.quote(ms.k))").estimate();

  CHECK(quoted.max == 1844674407370955266);
  CHECK(as_bytes.max == quoted.max);
  CHECK(as_bytes.min == quoted.min + 1);
}
