#include "storage/watch_events.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0::storage {
namespace {

watch::Event NewEvent(watch::EventType type, runtime::ObjectPtr object,
                      const std::string& resource_version) {
  watch::Event event;
  event.type = type;
  event.object = std::move(object);
  event.resource_version = resource_version;
  return event;
}

}  // namespace

std::optional<watch::Event> EventOf(const Change& change, const SelectionPredicate& predicate) {
  const bool all = predicate.empty();
  const bool now = change.now != nullptr && (all || predicate.Matches(*change.now));
  const bool before = change.before != nullptr && (all || predicate.Matches(*change.before));
  if (now) {
    return NewEvent(before ? watch::EventType::kModified : watch::EventType::kAdded, change.now,
                    change.resource_version);
  }
  if (before) {
    return NewEvent(watch::EventType::kDeleted, change.before, change.resource_version);
  }
  return std::nullopt;
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
  if (!deadline_) return;
  const Clock::Monotonic last = *deadline_ - kBeforeDeadline;
  if (last > now) next_ = std::min(next_, last);
}

}  // namespace apiserver::v0::storage
