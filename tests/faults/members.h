#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "faults/members_clients.h"
#include "faults/members_history.h"

// A real etcd of three members, of which one after the other is killed or cut off, and clients that
// write and watch through all of it.
namespace apiserver::inline v0::faults {

struct MembersOptions {
  std::uint64_t seed = 1;
  std::size_t rounds = 3;  // One fault each.
  // No round begins later than so long after the first; zero: whenever it is. On a machine with
  // better things to do rounds take longer than their period.
  std::chrono::seconds time_max{0};
  std::chrono::milliseconds period = std::chrono::seconds(5);
  // A killed member is started again after so long at least, and a second later at most.
  std::chrono::milliseconds down = std::chrono::seconds(2);
  // In one round of six, instead of the kill, the clients' way to one member is cut for as long.
  bool partitions = true;
  std::size_t writers = 6;
  // A round does not end before so many writes were acknowledged: a run that does nothing must not
  // pass.
  std::size_t round_writes_min = 100;
  // Clients without a cache, an engine or a second try, each of one member, in place of ours.
  bool control = false;
  bool verbose = false;
};

struct MembersReport {
  MembersOptions options;
  std::size_t kills = 0;
  std::size_t partitions = 0;
  std::chrono::milliseconds took{0};
  MembersVerdict verdict;
  std::map<std::string, Scoreboard::Failures> failures;
  std::vector<std::chrono::milliseconds> outages;  // Sorted.
  std::string broken;  // Not empty: why the run could not be brought to its end.

  bool ok() const { return broken.empty() && verdict.violations() == 0; }
  // A table and the verdict.
  std::string ToString() const;
};

MembersReport RunMembers(const MembersOptions& options);

// What happens in one round.
struct MemberFault {
  enum class Kind : std::uint8_t { kKill, kBlackhole, kDropAnswers, kRefuse };
  Kind kind = Kind::kKill;
  std::size_t member = 0;
  std::chrono::milliseconds lasts{0};
};
// Every member has its turn in every three rounds.
std::vector<MemberFault> PlanFaults(const MembersOptions& options);

}  // namespace apiserver::inline v0::faults
