#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/meta/watch.h"

// A record of what a storage's clients saw and of what its engine logged, and the check whether
// both agree. RunHistories() (histories.h) records histories; tests write some by hand.
//
// Moments are numbers from one counter: of two moments the smaller one came first. Every written
// value is a distinct number above zero; zero: none.
namespace apiserver::inline v0::testing::storage {

// The moment of an answer that never came.
constexpr std::int64_t kNever = INT64_MAX;

// A call about one key.
struct Operation {
  // A get here is a consistent one.
  enum class Verb : std::uint8_t { kCreate, kGet, kUpdate, kDelete };
  // The client's knowledge of the operation's effect.
  enum class Outcome : std::uint8_t {
    kOk,
    kFailed,   // It had no effect, for `reason`: kNotFound, kAlreadyExists, kConflict.
    kUnknown,  // It may have happened, or may still happen.
  };
  Verb verb = Verb::kGet;
  Outcome outcome = Outcome::kOk;
  Reason reason = Reason::kUnknown;
  std::string key;
  std::int64_t invoked = 0;
  std::int64_t returned = kNever;
  std::int64_t value = 0;  // The value written; of a get or delete: seen.
  std::int64_t uid = 0;    // The uid of the object written or seen; zero: not known.
  // The revision of the write; of a get: of the object seen. Zero: not known.
  std::int64_t revision = 0;
  std::int64_t based_on = 0;  // The revision that an update or delete was made from; zero: any.
  std::int64_t wanted_revision = 0;  // Preconditions; zero: none.
  std::int64_t wanted_uid = 0;
};

// An object in a list.
struct SeenObject {
  std::string key;
  std::int64_t revision = 0;
  std::int64_t value = 0;
};

// The objects that a list or watch selects.
struct Scope {
  std::string prefix;  // "": all; "even/": one namespace; with `exact` one key.
  bool exact = false;
  bool red_only = false;  // A selector.
};

// A list in one page or several, or a get that need not be consistent.
struct ReadRecord {
  // The guarantee that the read asked for.
  enum class Mode : std::uint8_t { kConsistent, kAny, kNotOlderThan, kExact };
  Mode mode = Mode::kConsistent;
  bool is_list = true;  // False: a get of scope.prefix, which returns no revision of its own.
  Scope scope;
  std::string start_key;   // The key to start from, inclusive.
  std::int64_t asked = 0;  // The requested revision, of kNotOlderThan and kExact.
  std::int64_t invoked = 0;
  std::int64_t returned = 0;
  Reason failure = Reason::kUnknown;  // kUnknown: it was answered.
  std::int64_t revision = 0;
  std::vector<SeenObject> items;
  bool complete = true;      // False: pages are missing at the end.
  bool one_revision = true;  // False: the pages had different revisions.
};

// An event that a watch delivered.
struct SeenEvent {
  watch::EventType type = watch::EventType::kAdded;
  std::string key;
  std::int64_t value = 0;
  std::int64_t revision = 0;         // The revision of the event, or of the bookmark.
  std::int64_t object_revision = 0;  // The revision of the object in it.
  // True for the bookmark at the end of the initial events.
  bool initial_events_end = false;
};

// A watch from its call to its end, with all its events.
struct WatchRecord {
  // The reason why the watch ended.
  enum class End : std::uint8_t {
    kClosed,   // The reader closed it.
    kEnded,    // The storage ended it without an error.
    kExpired,  // It ended with kExpired.
    kFailed,   // It ended with another error.
    kHung,     // Due events did not come.
  };
  Scope scope;
  std::int64_t after = 0;   // The requested revision; with initial events: not older than it.
  bool initial = false;     // If set, initial events and their end were requested.
  bool consistent = false;  // Initial events with the resource version "".
  std::int64_t invoked = 0;
  std::int64_t ended = 0;
  End end = End::kClosed;
  std::vector<SeenEvent> events;
};

// An entry of the engine's own log, which is the truth that all records are checked against.
struct LogEntry {
  std::int64_t revision = 0;
  std::string key;
  bool deleted = false;
  bool created = false;
  // True if the object had the label that red_only selects.
  bool red = false;
  std::int64_t value = 0;
  std::int64_t uid = 0;
  std::int64_t previous = 0;  // The revision of the key's previous entry.
};

// A compaction of the engine.
struct Compaction {
  std::int64_t moment = 0;  // Taken before the request.
  std::int64_t revision = 0;
};

// Everything recorded of one run.
struct History {
  std::vector<LogEntry> log;
  std::vector<Operation> operations;
  std::vector<ReadRecord> reads;
  std::vector<WatchRecord> watches;
  std::vector<Compaction> compactions;
};

// A broken promise. `property` names it as docs/testing.md does: "S5".
struct Violation {
  std::string property;
  std::string text;
};

// kUnknown: the search exceeded its limit of steps.
enum class Verdict : std::uint8_t { kLinearizable, kNotLinearizable, kUnknown };

// Searches an order of the operations, all about one key that is absent at first, in which each
// takes place between its call and its answer and sees what those before it left (Wing and Gong's
// search with Lowe's memory of configurations). kUnknown: not within `steps_max`. `stuck`, if not
// null: set to the operation that the longest order found could not be continued with.
Verdict CheckLinearizable(const std::vector<Operation>& operations,
                          std::size_t steps_max = 5'000'000, Operation* stuck = nullptr);

// Returns the broken promises of `history`: at most `violations_max`, and four of each property.
std::vector<Violation> CheckHistory(const History& history, std::size_t violations_max = 20);

}  // namespace apiserver::inline v0::testing::storage
