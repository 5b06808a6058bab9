#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/controller/event_recorder.h"
#include "controller/recent.h"

namespace apiserver::inline v0::controller {

// One event before it is an object.
struct EventRecord {
  ObjectReference about;
  std::string type;
  std::string reason;
  std::string message;
  std::map<std::string, std::string> annotations = {};
  std::string name = {};
  std::string first_time = {};
  std::string last_time = {};
  std::int64_t count = 1;  // More than 1: it exists, and is patched.
};

// Decides which events are sent, combined or counted: tools/record.EventCorrelator. Not
// thread-safe.
class EventCorrelator final {
 public:
  // `options` must outlive it.
  explicit EventCorrelator(const EventRecorderOptions& options);

  // Returns the event to send for `event`. nullopt: there have been too many about its object.
  std::optional<EventRecord> Correlate(EventRecord event);

 private:
  // The messages of events that are alike otherwise.
  struct Group {
    std::set<std::string> messages;
    Clock::Monotonic last;
  };
  // An event that was sent before.
  struct Seen {
    std::string name;
    std::string first_time;
    std::int64_t count = 0;
  };
  // The events that may still be sent about one object.
  struct Budget {
    double tokens = -1;  // Below zero: new.
    Clock::Monotonic last;
  };

  // Returns the key under which `event` is counted, and changes it into one for its group if that
  // has many messages.
  std::string Aggregate(EventRecord& event);
  void Count(const std::string& key, EventRecord& event);
  bool Spend(const EventRecord& event);

  const EventRecorderOptions& options_;
  Recent<Group> groups_;
  Recent<Seen> seen_;
  Recent<Budget> budgets_;
};

}  // namespace apiserver::inline v0::controller
