// Tries properties of all expressions with random ones.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/cel/compile.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/cel/schema_type.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/schema_loader.h"
#include "cel/bounded_world.h"
#include "cel/declare/range.h"
#include "cel/small_world.h"

namespace {

namespace cel = apiserver::cel;
namespace codec = apiserver::codec;
namespace runtime = apiserver::runtime;
using cel_test::BoundedWorld;
using cel_test::Generator;
using cel_test::Random;
using cel_test::SmallWorld;

// Evaluates a condition. nullopt: it fails.
std::optional<bool> ConditionOf(const cel::Program& program,
                                const std::vector<cel::Input>& inputs) {
  cel::Scratch scratch;
  cel::Budget budget;
  const cel::Outcome outcome =
      cel::Evaluate(program, inputs, budget, scratch, apiserver::Context::Background());
  if (!outcome.ok()) return std::nullopt;
  return outcome.value.AsBool();
}

// Tells if Go's estimate, and so ours, may be below the cost. It forgets that an index into the
// value of a literal or a call costs 2 (a variable of its own, and the step), and the members of
// dyn; format() makes text; and some functions are estimated by sizes that they do not cost by.
bool IsUnderestimated(const std::string& expression) {
  for (const char* const part : {"][", "}[", ")[", "dyn(", "format", ".startsWith(", ".endsWith(",
                                 ".slice(", ".join(", ".isSorted("}) {
    if (expression.find(part) != std::string::npos) return true;
  }
  return false;
}

// Tells if a term may be compared for less than it costs: numbers of a schema have size 0 there.
bool HasNumbers(const cel_test::Term& term) {
  const std::string shape = cel_test::TextOf(term.shape);
  for (const char* const number : {"int", "small", "double", "bool"}) {
    if (shape.find(number) != std::string::npos) return true;
  }
  return false;
}

// Rules over random objects, whose cost is compared with its estimate.
class BoundedRules {
 public:
  explicit BoundedRules(std::uint64_t seed) : random_(seed) {}

  void TryWorld(std::size_t expressions) {
    BoundedWorld world = cel_test::MakeBoundedWorld(random_);
    std::erase_if(world.terms, HasNumbers);
    INFO(world.schema);
    INFO(world.data);
    const runtime::SchemaPtr schema = codec::SchemaFromOpenApi(Parse(world.schema)).value();
    const cel::Environment environment =
        cel::Environment::Kubernetes({1, 36}, cel::Mode::kStored)
            .With({{.name = "self",
                    .type = cel::TypeOfSchema(*schema, "selfType").value(),
                    .schema = schema}});
    const runtime::Value data = Parse(world.data);
    Generator generator(Random(random_.Next()), world.terms);
    for (std::size_t i = 0; i < expressions; ++i) {
      Try(environment, generator.Expression(), data, *schema);
    }
  }

  std::size_t tried() const { return tried_; }

 private:
  // The result borrows from the text.
  runtime::Value Parse(const std::string& json) { return codec::ParseJson(json, arena_).value(); }

  void Try(const cel::Environment& environment, const std::string& expression,
           const runtime::Value& data, const runtime::Schema& schema) {
    if (IsUnderestimated(expression)) return;
    const auto program = cel::Compile(environment, expression);
    if (!program.ok()) return;
    cel::Scratch scratch;
    const std::vector<cel::Input> inputs = {{cel::Value::FromData(data, &schema, scratch.arena())}};
    cel::Budget budget;
    const cel::Outcome outcome =
        cel::Evaluate(*program, inputs, budget, scratch, apiserver::Context::Background());
    ++tried_;
    INFO(expression);
    CHECK(outcome.cost <= program->estimate().max);
  }

  Random random_;
  runtime::Arena arena_;
  std::size_t tried_ = 0;
};

}  // namespace

TEST_CASE("cel: the operands of && and || may change places", "[cel]") {
  constexpr int kPairs = 400;
  const SmallWorld world;
  const cel::Environment environment = world.In({1, 36}, cel::Mode::kStored);
  Generator generator(Random(1), world.terms());
  int compared = 0;
  for (int i = 0; i < kPairs; ++i) {
    const std::string a = "(" + generator.ExpressionOf("bool") + ")";
    const std::string b = "(" + generator.ExpressionOf("bool") + ")";
    for (const char* const word : {" && ", " || "}) {
      const cel::CompileOptions wanted = {.result_types = {cel::Type::Bool()}};
      const auto left = cel::Compile(environment, a + word + b, wanted);
      const auto right = cel::Compile(environment, b + word + a, wanted);
      // The place of an error in a constant decides if it is found before the evaluation.
      if (!left.ok() || !right.ok()) continue;
      INFO(a + word + b);
      CHECK(ConditionOf(*left, world.inputs()) == ConditionOf(*right, world.inputs()));
      ++compared;
    }
  }
  CHECK(compared > kPairs);
}

TEST_CASE("cel: a rule costs no more than its estimate within the bounds of its schema", "[cel]") {
  constexpr int kWorlds = 60;
  constexpr std::size_t kExpressions = 40;
  BoundedRules rules(1);
  for (int i = 0; i < kWorlds; ++i) rules.TryWorld(kExpressions);
  CHECK(rules.tried() > kWorlds * kExpressions / 2);
}

TEST_CASE("cel: a cost by a factor is rounded up as Go rounds it", "[cel]") {
  constexpr double kFactors[] = {cel::kStringTraversal, cel::kRegexLength, 1.0, 3.7};
  std::uint64_t random = 1;
  for (int i = 0; i < 20'000; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    // The values have all sizes, often those of texts.
    const std::uint64_t value = i < 2'000 ? static_cast<std::uint64_t>(i) : random >> (i % 64);
    for (const double factor : kFactors) {
      const double product = std::ceil(static_cast<double>(value) * factor);
      const std::uint64_t expected =
          product >= 18446744073709551615.0 ? cel::kUnbounded : static_cast<std::uint64_t>(product);
      if (cel::MultiplyByFactor(value, factor) == expected) continue;
      FAIL(value << " * " << factor);
    }
  }
}
