#pragma once

#include <string>
#include <vector>

#include "apiserver/program/run_standalone.h"
#include "program/cli_flags.h"

namespace apiserver::inline v0::program {

// Returns the manual page of a program, section 8, in the roff macros "man": man-pages(7).
std::string ManPage(const Program& program, const std::vector<FlagText>& flags);

// Runs the command `man`, which prints the page. Returns the exit code.
int ManMain(const Program& program);

}  // namespace apiserver::inline v0::program
