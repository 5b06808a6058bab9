#include "given_flags.h"

#include <CLI/CLI.hpp>

#include "options.h"

namespace sample {

std::string FirstGiven(const Flags& flags) {
  for (const CLI::Option* flag : flags) {
    if (flag->count() > 0) return flag->get_name();
  }
  return "";
}

std::string ProblemOfClusterFlags(const Options& options, const Flags& flags) {
  const std::string given = options.standalone ? FirstGiven(flags) : "";
  if (given.empty()) return "";
  return given +
         " is about a cluster, and a standalone server asks none: leave it out, or add "
         "--no-standalone";
}

std::string ProblemOfStandaloneFlags(const Options& options, const Flags& flags,
                                     const std::string& instead) {
  const std::string given = options.standalone ? "" : FirstGiven(flags);
  if (given.empty()) return "";
  return given + " is for a standalone server: with --no-standalone " + instead +
         "; leave it out, or leave out --no-standalone";
}

}  // namespace sample
