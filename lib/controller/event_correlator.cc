#include "controller/event_correlator.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace apiserver::v0::controller {
namespace {

// With an end after each part, so that no two keys are alike by accident.
std::string Key(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (const std::string_view part : parts) key.append(part).push_back('\0');
  return key;
}

// The source is the same for all events of a recorder. Upstream's getSpamKey.
std::string ObjectKey(const EventRecord& event) {
  const ObjectReference& about = event.about;
  return Key({about.kind, about.namespace_, about.name, about.uid, about.api_version, event.type});
}

}  // namespace

EventCorrelator::EventCorrelator(const EventRecorderOptions& options)
    : options_(options),
      groups_(options.cache_max),
      seen_(options.cache_max),
      budgets_(options.cache_max) {}

std::optional<EventRecord> EventCorrelator::Correlate(EventRecord event) {
  const std::string key = Aggregate(event);
  // Counts events that are not sent, too, as upstream does.
  Count(key, event);
  if (!Spend(event)) return std::nullopt;
  return event;
}

std::string EventCorrelator::Aggregate(EventRecord& event) {
  std::string group_key = Key({ObjectKey(event), event.reason});
  std::string event_key = Key({group_key, event.about.field_path, event.message});
  Group& group = groups_.Use(group_key);
  const Clock::Monotonic now = options_.clock->Now();
  if (now - group.last > options_.aggregate_interval) group.messages.clear();
  group.messages.insert(event.message);
  group.last = now;
  if (group.messages.size() < options_.aggregate_after) return event_key;
  // The group grows no further.
  group.messages.erase(group.messages.begin());
  event.message = "(combined from similar events): " + event.message;
  event.annotations.clear();
  return group_key;
}

void EventCorrelator::Count(const std::string& key, EventRecord& event) {
  Seen& seen = seen_.Use(key);
  if (seen.count++ == 0) {
    seen.name = event.name;
    seen.first_time = event.first_time;
    return;
  }
  event.name = seen.name;
  event.first_time = seen.first_time;
  event.count = seen.count;
}

bool EventCorrelator::Spend(const EventRecord& event) {
  Budget& budget = budgets_.Use(ObjectKey(event));
  const Clock::Monotonic now = options_.clock->Now();
  if (budget.tokens < 0) {
    budget.tokens = options_.burst;
  } else {
    const std::chrono::duration<double> elapsed = now - budget.last;
    budget.tokens = std::min(options_.burst, budget.tokens + elapsed.count() * options_.per_second);
  }
  budget.last = now;
  if (budget.tokens < 1) return false;
  budget.tokens -= 1;
  return true;
}

}  // namespace apiserver::v0::controller
