#pragma once

#include <string>

#include "apiserver/options/flag_set.h"

// Flags that mean something to one kind of server only: standalone, or behind an aggregator. To the
// other a flag that is given must not be lost without a word.
namespace apiserver::inline v0::options {

// Why a standalone server refuses one of `flags`, in one line; empty: it does not, or the server is
// not standalone.
std::string ProblemOfClusterFlags(bool standalone, const Flags& flags);

// Why a server behind an aggregator refuses one of `flags`; `instead` says what it has in their
// place. Empty: it does not, or the server is standalone.
std::string ProblemOfStandaloneFlags(bool standalone, const Flags& flags,
                                     const std::string& instead);

}  // namespace apiserver::inline v0::options
