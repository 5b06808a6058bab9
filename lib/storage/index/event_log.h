#pragma once  // Library-internal: other rooms include this header.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"
#include "storage/index/wait_list.h"

namespace apiserver::inline v0::storage::index {

// A log of events in revision order, from some revision on. One writer appends and trims; any
// number of cursors read at their own pace, hold no events while they wait, and are woken in
// groups.
//
// `Entry` is a cheap handle. `Access` has two static functions: `std::int64_t Revision(const
// Entry&)` and `std::string_view Key(const Entry&)`. All methods may be called from any thread; the
// writer's methods only one at a time.
template <class Entry, class Access>
class EventLog : public std::enable_shared_from_this<EventLog<Entry, Access>> {
 public:
  using Revision = std::int64_t;
  class Cursor;

  // Returns the log of a store that is at `revision`: it holds every later event.
  static std::shared_ptr<EventLog> New(Revision revision, Revision floor) {
    return std::shared_ptr<EventLog>(new EventLog(revision, floor));
  }

  // Adds events of ascending revisions, marks all up to `revision` as present, and wakes the
  // cursors whose prefix is concerned. The others are woken by WakeBehind().
  void Append(std::span<const Entry> entries, Revision revision);
  // Forgets events below `floor`: a cursor that still needs one ends with kTrimmed. Whole segments
  // are freed; an event below the floor is never read again in any case.
  void TrimBelow(Revision floor);
  // Ends all cursors with kClosed.
  void Close();
  // Wakes the waiting cursors that have not been told of the current revision.
  void WakeBehind();

  // Returns a cursor over the events from revision `from` on whose key begins with `prefix`, whose
  // text must outlive it.
  std::unique_ptr<Cursor> NewCursor(std::string_view prefix, Revision from);

  Revision revision() const { return state_.Lock()->place.next_revision - 1; }
  Revision floor() const { return state_.Lock()->floor; }
  // Returns the number of events that are kept.
  std::size_t size() const;

 private:
  // Events are written before a reader may know of them (State::place) and never changed after.
  static constexpr std::size_t kSegmentEvents = 64;
  struct Segment {
    std::array<Entry, kSegmentEvents> entries;
  };
  struct State {
    std::deque<std::shared_ptr<Segment>> segments;
    std::uint64_t first = 0;  // The place of segments[0][0].
    LogPlace place;           // The end.
    Revision floor = 0;       // Events with a revision >= this are there.
    bool closed = false;
    WaitList waiting;

    const Entry& At(std::uint64_t at) const {
      return segments[(at - first) / kSegmentEvents]->entries[(at - first) % kSegmentEvents];
    }
    // Returns the place of the first event whose revision is not below `revision`, or the end.
    std::uint64_t Seek(Revision revision) const;
  };

  EventLog(Revision revision, Revision floor) {
    auto state = state_.Lock();
    state->place.next_revision = revision + 1;
    state->floor = floor;
  }

  Guarded<State> state_;
};

// Reads one log from one place on. Not thread-safe: one reader.
template <class Entry, class Access>
class EventLog<Entry, Access>::Cursor {
 public:
  enum class State : std::uint8_t {
    kEvents,   // Events were visited, or `complete_up_to` has grown.
    kWait,     // Nothing new; the waker is used once there is.
    kTrimmed,  // The next event has been forgotten. Final, as kClosed is.
    kClosed,
  };
  struct Read {
    State state;
    // All events of the prefix up to this revision have been visited, now or before.
    Revision complete_up_to = 0;
  };

  ~Cursor() { log_->state_.Lock()->waiting.Remove(waiter_); }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  // Calls `visit(const Entry&)` for up to `events_max` events, more only so as not to split a
  // revision. Never waits. An empty `waker` is not registered.
  template <class Visit>
  Read Next(std::size_t events_max, const Waker& waker, Visit visit);

  // Returns the least revision that has not been visited or passed.
  Revision next_revision() const {
    auto state = log_->state_.Lock();
    return waiter_.place.next_revision;
  }

 private:
  friend class EventLog;
  struct Piece {
    std::shared_ptr<const Segment> segment;
    std::uint64_t begin = 0;  // Within the log.
    std::uint64_t end = 0;    // The end of the readable part; at most the segment's.
    std::uint64_t first = 0;  // The place of the segment's first event.
  };

  Cursor(std::shared_ptr<EventLog> log, std::string_view prefix) : log_(std::move(log)) {
    waiter_.prefix = prefix;
  }
  // Returns the next piece to read; none at the end, or with `refused` set to the result of Next().
  std::optional<Piece> NextPiece(const Waker* waker, std::optional<Read>& refused);
  // Moves to `at`; `last` is the revision of the event before it.
  void MoveTo(std::uint64_t at, Revision last);

