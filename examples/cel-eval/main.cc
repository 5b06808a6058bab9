// Compiles an expression of the Common Expression Language as a Kubernetes API server does,
// evaluates it, and prints result, type, estimated cost and cost.
//   cel-eval --object deployment.yaml 'object.spec.replicas <= 5'
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status_macros.h"
#include "apiserver/cel/compile.h"
#include "apiserver/cel/environment.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/cel/to_text.h"
#include "files.h"
#include "types.h"
#include "variables.h"

using namespace apiserver;  // NOLINT(google-build-using-namespace): an example's main.

namespace {

// The program's exit codes.
constexpr int kResult = 0;
constexpr int kFailed = 1;          // The evaluation ended with an error.
constexpr int kDoesNotCompile = 2;  // Also: a result of another type than --result-type.
constexpr int kBadUsage = 3;        // A flag, or a file that it names.
constexpr int kNotTrue = 4;         // With --exit-status.

// A variable of policies and the file of its value.
struct FileVariable {
  const char* name;
  const char* flag;
  const char* help;
  std::string file = {};
};

struct Options {
  std::string expression;
  std::string expression_file;
  std::vector<std::string> variables;
  std::vector<FileVariable> policy_variables = {
      {"object", "--object", "The object of the request"},
      {"oldObject", "--old-object", "The object before the request"},
      {"request", "--request", "The AdmissionRequest"},
      {"params", "--params", "The parameter object"},
      {"namespaceObject", "--namespace-object", "The Namespace of the object"},
  };
  std::string self;
  std::string old_self;
  std::string schema;
  std::string crd_version;
  std::string at;
  std::string version = "1.36";
  std::string mode = "new";
  std::vector<std::string> result_types;
  std::uint64_t limit = cel::Budget().per_call;
  bool check_only = false;
  bool quiet = false;
  bool exit_status = false;
};

constexpr const char* kExamples = R"help(Examples:
  cel-eval '[1, 2, 3].map(x, x * 2)'
  cel-eval --object pod.yaml "object.spec.containers.all(c, c.image.startsWith('registry.local/'))"
  kubectl get deployment web -o json | cel-eval --object - 'object.spec.replicas <= 5'
  cel-eval --schema crd.yaml --at spec --self widget.yaml 'self.minReplicas <= self.replicas'
  cel-eval --var 'limit:int=5' --var 'labels:map(string, string)={"app": "web"}' \
    "limit > 3 && labels.app == 'web'"

Exit codes:
  0  there is a result
  1  the evaluation failed
  2  the expression does not compile
  3  a flag, or a file that it names, is wrong
  4  the result is not true (--exit-status)
)help";

// Descriptions break their lines themselves: CLI11 does not.
void DeclareValues(CLI::App& app, Options& options) {
  const std::string values = "Values of variables (JSON or YAML files; - is standard input)";
  app.add_option("--var", options.variables,
                 "Declares NAME[:TYPE][=VALUE]. VALUE is JSON, YAML or @FILE; without\n"
                 "it the variable has a type only. TYPE is dyn, unless given: bool, int,\n"
                 "double, string, bytes, timestamp, duration, list(T), map(string, T)")
      ->type_name("VARIABLE")
      ->allow_extra_args(false)
      ->group(values);
  for (FileVariable& variable : options.policy_variables) {
    app.add_option(variable.flag, variable.file,
                   std::string(variable.help) + ": " + variable.name + ", of type dyn")
        ->type_name("FILE")
        ->group(values);
  }
  app.add_option("--self", options.self, "Value that a rule of a schema sees: self")
      ->type_name("FILE")
      ->group(values);
  app.add_option("--old-self", options.old_self, "Value before the update: oldSelf")
      ->type_name("FILE")
      ->group(values);
}

void DeclareTypes(CLI::App& app, Options& options) {
  const std::string types = "Types";
  app.add_option("--schema", options.schema,
                 "CustomResourceDefinition or OpenAPI v3 schema: the type of self and\n"
                 "oldSelf")
      ->type_name("FILE")
      ->group(types);
  app.add_option("--crd-version", options.crd_version,
                 "Version of the CustomResourceDefinition; if not given, the storage version")
      ->type_name("VERSION")
      ->group(types);
  app.add_option("--at", options.at,
                 "Path of the rule in the schema, and of self in its file: spec.ports.0")
      ->type_name("PATH")
      ->group(types);
  app.add_option("--result-type", options.result_types,
                 "Type that the result must have; several are separated by commas")
      ->type_name("TYPE")
      ->allow_extra_args(false)
      ->group(types)
      ->delimiter(',');
}

void DeclareEnvironment(CLI::App& app, Options& options) {
  const std::string environment = "Environment";
  app.add_option("--version", options.version,
                 "Version of Kubernetes whose servers must understand the expression")
      ->type_name("VERSION")
      ->group(environment)
      ->capture_default_str();
  app.add_option("--mode", options.mode,
                 "new: only what --version has, as for text that a client writes now;\n"
                 "stored: everything, as for text that is stored already")
      ->type_name("MODE")
      ->group(environment)
      ->check(CLI::IsMember({"new", "stored"}))
      ->capture_default_str();
  app.add_option("--limit", options.limit, "Cost at which the evaluation is stopped")
      ->type_name("COST")
      ->group(environment)
      ->capture_default_str();
}

void Declare(CLI::App& app, Options& options) {
  app.add_option("EXPRESSION", options.expression, "The expression")->type_name("");
  app.add_option("-f,--file", options.expression_file,
                 "File with the expression, instead of EXPRESSION; - is standard input")
      ->type_name("FILE");
  DeclareValues(app, options);
  DeclareTypes(app, options);
  DeclareEnvironment(app, options);
  const std::string output = "Output";
  app.add_flag("--check", options.check_only, "Compile only: print type and estimate")
      ->group(output);
  app.add_flag("-q,--quiet", options.quiet, "Print the result only")->group(output);
  app.add_flag("-e,--exit-status", options.exit_status, "Exit with 4 unless the result is true")
      ->group(output);
  app.footer(kExamples);
}

