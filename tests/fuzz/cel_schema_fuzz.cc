#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/cel/compile.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/cel/schema_type.h"
#include "apiserver/cel/to_text.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/schema_loader.h"
#include "require.h"

// A rule, the schema that it stands in and data, a line each. Data need not fit the schema: what
// does not is an error of the evaluation.
namespace {

using apiserver_fuzz::Require;
namespace cel = apiserver::cel;
namespace codec = apiserver::codec;
namespace runtime = apiserver::runtime;

std::string_view TakeSchemaPart(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::optional<cel::Program> CompileRule(std::string_view rule, const runtime::SchemaPtr& schema) {
  const std::optional<cel::Type> type = cel::TypeOfSchema(*schema, "selfType");
  if (!type.has_value()) return std::nullopt;
  const cel::Environment environment =
      cel::Environment::Kubernetes({1, 36}, cel::Mode::kStored)
          .With({{.name = "self", .type = *type, .schema = schema},
                 {.name = "oldSelf", .type = *type, .schema = schema}});
  const auto program = cel::Compile(environment, rule);
  if (!program.ok()) return std::nullopt;
  Require(program->estimate().min <= program->estimate().max);
  return *program;
}

void EvaluateRule(const cel::Program& program, const runtime::Value& data,
                  const runtime::Schema& schema) {
  cel::Scratch scratch;
  const cel::Value self = cel::Value::FromData(data, &schema, scratch.arena());
  const cel::Input inputs[] = {{self}, {self}};
  cel::Budget budget = {.per_call = 100'000};
  const cel::Outcome outcome =
      cel::Evaluate(program, inputs, budget, scratch, apiserver::Context::Background());
  Require(outcome.ok() == outcome.error.empty());
  if (outcome.ok()) (void)cel::ToText(outcome.value, scratch.arena());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const std::string_view rule = TakeSchemaPart(text);
  runtime::Arena arena;
  const auto json = codec::ParseJson(TakeSchemaPart(text), arena);
  if (!json.ok()) return 0;
  const auto schema = codec::SchemaFromOpenApi(*json);
  if (!schema.ok()) return 0;
  const auto data = codec::ParseJson(text, arena);
  for (const bool resource : {false, true}) {
    const runtime::SchemaPtr completed = cel::WithTypeAndObjectMeta(*schema, resource);
    const std::optional<cel::Program> program = CompileRule(rule, completed);
    if (program.has_value() && data.ok()) EvaluateRule(*program, *data, *completed);
  }
  return 0;
}
