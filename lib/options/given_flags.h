#pragma once

#include <string>

#include "apiserver/options/flag_set.h"

// Checks flags that only one kind of server supports: a standalone one, or one behind an
// aggregator. The other kind reports such a flag instead of ignoring it.
namespace apiserver::inline v0::options {

// Returns one line that says why a standalone server refuses one of `flags`. Empty: it accepts
// them, or the server is not standalone.
std::string ProblemOfClusterFlags(bool standalone, const Flags& flags);

// Returns one line that says why a server behind an aggregator refuses one of `flags`; `instead`
// names the alternative. Empty: it accepts them, or the server is standalone.
std::string ProblemOfStandaloneFlags(bool standalone, const Flags& flags,
                                     const std::string& instead);

}  // namespace apiserver::inline v0::options
