#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/cel/compile.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/cel/to_text.h"
#include "cel/small_world.h"
#include "require.h"

// Any bytes are an expression that compiles or is refused with a reason. An expression that
// compiles has the same result each time, costs no more than it may, and builds no more than that
// pays for.
namespace {

using apiserver_fuzz::Require;
namespace cel = apiserver::cel;

constexpr std::uint64_t kAnyCostMax = 100'000;
// Strings and lists that a cost of 100,000 pays for, with what is built on the way.
constexpr std::size_t kAnyBytesMax = std::size_t{256} << 20U;

struct Evaluated {
  std::string text;  // The result, or the error.
  std::uint64_t cost = 0;
  cel::End end = cel::End::kValue;

  friend bool operator==(const Evaluated&, const Evaluated&) = default;
};

Evaluated EvaluateAny(const cel::Program& program, const std::vector<cel::Input>& inputs) {
  cel::Scratch scratch;
  cel::Budget budget = {.per_call = kAnyCostMax, .remaining = kAnyCostMax};
  const cel::Outcome outcome =
      cel::Evaluate(program, inputs, budget, scratch, apiserver::Context::Background());
  Require(outcome.ok() == outcome.error.empty());
  Require(outcome.end != cel::End::kInterrupted && outcome.end != cel::End::kWouldBlock);
  Require((outcome.end == cel::End::kCostLimit) == (outcome.cost > kAnyCostMax));
  Require(scratch.arena().bytes_reserved() < kAnyBytesMax);
  const std::string text =
      outcome.ok() ? cel::ToText(outcome.value, scratch.arena()) : std::string(outcome.error);
  return {text, outcome.cost, outcome.end};
}

bool IsRefusal(std::string_view message) {
  return message.starts_with("compilation failed: ERROR: <input>:") ||
         message.starts_with("program instantiation failed: ");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const cel_test::SmallWorld world;
  static const cel::Environment oldest = world.In({1, 24}, cel::Mode::kNew);
  static const cel::Environment newest = world.In({1, 36}, cel::Mode::kStored);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const cel::Environment* const environment : {&oldest, &newest}) {
    const auto program = cel::Compile(*environment, text);
    if (!program.ok()) {
      Require(IsRefusal(program.status().message()));
      continue;
    }
    Require(program->estimate().min <= program->estimate().max);
    Require(EvaluateAny(*program, world.inputs()) == EvaluateAny(*program, world.inputs()));
  }
  return 0;
}
