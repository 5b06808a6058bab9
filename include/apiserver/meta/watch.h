#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/object.h"

// Watches and their events: k8s.io/apimachinery/pkg/watch, but pulled instead of pushed.
namespace apiserver::inline v0::watch {

// The type of an event.
enum class EventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };
// Returns the word in watch events: "ADDED".
std::string_view EventTypeWord(EventType type);
// The inverse. nullopt: no such word.
std::optional<EventType> EventTypeFromWord(std::string_view word);

// One change. Cheap to copy: the object is shared by every watcher.
struct Event {
  EventType type = EventType::kAdded;
  // Null for bookmarks and errors. For a delete: the last state.
  runtime::ObjectPtr object;
  // The revision in the object on the wire. For a delete: the revision of the delete, which
  // `object` itself does not have. For a bookmark: the revision that the watch has reached.
  std::string resource_version;
  bool initial_events_end = false;  // kBookmark: carries the annotation.
  Status error;                     // kError.
};

// A running watch: a cursor and references, without a thread or queue of its own. Used by one
// thread at a time; may be destroyed on any.
class Stream {
 public:
  // The state of a stream after a call of Next().
  enum class State : std::uint8_t {
    kMore,  // There may be more at once.
    kWait,  // Nothing new; `waker` is woken when there may be.
    kEnd,   // Over. An error that ends it was delivered as an event before.
  };
  virtual ~Stream() = default;

  // Appends at most `events_max` events without waiting. Called on a loop, or on the pool for a
  // storage that does not answer inline, so it must not block. `waker` is kept until it is used
  // once; a later Next() replaces it.
  virtual State Next(std::vector<Event>& events, std::size_t events_max, const Waker& waker) = 0;
};

}  // namespace apiserver::inline v0::watch
