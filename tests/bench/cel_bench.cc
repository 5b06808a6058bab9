// W16b: rules of the Common Expression Language and the policies made of them, ours in turn with
// Go's if its program is given:
//   scripts/bench W16b --oracle /tmp/cel-oracle
// tests/oracle/cel says how that program is built. Times are CPU times of the process, medians of
// the rounds; Go's have its garbage collector's.
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status_macros.h"
#include "apiserver/codec/json.h"
#include "bench/cel_policies.h"
#include "bench/cel_rules.h"
#include "bench/cel_timing.h"
#include "bench/report.h"

using namespace apiserver;  // NOLINT(google-build-using-namespace): a program.

namespace {

using bench::CelTimings;
using bench::CelTimingsByRow;

struct Options {
  std::string oracle;
  std::string json;
  std::string rows;
  int rounds = 5;
  int milliseconds = 50;
  bench::CelMemorySize memory;
};

// A file for the lines that Go reads, removed at the end.
class LinesFile {
 public:
  explicit LinesFile(const std::string& lines) {
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0) return;
    ok_ = write(descriptor, lines.data(), lines.size()) == static_cast<ssize_t>(lines.size());
    close(descriptor);
  }
  LinesFile(const LinesFile&) = delete;
  LinesFile& operator=(const LinesFile&) = delete;
  ~LinesFile() { unlink(path_.c_str()); }

  bool ok() const { return ok_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/cel_bench_XXXXXX";
  bool ok_ = false;
};

// Returns what the oracle's benchmark mode prints.
Result<std::string> RunOracle(const Options& options, const std::string& lines) {
  const LinesFile file(lines);
  if (!file.ok()) return Status(Reason::kInternalError, "cannot write " + file.path());
  const std::string command = "'" + options.oracle + "' -bench " +
                              std::to_string(options.milliseconds) + "ms <'" + file.path() + "'";
  std::FILE* const pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c): a path of ours.
  if (pipe == nullptr) return Status(Reason::kInternalError, "cannot run " + options.oracle);
  std::string output;
  std::array<char, 4096> buffer;
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), size);
  }
  if (pclose(pipe) != 0) return Status(Reason::kInternalError, options.oracle + " failed");
  return output;
}

// Times all rows of `lines` once with the oracle.
Status TimeGo(const Options& options, const std::string& lines, CelTimingsByRow& timings) {
  APISERVER_ASSIGN_OR_RETURN(const std::string output, RunOracle(options, lines));
  std::string_view rest = output;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
    runtime::Arena arena;
    APISERVER_ASSIGN_OR_RETURN(const runtime::Value line,
                               codec::ParseJson(rest.substr(0, end), arena));
    rest.remove_prefix(end + 1);
    CelTimings& row = timings[std::string(line["id"].AsString())];
    row.evaluate_ns.push_back(static_cast<double>(line["evaluate_ns"].AsInt()));
    row.evaluate_allocations = static_cast<double>(line["evaluate_allocs"].AsInt());
    row.memory_bytes = static_cast<double>(line["rss_bytes"].AsInt());
    if (line["compile_ns"].is_null()) continue;
    row.compile_ns.push_back(static_cast<double>(line["compile_ns"].AsInt()));
    row.compile_allocations = static_cast<double>(line["compile_allocs"].AsInt());
  }
  return {};
}

// The figures of one table: the times and allocations that it shows.
struct Column {
  const char* title;
  const char* metric;
  std::vector<double> CelTimings::*ns;
  double CelTimings::*allocations;
};

// Prints a line for each row: medians, their ratio, allocations.
void Print(const Column& column, const std::vector<std::string>& rows, CelTimingsByRow& ours,
           CelTimingsByRow& go, bench::Report& report) {
  std::printf("%-30s %10s %10s %7s %7s %7s\n", column.title, "ours ns", "Go ns", "Go/ours",
              "allocs", "Go's");
  for (const std::string& row : rows) {
    const CelTimings& own = ours[row];
    const double own_ns = bench::Median(own.*column.ns);
    report.Add({"W16b/" + row, column.metric, own_ns, "ns"});
    std::printf("%-30s %10.0f", row.c_str(), own_ns);
    const auto theirs = go.find(row);
    if (theirs == go.end()) {
      std::printf(" %10s %7s %7.1f\n", "-", "-", own.*column.allocations);
      continue;
    }
    const double go_ns = bench::Median(theirs->second.*column.ns);
    report.Add({"W16b/" + row, "go_" + std::string(column.metric), go_ns, "ns"});
    std::printf(" %10.0f %7.1f %7.1f %7.0f\n", go_ns, go_ns / own_ns, own.*column.allocations,
                theirs->second.*column.allocations);
  }
}

