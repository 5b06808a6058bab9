#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/meta/watch.h"

// What clients of a storage saw, what its engine says it did, and whether the two agree. Histories
// are recorded by RunHistories() (histories.h) or written by hand.
//
// Moments are numbers that one counter gave out: of two moments the smaller one came first. Every
// value ever written is another number above zero; zero: none.
namespace apiserver::inline v0::testing::storage {

constexpr std::int64_t kNever = INT64_MAX;

// One call about one key.
struct Operation {
  enum class Verb : std::uint8_t { kCreate, kGet, kUpdate, kDelete };
  enum class Outcome : std::uint8_t {
    kOk,
    kFailed,   // It has had no effect, and `reason` says why: kNotFound, kAlreadyExists, kConflict.
    kUnknown,  // It may have happened, or may still happen.
  };
  Verb verb = Verb::kGet;
  Outcome outcome = Outcome::kOk;
  Reason reason = Reason::kUnknown;
  std::string key;
  std::int64_t invoked = 0;
  std::int64_t returned = kNever;
  std::int64_t value = 0;     // Written; of a get or delete: seen.
  std::int64_t uid = 0;       // Of the object written or seen; zero: not known.
  std::int64_t revision = 0;  // Of the write; of a get: of what it saw. Zero: not known.
  std::int64_t based_on = 0;  // Revision of what an update or delete was made from; zero: any.
  std::int64_t wanted_revision = 0;  // Preconditions; zero: none.
  std::int64_t wanted_uid = 0;
};

// One object in an answer.
struct SeenObject {
  std::string key;
  std::int64_t revision = 0;
  std::int64_t value = 0;
};

// Which objects a list or watch is about.
struct Scope {
  std::string prefix;  // "": all; "even/": one namespace; with `exact` one key.
  bool exact = false;
  bool red_only = false;  // A selector.
};

// A list, read in one page or several; or a get that need not be consistent.
struct ReadRecord {
  enum class Mode : std::uint8_t { kConsistent, kAny, kNotOlderThan, kExact };
  Mode mode = Mode::kConsistent;
  bool is_list = true;  // Else a get of scope.prefix, which tells no revision of its own.
  Scope scope;
  std::string start_key;   // Only keys from here on were asked for.
  std::int64_t asked = 0;  // Of kNotOlderThan and kExact.
  std::int64_t invoked = 0;
  std::int64_t returned = 0;
  Reason failure = Reason::kUnknown;  // kUnknown: it was answered.
  std::int64_t revision = 0;
  std::vector<SeenObject> items;
  bool complete = true;      // False: pages are missing at the end.
  bool one_revision = true;  // All pages carried the same.
};

struct SeenEvent {
  watch::EventType type = watch::EventType::kAdded;
  std::string key;
  std::int64_t value = 0;
  std::int64_t revision = 0;         // Of the event, or of the bookmark.
  std::int64_t object_revision = 0;  // Of the object in it.
  bool initial_events_end = false;
};

struct WatchRecord {
  enum class End : std::uint8_t {
    kClosed,   // By its reader.
    kEnded,    // By the storage, without a word.
    kExpired,  // With that error.
    kFailed,   // With another one.
    kHung,     // It told nothing of events that are due.
  };
  Scope scope;
  std::int64_t after = 0;   // Asked for; of a watch with initial events: not older than.
  bool initial = false;     // Asked for initial events and their end.
  bool consistent = false;  // Those with the resource version "".
  std::int64_t invoked = 0;
  std::int64_t ended = 0;
  End end = End::kClosed;
  std::vector<SeenEvent> events;
};

// One entry of the engine's own log: the truth.
struct LogEntry {
  std::int64_t revision = 0;
  std::string key;
  bool deleted = false;
  bool created = false;
  bool red = false;
  std::int64_t value = 0;
  std::int64_t uid = 0;
  std::int64_t previous = 0;  // Revision of what the key held before.
};

struct Compaction {
  std::int64_t moment = 0;  // Before it was asked for.
  std::int64_t revision = 0;
};

struct History {
  std::vector<LogEntry> log;
  std::vector<Operation> operations;
  std::vector<ReadRecord> reads;
  std::vector<WatchRecord> watches;
  std::vector<Compaction> compactions;
};

// One broken promise. `property` names it as docs/testing.md does: "S5".
struct Violation {
  std::string property;
  std::string text;
};

enum class Verdict : std::uint8_t { kLinearizable, kNotLinearizable, kUnknown };

// Whether there is an order of the operations, all about one key that is absent at first, in which
// each takes place between its call and its answer and sees what those before it left
// (Wing and Gong's search with Lowe's memory of configurations). kUnknown: not within `steps_max`.
// `stuck`, if not null: where the longest order that was found could not go on.
Verdict CheckLinearizable(const std::vector<Operation>& operations,
                          std::size_t steps_max = 5'000'000, Operation* stuck = nullptr);

// Everything that is wrong with `history`; at most `violations_max` are told, four
// of each property.
std::vector<Violation> CheckHistory(const History& history, std::size_t violations_max = 20);

}  // namespace apiserver::inline v0::testing::storage
