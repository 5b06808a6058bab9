#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::faults {

using storage::kv::Revision;

// What writers were about to write and what was acknowledged, in memory that may be shared with the
// process that verifies: so that it outlives a writer that is killed. Every writer has its own part
// of it and its own keys.
class History {
 public:
  static constexpr std::size_t kWriters = 8;
  enum class Kind : std::uint8_t { kNone, kPut, kDelete };
  enum class Outcome : std::uint8_t { kUnknown, kAcknowledged, kRefused };
  struct Entry {
    std::atomic<Kind> kind = Kind::kNone;  // Set last: from then on the rest counts.
    std::atomic<Outcome> outcome = Outcome::kUnknown;
    std::uint16_t slot = 0;  // Which of the writer's keys.
    std::atomic<Revision> revision = 0;
  };

  // Room for so many writes of each writer. `file`: shared with whoever opens the same; empty: not.
  explicit History(std::size_t writes_max, const std::string& file = "");
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // Null: it is full.
  Entry* Begin(std::size_t writer, std::uint16_t slot, Kind kind);
  std::size_t Index(std::size_t writer, const Entry* entry) const;
  // Null: no such write was begun.
  const Entry* Find(std::size_t writer, std::size_t index) const;
  std::size_t acknowledged() const;
  void Clear();

 private:
  Entry* Part(std::size_t writer) const { return entries_ + writer * writes_max_; }

  const std::size_t writes_max_;
  Entry* entries_ = nullptr;
  std::size_t next_[kWriters] = {};
};

std::string KeyOf(std::size_t writer, std::uint16_t slot);
// Different for all writes; of very different sizes.
std::string ValueOf(std::uint64_t life, std::size_t writer, std::size_t index);

// What a store holds.
struct Contents {
  struct Change {
    std::string key;
    std::optional<std::string> value;  // None: it was deleted.
  };
  Revision revision = 1;
  std::map<Revision, Change> log;  // Empty for stores that have none.
  bool has_log = true;
  std::map<std::string, std::string> state;
};
Result<Contents> Read(storage::kv::Engine& engine);

// What is known of a store: what Verify() saw last.
struct Known {
  Revision revision = 1;
  std::map<std::string, std::string> state;
};

// What is wrong with `found`, which `history` of the life numbered `life` has made of `known`;
// empty: nothing. Then `known` becomes what was found.
//
// Every acknowledged write is there, at its revision; revisions are new and, in the log, gapless;
// each key is as its last acknowledged write left it, or as an unanswered later one did; the log
// says what the state is; nothing is there that nobody wrote.
std::string Verify(const Contents& found, const History& history, std::uint64_t life, Known& known);

}  // namespace apiserver::inline v0::faults