// Measures the memory row; 0 policies leave it out.
Status Memory(const Options& options, CelTimingsByRow& ours, CelTimingsByRow& go) {
  if (options.memory.policies == 0) return {};
  // First, so that nothing that was freed before is used again.
  APISERVER_RETURN_IF_ERROR(bench::MeasureCelMemory(options.memory, ours[bench::kCelMemory]));
  if (options.oracle.empty()) return {};
  return TimeGo(options, bench::CelMemoryLine(options.memory), go);
}

void PrintMemory(const Options& options, CelTimingsByRow& ours, CelTimingsByRow& go,
                 bench::Report& report) {
  if (options.memory.policies == 0) return;
  const double own = ours[bench::kCelMemory].memory_bytes / 1e6;
  report.Add({"W16b/memory", "resident", own, "MB"});
  std::printf("memory of %d policies of %d validations with %d bindings each: %.0f MB",
              options.memory.policies, options.memory.validations, options.memory.bindings, own);
  if (const auto theirs = go.find(bench::kCelMemory); theirs != go.end()) {
    report.Add({"W16b/memory", "go_resident", theirs->second.memory_bytes / 1e6, "MB"});
    std::printf(", Go's %.0f MB", theirs->second.memory_bytes / 1e6);
  }
  std::printf("\n");
}

Status Run(const Options& options) {
  const std::vector<std::string> rules = bench::CelRuleNames(options.rows);
  const std::vector<std::string> policies = bench::CelPolicyNames(options.rows);
  const std::string lines = bench::CelRuleLines(rules) + bench::CelPolicyLines(policies);
  CelTimingsByRow ours;
  CelTimingsByRow go;
  APISERVER_RETURN_IF_ERROR(Memory(options, ours, go));
  const std::chrono::milliseconds wanted(options.milliseconds);
  for (int round = 0; round < options.rounds; ++round) {
    APISERVER_RETURN_IF_ERROR(bench::TimeCelRules(rules, wanted, ours));
    APISERVER_RETURN_IF_ERROR(bench::TimeCelPolicies(policies, wanted, ours));
    if (!options.oracle.empty()) APISERVER_RETURN_IF_ERROR(TimeGo(options, lines, go));
  }
  bench::Report report;
  const Column evaluation = {"evaluation", "evaluate", &CelTimings::evaluate_ns,
                             &CelTimings::evaluate_allocations};
  Print(evaluation, rules, ours, go, report);
  Print({"compilation", "compile", &CelTimings::compile_ns, &CelTimings::compile_allocations},
        rules, ours, go, report);
  Column requests = evaluation;
  requests.title = "a request";
  Print(requests, policies, ours, go, report);
  PrintMemory(options, ours, go, report);
  if (options.json.empty() || report.WriteJson(options.json)) return {};
  return {Reason::kInternalError, "cannot write " + options.json};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Times CEL rules and policies, in turn with Go if its program is given");
  app.add_option("--oracle", options.oracle, "The program of tests/oracle/cel");
  app.add_option("--json", options.json, "Also write one JSON object a line here");
  app.add_option("--rows", options.rows, "Only rows whose names contain this");
  app.add_option("--rounds", options.rounds, "Rounds of each program")->capture_default_str();
  app.add_option("--milliseconds", options.milliseconds, "CPU time of one figure of one round")
      ->capture_default_str();
  app.add_option("--memory-policies", options.memory.policies,
                 "Policies whose memory is measured; 0: none")
      ->capture_default_str();
  app.add_option("--memory-bindings", options.memory.bindings, "Bindings of each of them")
      ->capture_default_str();
  app.add_option("--memory-validations", options.memory.validations, "Validations of each of them")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const Status status = Run(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "error: %s\n", std::string(status.message()).c_str());
  return 1;
}
