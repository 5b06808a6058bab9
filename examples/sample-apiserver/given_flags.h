#pragma once

#include <string>
#include <vector>

namespace CLI {
class Option;
}  // namespace CLI

namespace sample {

struct Options;

// Flags that mean something to one kind of server only: standalone, or behind an aggregator. To the
// other a flag that is given must not be lost without a word. As long as the CLI::App lives.
using Flags = std::vector<const CLI::Option*>;

// The name of the first that the command line gives; empty: none is given.
std::string FirstGiven(const Flags& flags);

// Why a standalone server refuses one of `flags`, in one line; empty: it does not, or the server is
// not standalone.
std::string ProblemOfClusterFlags(const Options& options, const Flags& flags);

// Why a server behind an aggregator refuses one of `flags`; `instead` says what it has in their
// place. Empty: it does not, or the server is standalone.
std::string ProblemOfStandaloneFlags(const Options& options, const Flags& flags,
                                     const std::string& instead);

}  // namespace sample
