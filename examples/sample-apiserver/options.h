#pragma once

#include <cstdint>
#include <string>

#include "apiserver/options/recommended.h"
#include "common/cli_flags.h"

namespace sample {

// The command line: the library's groups of flags, and what is the program's alone.
struct Options {
  Options();

  apiserver::options::RecommendedOptions recommended;
  std::string storage;         // "memory", "rocks" or "etcd"; "rocks" if nothing says otherwise.
  std::string data_dir;        // Empty: $XDG_DATA_HOME or ~/.local/share, /sample-apiserver.
  std::string kubeconfig_out;  // Empty: <data_dir>/kubeconfig.
  std::uint32_t v = 0;         // Verbosity; from 4 on debug lines are logged.
};

// Adds all flags to `flags`, which `options` must outlive.
void AddServerFlags(examples::CliFlags& flags, Options& options);
// Once the command line has been read: sets what depends on several flags; then one line that says
// what is wrong with them, and what to do. Empty: nothing.
std::string FinishFlags(Options& options);

// What to do after reading the command line.
struct Parsed {
  Options options;
  bool exit = false;  // Help was printed, or the command line is wrong.
  int exit_code = 0;
};
Parsed ParseCommandLine(int argc, const char* const* argv);

}  // namespace sample
