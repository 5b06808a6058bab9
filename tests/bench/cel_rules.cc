#include "bench/cel_rules.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "apiserver/base/status_macros.h"
#include "apiserver/cel/compile.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/cel/schema_type.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/schema_loader.h"

namespace bench {

namespace {

namespace cel = apiserver::cel;
namespace codec = apiserver::codec;
namespace runtime = apiserver::runtime;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;

struct Rule {
  const char* name;
  const char* expression;
};

// The first four are the rows of the issue; all but "regular expression find", "quantity" and
// "text made" need no allocation.
constexpr std::array<Rule, 15> kRules = {{
    {"constants", "1 == 1"},
    {"scalar", "object.spec.replicas <= 5"},
    {"has and in", "has(object.metadata.labels) && 'app' in object.metadata.labels"},
    {"all of 3",
     "object.spec.template.spec.containers.all(c, c.image.startsWith('registry.local/'))"},
    {"all of 3, regular expression",
     R"(object.spec.template.spec.containers.all(c, c.image.matches('^registry[.]local/')))"},
    {"filter and map",
     "object.spec.template.spec.containers.filter(c, c.name == 'b').map(c, c.image).size() == 1"},
    {"concatenation", "object.metadata.namespace + '/' + object.metadata.name == 'default/web'"},
    {"text looked at",
     "object.metadata.name.contains('e') && object.metadata.name.endsWith('b') && "
     "object.metadata.name.size() <= 63 && object.metadata.name.indexOf('b') == 2"},
    {"text made",
     "object.metadata.namespace.upperAscii().replace('AU', '-').substring(3) == '-LT' && "
     "object.spec.template.spec.containers[0].image.split('/')[1].split(':')[0] == 'a'"},
    {"set of constants", "object.metadata.labels.tier in ['back', 'front', 'middle']"},
    {"arithmetic", "object.spec.replicas * 2 + 1 > 6 && object.spec.replicas % 2 == 1"},
    {"quantity", "quantity(object.spec.memory).isLessThan(quantity('2Gi'))"},
    {"typed scalars", "self.minReplicas <= self.replicas && self.replicas <= self.maxReplicas"},
    {"typed all of 3", "self.names.all(n, n.size() < 10 && n != self.name)"},
    {"typed optional", "self.?name.orValue('x') == 'web'"},
}};

constexpr std::string_view kObject =
    R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default",)"
    R"("labels":{"tier":"front","app":"web"}},"spec":{"replicas":3,"memory":"1.5Gi","template":)"
    R"({"spec":{"containers":[{"name":"a","image":"registry.local/a:1"},{"name":"b","image":)"
    R"("registry.local/b:1"},{"name":"c","image":"registry.local/c:1"}]}}}})";
constexpr std::string_view kSchema =
    R"({"type":"object","properties":{"name":{"type":"string","maxLength":63},"minReplicas":)"
    R"({"type":"integer"},"replicas":{"type":"integer"},"maxReplicas":{"type":"integer"},"names":)"
    R"({"type":"array","maxItems":10,"items":{"type":"string","maxLength":63}}}})";
constexpr std::string_view kSelf =
    R"({"name":"web","minReplicas":1,"replicas":3,"maxReplicas":5,"names":["a","b","c"]})";

// The variables of all rules, and their values.
struct RuleInputs {
  runtime::Arena data;
  runtime::Value object;
  runtime::Value self;
  runtime::SchemaPtr schema;

  Status Read() {
    APISERVER_ASSIGN_OR_RETURN(object, codec::ParseJson(kObject, data));
    APISERVER_ASSIGN_OR_RETURN(self, codec::ParseJson(kSelf, data));
    APISERVER_ASSIGN_OR_RETURN(const runtime::Value text, codec::ParseJson(kSchema, data));
    APISERVER_ASSIGN_OR_RETURN(schema, codec::SchemaFromOpenApi(text));
    return {};
  }
};

Status TimeRule(const Rule& rule, const RuleInputs& values, std::chrono::nanoseconds wanted,
                CelTimings& timings) {
  const cel::Environment environment =
      cel::Environment::Kubernetes({1, 36}, cel::Mode::kStored)
          .With({{.name = "object", .type = cel::Type::Dyn()},
                 {.name = "self",
                  .type = cel::TypeOfSchema(*values.schema, "selfType").value_or(cel::Type()),
                  .schema = values.schema}});
  APISERVER_ASSIGN_OR_RETURN(const cel::Program program,
                             cel::Compile(environment, rule.expression));
  cel::Scratch scratch;
  const auto evaluate = [&] {
    const std::array<cel::Input, 2> inputs = {
        {{cel::Value::FromData(values.object, nullptr, scratch.arena())},
         {cel::Value::FromData(values.self, values.schema.get(), scratch.arena())}}};
    cel::Budget budget;
    const cel::Outcome outcome =
        cel::Evaluate(program, inputs, budget, scratch, apiserver::Context::Background());
    const bool is_true = outcome.ok() && outcome.value.is_bool() && outcome.value.AsBool();
    scratch.Reset();
    return is_true;
  };
  if (!evaluate()) return {Reason::kInvalid, std::string(rule.name) + ": the rule does not hold"};
  bool all_true = true;
  const auto [evaluate_ns, evaluate_allocations] =
      TimeCpu(wanted, [&] { all_true = evaluate() && all_true; });
  const auto [compile_ns, compile_allocations] = TimeCpu(
      wanted, [&] { all_true = cel::Compile(environment, rule.expression).ok() && all_true; });
  if (!all_true) return {Reason::kInternalError, std::string(rule.name) + ": results differ"};
  timings.evaluate_ns.push_back(evaluate_ns);
  timings.compile_ns.push_back(compile_ns);
  timings.evaluate_allocations = evaluate_allocations;
  timings.compile_allocations = compile_allocations;
  return {};
}

}  // namespace

std::vector<std::string> CelRuleNames(const std::string& wanted) {
  std::vector<std::string> names;
  for (const Rule& rule : kRules) {
    if (std::string_view(rule.name).find(wanted) != std::string_view::npos) {
      names.emplace_back(rule.name);
    }
  }
  return names;
}

Status TimeCelRules(const std::vector<std::string>& rows, std::chrono::nanoseconds time,
                    CelTimingsByRow& timings) {
  RuleInputs values;
  APISERVER_RETURN_IF_ERROR(values.Read());
  for (const Rule& rule : kRules) {
    if (std::ranges::find(rows, rule.name) == rows.end()) continue;
    APISERVER_RETURN_IF_ERROR(TimeRule(rule, values, time, timings[rule.name]));
  }
  return {};
}

std::string CelRuleLines(const std::vector<std::string>& rows) {
  std::string lines = R"({"declare":{"name":"e","variables":[{"name":"object","type":"dyn"},)"
                      R"({"name":"self","schema":)" +
                      std::string(kSchema) + "}]}}\n" +
                      R"({"inputs":"i","values":{"object":{"json":)" + std::string(kObject) +
                      R"(},"self":{"json":)" + std::string(kSelf) + "}}}\n";
  for (const Rule& rule : kRules) {
    if (std::ranges::find(rows, rule.name) == rows.end()) continue;
    lines += R"({"id":)";
    codec::AppendJsonString(rule.name, lines);
    lines += R"(,"env":"e","inputs":"i","expr":)";
    codec::AppendJsonString(rule.expression, lines);
    lines += "}\n";
  }
  return lines;
}

}  // namespace bench
