#pragma once  // Library-internal: other rooms include this header.

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/meta/watch.h"
#include "apiserver/storage/interface.h"

// The parts that watches of the store and of the cache share.
namespace apiserver::inline v0::storage {

// The predicate of a watch, which keeps it for hours. Null: it selects everything, as most do.
using KeptPredicate = std::unique_ptr<const SelectionPredicate>;
KeptPredicate Keep(const SelectionPredicate& predicate);

// One change of one key. Its members must outlive the call that it is given to.
struct Change {
  const runtime::ObjectPtr& now;     // Null: the object was deleted.
  const runtime::ObjectPtr& before;  // Null: the object was created.
  const std::string& resource_version;
};
// Turns changes into the events that a watch with a predicate sees. An object that ceases to match
// is deleted for the watcher, one that begins to match is added.
//
// If objects must be converted to be selected by, and the kind's converter may wait, changes are
// kept until Flush(), which converts all of their objects in one call.
class EventMaker {
 public:
  // `predicate` must outlive it. Null: it selects everything.
  EventMaker(const runtime::Kind& kind, const SelectionPredicate* predicate);

  // Appends the event, if there is one. Errors are those of runtime::Convert; nothing is appended
  // then.
  Status Add(const Context& ctx, const Change& change, std::vector<watch::Event>& events);
  // Appends the events of the kept changes. Call it after the last Add() of a turn.
  Status Flush(const Context& ctx, std::vector<watch::Event>& events);
  std::size_t kept() const { return kept_.size(); }

 private:
  struct Kept {
    runtime::ObjectPtr now;
    runtime::ObjectPtr before;
    std::string resource_version;
  };

  const SelectionPredicate* const predicate_;
  const bool together_;
  std::vector<Kept> kept_;
};

watch::Event NewBookmark(std::string resource_version, bool initial_events_end);
watch::Event NewErrorEvent(Status error);

// The times at which a watch is due for a bookmark: once per interval, and once shortly before it
// ends.
class BookmarkTimes {
 public:
  static constexpr std::chrono::seconds kBeforeDeadline = std::chrono::seconds(2);

  BookmarkTimes(std::chrono::nanoseconds interval, std::optional<Clock::Monotonic> deadline)
      : interval_(interval), deadline_(deadline.value_or(Clock::Monotonic::max())) {}

  Clock::Monotonic next() const { return next_; }
  // Sets the time of the first bookmark, or of the one after that which was just sent.
  void Schedule(Clock::Monotonic now);

 private:
  std::chrono::nanoseconds interval_;
  Clock::Monotonic deadline_;
  Clock::Monotonic next_ = {};
};

}  // namespace apiserver::inline v0::storage
