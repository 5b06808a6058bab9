// Times rules of the Common Expression Language, ours in turn with cel-go's if its program is
// given:
//   cel_bench --oracle /tmp/cel-oracle
// tests/oracle/cel says how that program is built. Figures are medians of the rounds.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status_macros.h"
#include "apiserver/cel/compile.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/cel/schema_type.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/schema_loader.h"
#include "bench/report.h"
#include "codec/counted_new.h"

using namespace apiserver;  // NOLINT(google-build-using-namespace): a program.

namespace {

using Clock = std::chrono::steady_clock;

struct Rule {
  const char* name;
  const char* expression;
};

constexpr std::array<Rule, 11> kRules = {{
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

// One program's figures of one rule; each a figure of every round.
struct Timings {
  std::vector<double> compile_ns;
  std::vector<double> evaluate_ns;
  double compile_allocations = 0;
  double evaluate_allocations = 0;
};
using TimingsByRule = std::map<std::string, Timings, std::less<>>;

// Runs `work` for about the given time. Returns nanoseconds and allocations of one run.
template <class Work>
std::pair<double, double> Time(std::chrono::nanoseconds wanted, const Work& work) {
  for (std::size_t runs = 1;; runs *= 2) {
    const std::size_t before = counted_new::Allocations();
    const Clock::time_point start = Clock::now();
    for (std::size_t i = 0; i < runs; ++i) work();
    const std::chrono::nanoseconds took = Clock::now() - start;
    if (took < wanted / 2) continue;
    const auto count = static_cast<double>(runs);
    return {static_cast<double>(took.count()) / count,
            static_cast<double>(counted_new::Allocations() - before) / count};
  }
}

class Bench {
 public:
  static Result<Bench> New() {
    Bench made;
    APISERVER_ASSIGN_OR_RETURN(made.object_, codec::ParseJson(kObject, *made.data_));
    APISERVER_ASSIGN_OR_RETURN(made.self_, codec::ParseJson(kSelf, *made.data_));
    APISERVER_ASSIGN_OR_RETURN(const runtime::Value schema, codec::ParseJson(kSchema, *made.data_));
    APISERVER_ASSIGN_OR_RETURN(made.schema_, codec::SchemaFromOpenApi(schema));
    return made;
  }

  // Times one rule. kInvalid: it does not compile, or its result is not true.
  Status TimeOurs(const Rule& rule, std::chrono::nanoseconds wanted, Timings& timings) const {
    const cel::Environment environment =
        cel::Environment::Kubernetes({1, 36}, cel::Mode::kStored)
            .With({{.name = "object", .type = cel::Type::Dyn()},
                   {.name = "self",
                    .type = cel::TypeOfSchema(*schema_, "selfType").value_or(cel::Type()),
                    .schema = schema_}});
    APISERVER_ASSIGN_OR_RETURN(const cel::Program program,
                               cel::Compile(environment, rule.expression));
    cel::Scratch scratch;
    const auto evaluate = [&] {
      const std::array<cel::Input, 2> inputs = {
          {{cel::Value::FromData(object_, nullptr, scratch.arena())},
           {cel::Value::FromData(self_, schema_.get(), scratch.arena())}}};
      cel::Budget budget;
      const cel::Outcome outcome =
          cel::Evaluate(program, inputs, budget, scratch, Context::Background());
      const bool is_true = outcome.ok() && outcome.value.is_bool() && outcome.value.AsBool();
      scratch.Reset();
      return is_true;
    };
    if (!evaluate()) return {Reason::kInvalid, std::string(rule.name) + ": the rule does not hold"};
    bool all_true = true;
    const auto [evaluate_ns, evaluate_allocations] =
        Time(wanted, [&] { all_true = evaluate() && all_true; });
    if (!all_true) return {Reason::kInternalError, std::string(rule.name) + ": results differ"};
    const auto [compile_ns, compile_allocations] = Time(
        wanted, [&] { all_true = cel::Compile(environment, rule.expression).ok() && all_true; });
    timings.evaluate_ns.push_back(evaluate_ns);
    timings.compile_ns.push_back(compile_ns);
    timings.evaluate_allocations = evaluate_allocations;
    timings.compile_allocations = compile_allocations;
    return {};
  }

 private:
  std::shared_ptr<runtime::Arena> data_ = std::make_shared<runtime::Arena>();
  runtime::Value object_;
  runtime::Value self_;
  runtime::SchemaPtr schema_;
};

// Returns the lines that the oracle reads.
std::string OracleLines() {
  std::string lines = R"({"declare":{"name":"e","variables":[{"name":"object","type":"dyn"},)"
                      R"({"name":"self","schema":)" +
                      std::string(kSchema) + "}]}}\n" +
                      R"({"inputs":"i","values":{"object":{"json":)" + std::string(kObject) +
                      R"(},"self":{"json":)" + std::string(kSelf) + "}}}\n";
  for (const Rule& rule : kRules) {
    lines += R"({"id":)";
    codec::AppendJsonString(rule.name, lines);
    lines += R"(,"env":"e","inputs":"i","expr":)";
    codec::AppendJsonString(rule.expression, lines);
    lines += "}\n";
  }
  return lines;
}

// Runs the oracle's benchmark mode once over all rules.
Status TimeGo(const std::string& oracle, const std::string& lines_file, int milliseconds,
              TimingsByRule& timings) {
  const std::string command =
      "'" + oracle + "' -bench " + std::to_string(milliseconds) + "ms <'" + lines_file + "'";
  std::FILE* const pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c): a path of ours.
  if (pipe == nullptr) return {Reason::kInternalError, "cannot run " + oracle};
  std::string output;
  std::array<char, 4096> buffer;
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), size);
  }
  if (pclose(pipe) != 0) return {Reason::kInternalError, oracle + " failed"};
  std::string_view rest = output;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
    runtime::Arena arena;
    APISERVER_ASSIGN_OR_RETURN(const runtime::Value line,
                               codec::ParseJson(rest.substr(0, end), arena));
    rest.remove_prefix(end + 1);
    Timings& of_rule = timings[std::string(line["id"].AsString())];
    of_rule.compile_ns.push_back(static_cast<double>(line["compile_ns"].AsInt()));
    of_rule.evaluate_ns.push_back(static_cast<double>(line["evaluate_ns"].AsInt()));
    of_rule.compile_allocations = static_cast<double>(line["compile_allocs"].AsInt());
    of_rule.evaluate_allocations = static_cast<double>(line["evaluate_allocs"].AsInt());
  }
  return {};
}

