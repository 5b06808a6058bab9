#pragma once  // Library-internal: other rooms include this header.

#include <chrono>
#include <optional>
#include <string>

#include "apiserver/meta/watch.h"
#include "apiserver/storage/interface.h"

// What watches of the store and of the cache have in common.
namespace apiserver::inline v0::storage {

// One change of one key.
struct Change {
  runtime::ObjectPtr now;     // Null: deleted.
  runtime::ObjectPtr before;  // Null: created.
  const std::string& resource_version;
};
// What a watch with `predicate` sees of it; nullopt: nothing. An object that ceases to match is
// deleted for the watcher, one that begins to match is added.
std::optional<watch::Event> EventOf(const Change& change, const SelectionPredicate& predicate);

watch::Event NewBookmark(std::string resource_version, bool initial_events_end);
watch::Event NewErrorEvent(Status error);

// When a watch is due for a bookmark: once per interval, and once shortly before it ends.
class BookmarkTimes {
 public:
  static constexpr std::chrono::seconds kBeforeDeadline = std::chrono::seconds(2);

  BookmarkTimes(std::chrono::nanoseconds interval, std::optional<Clock::Monotonic> deadline)
      : interval_(interval), deadline_(deadline) {}

  Clock::Monotonic next() const { return next_; }
  // The first one, or the one after one that was sent.
  void Schedule(Clock::Monotonic now);

 private:
  std::chrono::nanoseconds interval_;
  std::optional<Clock::Monotonic> deadline_;
  Clock::Monotonic next_ = {};
};

}  // namespace apiserver::inline v0::storage
