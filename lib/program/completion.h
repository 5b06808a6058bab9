#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/program/run_standalone.h"
#include "program/cli_flags.h"

namespace apiserver::inline v0::program {

// Returns the script that completes the commands, flags and values of the program `name` in
// `shell`: bash, zsh or fish. kInvalid: another shell.
Result<std::string> Completion(std::string_view shell, const std::string& name,
                               const std::vector<FlagText>& flags);

// Runs the command `completion SHELL`, which prints the script. `argv` begins with the command.
// Returns the exit code.
int CompletionMain(int argc, const char* const* argv, const Program& program);

}  // namespace apiserver::inline v0::program
