// The long runs of the fault harness; see README.md.
//
//   storage_faults cut [--rounds=N] [--seed=N] [--subject=NAME] [--verbose]
//   storage_faults etcd-members [--seconds=N] [--seed=N] [--control] [--no-partitions] [--verbose]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "faults/cut.h"
#include "faults/flips.h"
#include "faults/io_errors.h"
#include "faults/kill.h"
#include "faults/members.h"

namespace {

using namespace apiserver::faults;  // NOLINT: a program of its own.

struct Arguments {
  std::string what;
  std::size_t rounds = 20;
  std::uint64_t seed = 1;
  std::string subject = "engine";
  bool rounds_given = false;
  std::chrono::seconds time{600};
  bool partitions = true;
  bool control = false;
  bool verbose = false;
  VictimOptions victim{.keep_all = false};
};

Arguments Parse(int argc, char** argv) {
  Arguments arguments;
  if (argc > 1) arguments.what = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string_view text = argv[i];
    const auto value = [text](std::string_view name) { return text.substr(name.size()).data(); };
    if (text.starts_with("--rounds="))
      arguments.rounds = std::strtoul(value("--rounds="), nullptr, 10);
    if (text.starts_with("--rounds=")) arguments.rounds_given = true;
    if (text.starts_with("--seconds=")) {
      arguments.time = std::chrono::seconds(std::strtoul(value("--seconds="), nullptr, 10));
    }
    if (text.starts_with("--seed=")) arguments.seed = std::strtoull(value("--seed="), nullptr, 10);
    if (text.starts_with("--subject=")) arguments.subject = value("--subject=");
    if (text.starts_with("--store=")) arguments.victim.store = value("--store=");
    if (text.starts_with("--history=")) arguments.victim.history = value("--history=");
    if (text.starts_with("--life=")) {
      arguments.victim.life = std::strtoull(value("--life="), nullptr, 10);
    }
    if (text == "--control") arguments.control = true;
    if (text == "--no-partitions") arguments.partitions = false;
    if (text == "--keep-all") arguments.victim.keep_all = true;
    if (text == "--acknowledge-first") arguments.victim.acknowledge_first = true;
    if (text == "--open-only") arguments.victim.open_only = true;
    if (text == "--verbose") arguments.verbose = true;
  }
  arguments.victim.seed = arguments.seed;
  return arguments;
}

Subject SubjectOf(const std::string& name) {
  if (name == "lying-disk") return Subject::kLyingDisk;
  if (name == "acknowledge-first") return Subject::kAcknowledgeFirst;
  if (name == "bare") return Subject::kBare;
  if (name == "bare-unsynced") return Subject::kBareUnsynced;
  return Subject::kEngine;
}

int Print(const Arguments& arguments, const Outcome& outcome) {
  std::printf("%s %s: seed %lu, %zu rounds, %zu writes acknowledged, %zu violations\n",
              arguments.what.c_str(), arguments.subject.c_str(),
              static_cast<unsigned long>(arguments.seed), outcome.rounds, outcome.acknowledged,
              outcome.violations);
  if (outcome.violations > 0) std::printf("first: %s\n", outcome.first_violation.c_str());
  return outcome.violations == 0 ? 0 : 1;
}

int RunEtcdMembers(const Arguments& arguments) {
  MembersOptions options;
  options.seed = arguments.seed;
  options.rounds = static_cast<std::size_t>(arguments.time / options.period);
  options.time_max = arguments.time;
  options.partitions = arguments.partitions;
  options.control = arguments.control;
  options.verbose = arguments.verbose;
  const MembersReport report = RunMembers(options);
  std::printf("%s", report.ToString().c_str());
  return report.ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = Parse(argc, argv);
  if (arguments.what == "cut") {
    return Print(arguments, RunCuts({.subject = SubjectOf(arguments.subject),
                                     .seed = arguments.seed,
                                     .rounds = arguments.rounds,
                                     .verbose = arguments.verbose}));
  }
  if (arguments.what == "kill") {
    return Print(arguments, RunKills({.seed = arguments.seed,
                                      .rounds = arguments.rounds,
                                      .program = argv[0],
                                      .acknowledge_first = arguments.subject != "engine",
                                      .verbose = arguments.verbose}));
  }
  if (arguments.what == "io-errors") {
    return Print(arguments, RunIoErrors({.nth_max = arguments.rounds_given ? arguments.rounds : 0,
                                         .verbose = arguments.verbose}));
  }
  if (arguments.what == "flips") {
    const FlipOutcome flips = RunFlips(
        {.seed = arguments.seed, .rounds = arguments.rounds, .verbose = arguments.verbose});
    std::printf("flips: %zu harmless, %zu refused at opening, %zu refused at reading\n",
                flips.harmless, flips.refused, flips.failed);
    return Print(arguments, flips.outcome);
  }
  if (arguments.what == "etcd-members") return RunEtcdMembers(arguments);
  if (arguments.what == "writer") return RunVictim(arguments.victim);
  if (arguments.what == "boundaries") return Print(arguments, RunBoundaries(arguments.rounds));
  std::fprintf(stderr,
               "usage: storage_faults cut|boundaries|kill|io-errors|flips [--rounds=N] [--seed=N]\n"
               "       storage_faults etcd-members [--seconds=N] [--seed=N] [--control]\n");
  return 2;
}
