#include "cel/evaluated.h"

#include <catch2/catch.hpp>

#include "apiserver/cel/compile.h"
#include "apiserver/cel/evaluate.h"
#include "cel/run/print.h"

namespace cel_test {

namespace cel = apiserver::cel;

std::string Evaluated(std::string_view expression) {
  static const cel::Environment environment =
      cel::Environment::Kubernetes({1, 36}, cel::Mode::kStored)
          .With({}, {}, {cel::Library::kJsonPatch});
  const apiserver::Result<cel::Program> program = cel::Compile(environment, expression);
  if (!program.ok()) {
    const std::string_view message = program.status().message();
    return "refused: " + std::string(message.substr(0, message.find('\n')));
  }
  cel::Scratch scratch;
  cel::Budget budget;
  const cel::Outcome outcome =
      cel::Evaluate(*program, {}, budget, scratch, apiserver::Context::Background());
  if (!outcome.ok()) return "error: " + std::string(outcome.error);
  return cel::PrintValue(outcome.value, scratch.arena());
}

void EvaluateAll(const std::vector<Evaluation>& rows) {
  for (const Evaluation& row : rows) {
    INFO(row.expression);
    CHECK(Evaluated(row.expression) == row.result);
  }
}

}  // namespace cel_test