int Refuse(std::string_view what) {
  std::fprintf(stderr, "error: %.*s\n", static_cast<int>(what.size()), what.data());
  return kBadUsage;
}

Result<cel::KubernetesVersion> ReadVersion(std::string_view text) {
  cel::KubernetesVersion version;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.major);
  if (major.ec == std::errc() && major.ptr != end && *major.ptr == '.') {
    const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
    if (minor.ec == std::errc() && minor.ptr == end && version.major == 1) return version;
  }
  return Status(Reason::kInvalid,
                "--version: \"" + std::string(text) + "\" is no version; give one like 1.36");
}

// Adds the variables that flags give or a schema declares.
Status Collect(const Options& options, cel_eval::Variables& variables) {
  for (const std::string& text : options.variables) {
    APISERVER_RETURN_IF_ERROR(variables.Declare(text));
  }
  for (const FileVariable& variable : options.policy_variables) {
    if (variable.file.empty()) continue;
    APISERVER_RETURN_IF_ERROR(variables.AddFile(variable.name, variable.file, "", nullptr));
  }
  runtime::SchemaPtr schema;
  if (!options.schema.empty()) {
    APISERVER_ASSIGN_OR_RETURN(const runtime::SchemaPtr whole,
                               cel_eval::ReadSchema(options.schema, options.crd_version));
    APISERVER_ASSIGN_OR_RETURN(schema, cel_eval::PartOf(whole, options.at));
  }
  if (schema || !options.self.empty()) {
    APISERVER_RETURN_IF_ERROR(variables.AddFile("self", options.self, options.at, schema));
  }
  if (schema || !options.old_self.empty()) {
    APISERVER_RETURN_IF_ERROR(variables.AddFile("oldSelf", options.old_self, options.at, schema));
  }
  return {};
}

Result<std::string> ReadExpression(const Options& options) {
  if (options.expression_file.empty()) return options.expression;
  if (!options.expression.empty()) {
    return Status(Reason::kInvalid, "EXPRESSION and --file exclude each other");
  }
  return cel_eval::ReadFile(options.expression_file);
}

std::string EstimateText(cel::CostRange range) {
  std::string min = std::to_string(range.min);
  if (range.min == range.max) return min;
  if (range.max == std::numeric_limits<std::uint64_t>::max()) return min + " or more, unbounded";
  return min + " to " + std::to_string(range.max);
}

void Print(const char* what, std::string_view text) {
  std::printf("%-9s %.*s\n", what, static_cast<int>(text.size()), text.data());
}

int Evaluate(const Options& options, const cel::Program& program,
             const cel_eval::Variables& variables) {
  cel::Arena arena;
  cel::Scratch scratch;
  cel::Budget budget = {.per_call = options.limit};
  const std::vector<cel::Input> inputs = variables.Inputs(arena);
  const cel::Outcome outcome =
      cel::Evaluate(program, inputs, budget, scratch, Context::Background());
  if (outcome.ok()) {
    const std::string text = cel::ToText(outcome.value, scratch.arena());
    if (options.quiet) {
      std::puts(text.c_str());
    } else {
      Print("result:", text);
    }
  } else {
    std::fprintf(stderr, "error:    %.*s\n", static_cast<int>(outcome.error.size()),
                 outcome.error.data());
  }
  if (!options.quiet) {
    Print("type:", program.result_type().ToString());
    Print("estimate:", EstimateText(program.estimate()));
    Print("cost:", std::to_string(outcome.cost));
  }
  if (!outcome.ok()) return kFailed;
  const bool is_true = outcome.value.is_bool() && outcome.value.AsBool();
  return options.exit_status && !is_true ? kNotTrue : kResult;
}

Result<int> Run(const Options& options) {
  cel_eval::Variables variables;
  APISERVER_RETURN_IF_ERROR(Collect(options, variables));
  APISERVER_ASSIGN_OR_RETURN(const std::string expression, ReadExpression(options));
  APISERVER_ASSIGN_OR_RETURN(const cel::KubernetesVersion version, ReadVersion(options.version));
  const cel::Mode mode = options.mode == "stored" ? cel::Mode::kStored : cel::Mode::kNew;
  cel::CompileOptions wanted;
  for (const std::string& text : options.result_types) {
    APISERVER_ASSIGN_OR_RETURN(cel::Type type, cel_eval::ReadType(text));
    wanted.result_types.push_back(std::move(type));
  }
  const cel::Environment environment =
      cel::Environment::Kubernetes(version, mode).With(variables.declared());
  const Result<cel::Program> program = cel::Compile(environment, expression, wanted);
  if (!program.ok()) {
    std::fprintf(stderr, "%s\n", std::string(program.status().message()).c_str());
    return kDoesNotCompile;
  }
  if (!options.check_only) return Evaluate(options, *program, variables);
  Print("type:", program->result_type().ToString());
  Print("estimate:", EstimateText(program->estimate()));
  return kResult;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Compiles a CEL expression as a Kubernetes API server does, evaluates it, and prints "
      "result, type, estimated cost and cost.",
      "cel-eval");
  Declare(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return kResult;
  } catch (const CLI::ParseError& error) {
    return Refuse(error.what());
  }
  if (options.expression.empty() && options.expression_file.empty()) {
    return Refuse("there is no expression; --help shows how to give one");
  }
  const Result<int> code = Run(options);
  return code.ok() ? *code : Refuse(code.status().message());
}