// Prints a line for each rule: medians, their ratio, allocations.
void Print(const char* what, std::vector<double> Timings::*ns, double Timings::*allocations_of,
           TimingsByRule& ours, TimingsByRule& go) {
  std::printf("%-30s %10s %10s %7s %7s %7s\n", what, "ours ns", "Go ns", "Go/ours", "allocs",
              "Go's");
  for (const Rule& rule : kRules) {
    Timings& own = ours[rule.name];
    const double own_ns = bench::Median(own.*ns);
    std::printf("%-30s %10.0f", rule.name, own_ns);
    const auto theirs = go.find(rule.name);
    if (theirs == go.end()) {
      std::printf(" %10s %7s %7.1f\n", "-", "-", own.*allocations_of);
      continue;
    }
    const double go_ns = bench::Median(theirs->second.*ns);
    std::printf(" %10.0f %7.1f %7.1f %7.0f\n", go_ns, go_ns / own_ns, own.*allocations_of,
                theirs->second.*allocations_of);
  }
}

struct Options {
  std::string oracle;
  int rounds = 5;
  int milliseconds = 50;
};

Status Run(const Options& options) {
  APISERVER_ASSIGN_OR_RETURN(const Bench bench, Bench::New());
  std::string lines_file = "/tmp/cel_bench_XXXXXX";
  const int descriptor = mkstemp(lines_file.data());
  if (descriptor < 0) return {Reason::kInternalError, "cannot make a temporary file"};
  const std::string lines = OracleLines();
  const bool written =
      write(descriptor, lines.data(), lines.size()) == static_cast<ssize_t>(lines.size());
  close(descriptor);
  TimingsByRule ours;
  TimingsByRule go;
  Status status = written ? Status() : Status(Reason::kInternalError, "cannot write " + lines_file);
  for (int round = 0; round < options.rounds && status.ok(); ++round) {
    for (const Rule& rule : kRules) {
      status =
          bench.TimeOurs(rule, std::chrono::milliseconds(options.milliseconds), ours[rule.name]);
      if (!status.ok()) break;
    }
    if (status.ok() && !options.oracle.empty()) {
      status = TimeGo(options.oracle, lines_file, options.milliseconds, go);
    }
  }
  unlink(lines_file.c_str());
  APISERVER_RETURN_IF_ERROR(status);
  Print("evaluation", &Timings::evaluate_ns, &Timings::evaluate_allocations, ours, go);
  Print("compilation", &Timings::compile_ns, &Timings::compile_allocations, ours, go);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Times CEL rules: medians of several rounds, in turn with cel-go if its program is given");
  app.add_option("--oracle", options.oracle, "The program of tests/oracle/cel");
  app.add_option("--rounds", options.rounds, "Rounds of each program")->capture_default_str();
  app.add_option("--milliseconds", options.milliseconds, "Time of one figure of one round")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const Status status = Run(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "error: %s\n", std::string(status.message()).c_str());
  return 1;
}
