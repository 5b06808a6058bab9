#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "apiserver/cel/compile.h"
#include "apiserver/cel/evaluate.h"
#include "cel/small_world.h"
#include "require.h"

// Bytes choose two expressions of type bool that mostly compile. && and || have the same result
// whichever operand stands first: false and true beat errors.
namespace {

using apiserver_fuzz::Require;
namespace cel = apiserver::cel;
using cel_test::Generator;
using cel_test::SmallWorld;

// Evaluates within a large budget. nullopt: it fails.
std::optional<bool> EvaluateBool(const SmallWorld& world, const cel::Program& program) {
  cel::Scratch scratch;
  cel::Budget budget;
  const cel::Outcome outcome =
      cel::Evaluate(program, world.inputs(), budget, scratch, apiserver::Context::Background());
  Require(outcome.ok() == outcome.error.empty());
  if (!outcome.ok()) return std::nullopt;
  Require(outcome.value.is_bool());
  return outcome.value.AsBool();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const SmallWorld world;
  static const cel::Environment environment = world.In({1, 36}, cel::Mode::kStored);
  const cel_test::Random random(std::span(data, size));
  Generator generator(random, world.terms());
  const std::string a = "(" + generator.ExpressionOf("bool") + ")";
  const std::string b = "(" + generator.ExpressionOf("bool") + ")";
  const cel::CompileOptions wanted = {.result_types = {cel::Type::Bool()}};
  for (const char* const word : {" && ", " || "}) {
    const auto left = cel::Compile(environment, a + word + b, wanted);
    const auto right = cel::Compile(environment, b + word + a, wanted);
    // The place of an error in a constant decides if it is found before the evaluation.
    if (!left.ok() || !right.ok()) continue;
    Require(EvaluateBool(world, *left) == EvaluateBool(world, *right));
  }
  return 0;
}