  std::shared_ptr<EventLog> log_;
  Waiter waiter_;
  Revision from_ = 0;
  Revision reported_ = 0;  // The last complete_up_to.
};

template <class Entry, class Access>
std::uint64_t EventLog<Entry, Access>::State::Seek(Revision revision) const {
  std::uint64_t low = first;
  std::uint64_t high = place.events;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (Access::Revision(At(middle)) < revision) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

template <class Entry, class Access>
std::size_t EventLog<Entry, Access>::size() const {
  auto state = state_.Lock();
  return static_cast<std::size_t>(state->place.events - state->Seek(state->floor));
}

template <class Entry, class Access>
void EventLog<Entry, Access>::Append(std::span<const Entry> entries, Revision revision) {
  std::vector<Waker> wakers;
  {
    auto state = state_.Lock();
    for (const Entry& entry : entries) {
      const std::uint64_t offset = state->place.events - state->first;
      if (offset == state->segments.size() * kSegmentEvents) {
        state->segments.push_back(std::make_shared<Segment>());
      }
      state->segments.back()->entries[offset % kSegmentEvents] = entry;
      ++state->place.events;
    }
    state->place.next_revision = revision + 1;
    if (!state->waiting.empty()) {
      std::vector<std::string_view> keys;
      keys.reserve(entries.size());
      for (const Entry& entry : entries) keys.push_back(Access::Key(entry));
      state->waiting.TakeMatching(keys, state->place, wakers);
    }
  }
  Waker::WakeAll(wakers);
}

template <class Entry, class Access>
void EventLog<Entry, Access>::TrimBelow(Revision floor) {
  std::vector<std::shared_ptr<Segment>> freed;  // Destroyed after the lock is released.
  auto state = state_.Lock();
  state->floor = std::max(state->floor, floor);
  const std::uint64_t keep = state->Seek(state->floor);
  // The last segment stays, full or not: Append() goes on in it.
  while (state->segments.size() > 1 && state->first + kSegmentEvents <= keep) {
    freed.push_back(std::move(state->segments.front()));
    state->segments.pop_front();
    state->first += kSegmentEvents;
  }
}

template <class Entry, class Access>
void EventLog<Entry, Access>::Close() {
  std::vector<Waker> wakers;
  {
    auto state = state_.Lock();
    state->closed = true;
    state->waiting.TakeAll(wakers);
  }
  Waker::WakeAll(wakers);
}

template <class Entry, class Access>
void EventLog<Entry, Access>::WakeBehind() {
  std::vector<Waker> wakers;
  state_.Lock()->waiting.TakePassed(wakers);
  Waker::WakeAll(wakers);
}

template <class Entry, class Access>
auto EventLog<Entry, Access>::NewCursor(std::string_view prefix, Revision from)
    -> std::unique_ptr<Cursor> {
  std::unique_ptr<Cursor> cursor(new Cursor(this->shared_from_this(), prefix));
  auto state = state_.Lock();
  cursor->waiter_.place = {state->Seek(from), from};
  cursor->from_ = from;
  cursor->reported_ = from - 1;
  return cursor;
}

template <class Entry, class Access>
auto EventLog<Entry, Access>::Cursor::NextPiece(const Waker* waker, std::optional<Read>& refused)
    -> std::optional<Piece> {
  auto state = log_->state_.Lock();
  LogPlace& place = waiter_.place;
  // A waiting cursor may have been moved on, but not yet to a revision in the future.
  place.next_revision = std::max(from_, place.next_revision);
  const bool trimmed = place.next_revision < state->floor;
  if (state->closed || trimmed) {
    refused = Read{state->closed ? Cursor::State::kClosed : Cursor::State::kTrimmed, reported_};
    return std::nullopt;
  }
  // Events trimmed since its last look lie before `from_`, which was in the future then.
  if (place.events < state->first) place.events = state->Seek(place.next_revision);
  if (place.events >= state->place.events) {
    place.next_revision = std::max(from_, state->place.next_revision);
    const bool news = state->place.next_revision - 1 > reported_;
    if (news) reported_ = state->place.next_revision - 1;
    refused = Read{news ? Cursor::State::kEvents : Cursor::State::kWait, reported_};
    if (waker != nullptr && !news && !waker->empty()) {
      waiter_.passed = false;
      state->waiting.Add(waiter_, *waker);
    }
    return std::nullopt;
  }
  state->waiting.Remove(waiter_);
  const std::uint64_t index = (place.events - state->first) / kSegmentEvents;
  Piece piece;
  piece.segment = state->segments[index];
  piece.first = state->first + index * kSegmentEvents;
  piece.begin = place.events;
  piece.end = std::min(piece.first + kSegmentEvents, state->place.events);
  return piece;
}

template <class Entry, class Access>
template <class Visit>
auto EventLog<Entry, Access>::Cursor::Next(std::size_t events_max, const Waker& waker, Visit visit)
    -> Read {
  std::size_t visited = 0;
  Revision last = 0;  // The revision of the last event visited.
  for (;;) {
    std::optional<Read> refused;
    auto piece = NextPiece(visited == 0 ? &waker : nullptr, refused);
    if (!piece) {
      // The visited events are handed over first; the next call reports the end.
      if (visited > 0) return {State::kEvents, reported_ = std::max(reported_, last)};
      return *refused;
    }
    std::uint64_t at = piece->begin;
    Revision passed = 0;
    for (; at < piece->end; ++at) {
      const Entry& entry = piece->segment->entries[at - piece->first];
      const Revision revision = Access::Revision(entry);
      if (visited >= events_max && revision > last) break;
      passed = revision;
      if (revision < from_ || !Access::Key(entry).starts_with(waiter_.prefix)) continue;
      visit(entry);
      ++visited;
      last = revision;
    }
    MoveTo(at, passed);
    if (at < piece->end) return {State::kEvents, reported_ = std::max(reported_, last)};
  }
}

template <class Entry, class Access>
void EventLog<Entry, Access>::Cursor::MoveTo(std::uint64_t at, Revision last) {
  auto state = log_->state_.Lock();
  LogPlace& place = waiter_.place;
  place.events = at;
  if (at == state->place.events) {
    place.next_revision = std::max(from_, state->place.next_revision);
  } else if (at >= state->first) {
    place.next_revision = std::max(from_, Access::Revision(state->At(at)));
  } else {
    // The next event has been trimmed; it may be of this revision.
    place.next_revision = std::max(from_, last);
  }
}

}  // namespace apiserver::inline v0::storage::index
