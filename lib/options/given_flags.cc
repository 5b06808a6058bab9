#include "options/given_flags.h"

namespace apiserver::v0::options {

// `flags` are those of a group; the first one given is named.
std::string ProblemOfClusterFlags(bool standalone, const Flags& flags) {
  const std::string given = standalone ? FirstGiven(flags) : "";
  if (given.empty()) return "";
  return given +
         " is about a cluster, and a standalone server asks none: leave it out, or add "
         "--no-standalone";
}

std::string ProblemOfStandaloneFlags(bool standalone, const Flags& flags,
                                     const std::string& instead) {
  const std::string given = standalone ? "" : FirstGiven(flags);
  if (given.empty()) return "";
  return given + " is for a standalone server: with --no-standalone " + instead +
         "; leave it out, or leave out --no-standalone";
}

}  // namespace apiserver::v0::options
