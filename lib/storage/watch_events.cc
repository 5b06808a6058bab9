#include "storage/watch_events.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "storage/look_into.h"

namespace apiserver::v0::storage {
namespace {

// Tells if a watcher saw the object before a change, and if it sees it now.
struct Seen {
  bool now = false;
  bool before = false;
};

void Append(watch::EventType type, const runtime::ObjectPtr& object,
            const std::string& resource_version, std::vector<watch::Event>& events) {
  watch::Event& event = events.emplace_back();
  event.type = type;
  event.object = object;
  event.resource_version = resource_version;
}

// An object that begins to match was never shown to this watcher, so its change is ADDED; one that
// ceases to match is DELETED, with its former content.
void AppendEvent(const Change& change, const Seen& seen, std::vector<watch::Event>& events) {
  if (seen.now) {
    const auto type = seen.before ? watch::EventType::kModified : watch::EventType::kAdded;
    Append(type, change.now, change.resource_version, events);
  } else if (seen.before) {
    Append(watch::EventType::kDeleted, change.before, change.resource_version, events);
  }
}

}  // namespace

KeptPredicate Keep(const SelectionPredicate& predicate) {
  if (predicate.empty()) return nullptr;
  return std::make_unique<const SelectionPredicate>(predicate);
}

EventMaker::EventMaker(const runtime::Kind& kind, const SelectionPredicate* predicate)
    : predicate_(predicate), together_(predicate != nullptr && LooksTogether(kind, *predicate)) {}

Status EventMaker::Add(const Context& ctx, const Change& change,
                       std::vector<watch::Event>& events) {
  if (together_) {
    kept_.push_back({change.now, change.before, change.resource_version});
    return {};
  }
  Seen seen{change.now != nullptr, change.before != nullptr};
  if (seen.now && predicate_ != nullptr) {
    ASSIGN_OR_RETURN(seen.now, MatchesOne(ctx, *predicate_, change.now));
  }
  if (seen.before && predicate_ != nullptr) {
    ASSIGN_OR_RETURN(seen.before, MatchesOne(ctx, *predicate_, change.before));
  }
  AppendEvent(change, seen, events);
  return {};
}

Status EventMaker::Flush(const Context& ctx, std::vector<watch::Event>& events) {
  if (kept_.empty()) return {};
  // The kept changes are given up even if conversion fails: the watch ends with that error.
  const std::vector<Kept> kept = std::exchange(kept_, {});
  std::vector<runtime::ObjectPtr> objects;
  for (const Kept& change : kept) {
    if (change.now != nullptr) objects.push_back(change.now);
    if (change.before != nullptr) objects.push_back(change.before);
  }
  ASSIGN_OR_RETURN(const std::vector<bool> matches, MatchAll(ctx, *predicate_, objects));
  std::size_t next = 0;
  for (const Kept& change : kept) {
    Seen seen;
    if (change.now != nullptr) seen.now = matches[next++];
    if (change.before != nullptr) seen.before = matches[next++];
    AppendEvent({change.now, change.before, change.resource_version}, seen, events);
  }
  return {};
}

watch::Event NewBookmark(std::string resource_version, bool initial_events_end) {
  watch::Event event;
  event.type = watch::EventType::kBookmark;
  event.resource_version = std::move(resource_version);
  event.initial_events_end = initial_events_end;
  return event;
}

watch::Event NewErrorEvent(Status error) {
  watch::Event event;
  event.type = watch::EventType::kError;
  event.error = std::move(error);
  return event;
}

void BookmarkTimes::Schedule(Clock::Monotonic now) {
  next_ = now + std::chrono::duration_cast<Clock::Monotonic::duration>(interval_);
  const Clock::Monotonic last = deadline_ - kBeforeDeadline;
  if (last > now) next_ = std::min(next_, last);
}

}  // namespace apiserver::v0::storage
