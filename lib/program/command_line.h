#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apiserver/options/recommended.h"
#include "apiserver/program/run_standalone.h"
#include "program/cli_flags.h"

namespace apiserver::inline v0::program {

// The values of a command line: the library's groups of flags and the program's own flags.
struct Values {
  explicit Values(const Program& program);

  options::RecommendedOptions recommended;
  std::string
      storage;  // "memory", "rocks" or "etcd". Empty: "etcd" if it has servers, else "rocks".
  std::string data_dir;        // Empty: `default_data_dir`.
  std::string kubeconfig_out;  // Empty: <data_dir>/kubeconfig.
  // Serves the Explorer. Unless a flag says so, a server behind an aggregator does not: its users
  // reach the aggregator, not the server.
  bool explorer = true;
  options::FlagPtr explorer_flag;
  std::uint32_t v = 0;  // Log verbosity; debug lines are logged from 4 on.
  int socket = -1;      // The one that the service manager has passed: ListenerOptions::socket.
  std::string default_data_dir;
  // Program::add_flags and Program::validate.
  std::function<void(options::FlagSet&)> add_program_flags;
  std::function<std::vector<std::string>(const options::RecommendedOptions&)>
      validate_program_flags;
};

// Adds all flags to `flags`, which `values` must outlive.
void AddServerFlags(CliFlags& flags, Values& values);
// Sets the storage and the paths that no flag did, and returns one line about the first mistake in
// the flags, with its remedy. Empty: there is none. Call it after the command line has been read.
std::string FinishFlags(Values& values);

// Returns the flags of the program as --help lists them.
std::vector<FlagText> FlagTexts(const Program& program);

// A command line that has been read.
struct CommandLine {
  Values values;
  Reading reading;
};
CommandLine ParseCommandLine(int argc, const char* const* argv, const Program& program);

}  // namespace apiserver::inline v0::program
