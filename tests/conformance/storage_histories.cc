#include <charconv>
#include <iostream>
#include <string>
#include <string_view>

#include "apiserver/testing/storage/histories.h"
#include "hosts.h"

// storage_histories [--engine=memory|rocks|etcd] [--form=store|cacher|following] [--histories=50]
//   [--operations=20000] [--clients=8] [--watchers=4] [--keys=10] [--seed=1] [--faults]
//   [--no-compactions]
//
// Runs random histories and judges them. Exits with 1 at a violation, with 2 when it cannot run.
namespace {

using namespace apiserver;  // NOLINT: a program.

struct Flags {
  std::string engine = "memory";
  std::string form = "store";
  testing::storage::HistoryOptions options;
};

template <class Number>
bool Take(std::string_view arg, std::string_view name, Number& into) {
  if (!arg.starts_with(name)) return false;
  arg.remove_prefix(name.size());
  const auto end = std::from_chars(arg.data(), arg.data() + arg.size(), into);
  return end.ec == std::errc() && end.ptr == arg.data() + arg.size();
}
bool Take(std::string_view arg, std::string_view name, std::string& into) {
  if (!arg.starts_with(name)) return false;
  into = arg.substr(name.size());
  return true;
}

bool Parse(int argc, char** argv, Flags& flags) {
  auto& options = flags.options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg == "--faults") {
      options.faults = true;
    } else if (arg == "--no-compactions") {
      options.compactions = false;
    } else if (!Take(arg, "--engine=", flags.engine) && !Take(arg, "--form=", flags.form) &&
               !Take(arg, "--histories=", options.histories) &&
               !Take(arg, "--operations=", options.operations) &&
               !Take(arg, "--clients=", options.clients) &&
               !Take(arg, "--watchers=", options.watchers) && !Take(arg, "--keys=", options.keys) &&
               !Take(arg, "--seed=", options.seed)) {
      std::cerr << "unknown or malformed: " << arg << "\n";
      return false;
    }
  }
  return options.clients > 0 && options.keys > 0;
}

int Run(Flags flags) {
  flags.options.progress = [](const std::string& line) { std::cout << line << std::endl; };
  for (const auto& engine : testing::Engines()) {
    if (engine.name != flags.engine) continue;
    std::cout << flags.form << " over " << engine.name << ", seed " << flags.options.seed << "\n";
    const auto report =
        testing::storage::RunHistories(testing::HostOf(flags.form, engine.open), flags.options);
    if (!report.ok()) {
      std::cerr << "cannot run: " << report.status().ToString() << "\n";
      return 2;
    }
    std::cout << report->ToString();
    return report->violations.empty() ? 0 : 1;
  }
  std::cerr << "no such engine: " << flags.engine << "\n";
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  flags.options.histories = 50;
  if (!Parse(argc, argv, flags)) return 2;
  return Run(std::move(flags));
}
