#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::controller {

// The object that an event is about: k8s.io/api/core/v1.ObjectReference.
struct ObjectReference {
  std::string api_version;  // "v1", "apps/v1".
  std::string kind;
  std::string namespace_ = {};  // Empty: the object belongs to the whole cluster.
  std::string name;
  std::string uid = {};
  std::string resource_version = {};
  std::string field_path = {};  // "spec.containers{web}": a part of the object. Empty: all of it.
};

// Returns the reference to `object`: k8s.io/client-go/tools/reference.GetReference.
ObjectReference ReferenceTo(const runtime::Object& object);

// The type of an event: kWarning if somebody should look after it.
enum class EventType : std::uint8_t { kNormal, kWarning };

// Options of an EventRecorder. Pointers must outlive it. The defaults are those of client-go.
struct EventRecorderOptions {
  client::Client* client = nullptr;  // Required. It must return when the context of a call is done.
  // The reporter: source.component and reportingComponent. Required.
  std::string component;
  // The machine or pod: source.host and reportingInstance. Empty: not told.
  std::string host = {};

  // The events that wait to be sent. One more is dropped.
  std::size_t queue_max = 1000;
  // The events of one type about one object that are sent at once, and how many a second follow.
  // More are dropped.
  double burst = 25;
  double per_second = 1.0 / 300;
  // Events that differ by their message alone become one, "(combined from similar events): …", from
  // the aggregate_after-th on, until aggregate_interval has passed without one.
  std::size_t aggregate_after = 10;
  std::chrono::nanoseconds aggregate_interval = std::chrono::minutes(10);
  // The events, and the objects, that are remembered to count them. The least recent are forgotten.
  std::size_t cache_max = 4096;
  // The most tries to send an event to a server that is unreachable or overloaded, and the time
  // between; the first wait is shorter at random.
  int tries_max = 12;
  std::chrono::nanoseconds retry_period = std::chrono::seconds(10);
  // The time that Stop() has for what waits. The rest is dropped.
  std::chrono::nanoseconds flush_timeout = std::chrono::seconds(5);

  // Counts event_recorder_events_total by component and result: created, patched, or why it was
  // dropped: queue_full, spam, refused, unreachable, stopped. Null: nothing is counted.
  metrics::Registry* metrics = nullptr;
  LogSink* log = &NullLogSink();
  // The time of events and of their limits. Waits use the machine's clock.
  const Clock* clock = &RealClock();
};

// Records what a controller does as events (v1) of the objects concerned, which `kubectl describe`
// and `kubectl events` show: k8s.io/client-go/tools/record. One thread sends them in order.
//
//   events->Event(*pet, controller::EventType::kNormal, "Fed", "ate two mice");
//
// An event that has happened before, with the same text, is not created again but counted: its
// count, time and message are patched.
//
// All methods may be called from any thread; only Stop() waits.
class EventRecorder {
 public:
  virtual ~EventRecorder() = default;  // Stops.

  // Queues an event about `about`, in its namespace, or in `default` if it has none. Never waits:
  // if the queue is full, or the recorder stopped, the event is dropped and counted. `reason` is
  // one word in UpperCamelCase, for programs; `message` is for people.
  virtual void Event(ObjectReference about, EventType type, std::string reason, std::string message,
                     std::map<std::string, std::string> annotations) = 0;
  // The same, without annotations.
  void Event(ObjectReference about, EventType type, std::string reason, std::string message) {
    Event(std::move(about), type, std::move(reason), std::move(message), {});
  }
  void Event(const runtime::Object& about, EventType type, std::string reason,
             std::string message) {
    Event(ReferenceTo(about), type, std::move(reason), std::move(message), {});
  }
  // Sends what waits, each event once, for as long as flush_timeout, and drops the rest.
  // Idempotent. Blocks.
  virtual void Stop() = 0;
  // Returns how many events were dropped, for whatever reason.
  virtual std::uint64_t dropped() const = 0;
};

// Makes a recorder and starts its thread. kInvalid: a required option is missing.
Result<std::unique_ptr<EventRecorder>> NewEventRecorder(EventRecorderOptions options);

}  // namespace apiserver::inline v0::controller
