#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/storage/kv/engine.h"

// What clients of a cluster saw while its members came and went, and whether it is what the cluster
// says has happened. Recorded by RunMembers() (members.h) or written by hand.
namespace apiserver::inline v0::faults {

using storage::kv::Revision;

// A write of the log, as the cluster or a watch tells it.
struct Change {
  Revision revision = 0;
  std::string key;
  // Every value that is ever written is another number above zero. Zero: the key was deleted.
  std::int64_t value = 0;

  friend bool operator==(const Change&, const Change&) = default;
};

// A write as its client knows it; `change.revision` counts only when it was acknowledged.
struct MemberWrite {
  enum class Outcome : std::uint8_t {
    kAcknowledged,
    kRefused,  // It must not have happened: the key was there, was not, or was another.
    kUnknown,  // It may have happened.
  };
  Outcome outcome = Outcome::kUnknown;
  Change change;
};

// What one watch was told from revision 1 on, however often it had to be opened.
struct MemberWatch {
  std::string name;
  std::string prefix;
  std::vector<Change> changes;
  std::size_t resumes = 0;
  // Whether it goes on where it was; else what it misses is told but is no violation.
  bool resumes_where_it_was = true;
};

// What one member says when all is over.
struct MemberView {
  std::vector<Change> log;  // From revision 2 on, which is the first write.
  std::map<std::string, std::int64_t> state;
};

struct MembersHistory {
  std::vector<std::vector<MemberWrite>> writers;  // Each in the order in which it made them.
  std::vector<MemberView> members;                // At least one.
  std::vector<MemberWatch> watches;
  std::size_t lists = 0;  // Consistent ones that were answered.
  // Of those, how many were older than a write that was acknowledged before they were asked for.
  std::size_t stale_lists = 0;
};

struct WatchVerdict {
  std::string name;
  std::size_t events = 0;
  std::size_t resumes = 0;
  std::size_t gaps = 0;        // Revisions of its prefix that it was not told.
  std::size_t duplicates = 0;  // And that it was told again.
  std::size_t disordered = 0;  // Told after a later one.
  std::size_t wrong = 0;       // Told of what did not happen so.
  bool counts = true;          // As MemberWatch::resumes_where_it_was.
};

struct MembersVerdict {
  std::size_t acknowledged = 0;
  std::size_t refused = 0;
  std::size_t unknown = 0;
  std::size_t unknown_happened = 0;
  std::size_t lost = 0;        // Acknowledged, and not in the log as it was.
  std::size_t strange = 0;     // In the log, but nobody's write, refused, or a second time.
  std::size_t disordered = 0;  // Acknowledged at no later revision than its writer's one before.
  std::size_t disagreeing =
      0;  // Members whose log has holes, or is not their state or the others'.
  std::size_t lists = 0;
  std::size_t stale_lists = 0;
  std::vector<WatchVerdict> watches;
  std::string first_violation;

  std::size_t violations() const;
};

MembersVerdict Judge(const MembersHistory& history);

// The number in {"spec":{"size":7}}, however it is written around it; zero: there is none.
std::int64_t ValueIn(std::string_view bytes);

}  // namespace apiserver::inline v0::faults
