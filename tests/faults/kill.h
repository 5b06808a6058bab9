#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "faults/outcome.h"

namespace apiserver::inline v0::faults {

struct KillOptions {
  std::uint64_t seed = 1;
  std::size_t rounds = 5;
  // Acknowledged writes before a kill, at least.
  std::size_t writes_min = 100;
  std::size_t writes_max = 1500;
  // The program whose `writer` command is run; see RunVictim().
  std::string program;
  // A seeded bug, which must be noticed; see WritersOptions.
  bool acknowledge_first = false;
  bool verbose = false;
};

// Starts a process that writes, kills it with SIGKILL at a random moment, now and then another one
// while it opens the store, and verifies what is left; on a real file system.
Outcome RunKills(const KillOptions& options);

struct VictimOptions {
  std::string store;
  std::string history;
  std::uint64_t seed = 0;
  std::uint64_t life = 0;
  bool keep_all = true;
  bool acknowledge_first = false;
  bool open_only = false;  // Writes nothing.
};
// What the process does that is killed; returns only if the store does not open or breaks.
int RunVictim(const VictimOptions& options);

}  // namespace apiserver::inline v0::faults
