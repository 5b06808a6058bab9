#include "apiserver/controller/event_recorder.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <deque>
#include <utility>

#include "apiserver/base/random.h"
#include "apiserver/base/sync.h"
#include "apiserver/codec/json.h"
#include "apiserver/meta/time.h"
#include "apiserver/meta/validation.h"
#include "base/status_macros.h"
#include "controller/event_correlator.h"

namespace apiserver::v0::controller {
namespace {

using runtime::Object;
using std::chrono::nanoseconds;

// The resource of events, which both kubectl's commands read; those of events.k8s.io are the same
// objects in another form.
const runtime::GroupVersionResource& Resource() {
  static const runtime::GroupVersionResource resource{"", "v1", "events"};
  return resource;
}

std::string NamespaceOf(const EventRecord& event) {
  return event.about.namespace_.empty() ? "default" : event.about.namespace_;
}

// As util.GenerateEventName: the object's name and the time in nanoseconds.
std::string NameOf(const std::string& about, std::int64_t nanoseconds) {
  std::array<char, 16> digits;
  const auto end = std::to_chars(digits.begin(), digits.end(), nanoseconds, 16).ptr;
  std::string name = about + "." + std::string(digits.begin(), end);
  if (meta::NameIsDNSSubdomain(name, /*prefix=*/false).empty()) return name;
  return NewUuid(SecureRandom());
}

void FillReference(Object& event, const ObjectReference& about) {
  const auto fill = [&](const char* key, const std::string& text) {
    if (!text.empty()) event.Edit("involvedObject", key) = text;
  };
  fill("kind", about.kind);
  fill("namespace", about.namespace_);
  fill("name", about.name);
  fill("uid", about.uid);
  fill("apiVersion", about.api_version);
  fill("resourceVersion", about.resource_version);
  fill("fieldPath", about.field_path);
}

// True if the server may take the same event later.
bool MayRetry(Reason reason) {
  return reason == Reason::kServiceUnavailable || reason == Reason::kTimeout ||
         reason == Reason::kServerTimeout || reason == Reason::kTooManyRequests;
}

class QueuedRecorder final : public EventRecorder {
 public:
  explicit QueuedRecorder(EventRecorderOptions options)
      : options_(std::move(options)),
        correlator_(options_),
        ctx_(Context::Child(Context::Background())),
        sender_("events", [this] { Send(); }) {}
  ~QueuedRecorder() override { Stop(); }

  void Event(ObjectReference about, EventType type, std::string reason, std::string message,
             std::map<std::string, std::string> annotations) override;
  void Stop() override;
  std::uint64_t dropped() const override { return dropped_; }

 private:
  struct State {
    std::deque<EventRecord> queue;
    std::int64_t last_name = 0;  // In nanoseconds.
    bool stopped = false;
    Clock::Monotonic flush_until;  // Once stopped.
    bool done = false;             // The sender is.
  };

  void Send();
  void SendOne(EventRecord event);
  // Sends an event once, as a new one or as the count of one that was sent before.
  Status Write(EventRecord& event, const char** how);
  std::unique_ptr<Object> ObjectOf(const EventRecord& event) const;
  // Waits before another try. False: the recorder stops.
  bool Pause(int tries);
  void Drop(const char* why, const EventRecord& event, const std::string& detail = "");
  void Count(const char* result) {
    if (options_.metrics == nullptr) return;
    options_.metrics
        ->Counters({"event_recorder_events_total",
                    "Events of a recorder that were sent, or why they were dropped.",
                    {"component", "result"}})
        .With({options_.component, result})
        .Add();
  }

  const EventRecorderOptions options_;
  EventCorrelator correlator_;  // Of the sender.
  const Context ctx_;
  std::atomic<std::uint64_t> dropped_ = 0;
  Guarded<State> state_;
  Thread sender_;  // Last: it uses all others.
};

void QueuedRecorder::Event(ObjectReference about, EventType type, std::string reason,
                           std::string message, std::map<std::string, std::string> annotations) {
  EventRecord event{.about = std::move(about),
                    .type = type == EventType::kNormal ? "Normal" : "Warning",
                    .reason = std::move(reason),
                    .message = std::move(message),
                    .annotations = std::move(annotations)};
  event.first_time = event.last_time = meta::Timestamp(*options_.clock);
  const char* why = "stopped";
  {
    auto state = state_.Lock();
    if (!state->stopped && state->queue.size() < options_.queue_max) {
      // Two of one moment have names of their own, too.
      const nanoseconds now = options_.clock->WallNow().time_since_epoch();
      state->last_name = std::max<std::int64_t>(now.count(), state->last_name + 1);
      event.name = NameOf(event.about.name, state->last_name);
      state->queue.push_back(std::move(event));
      state_.NotifyAll();
      return;
    }
    if (!state->stopped) why = "queue_full";
  }
  Drop(why, event);
}

void QueuedRecorder::Stop() {
  {
    auto state = state_.Lock();
    if (!state->stopped) state->flush_until = RealClock().Now() + options_.flush_timeout;
    state->stopped = true;
    state_.NotifyAll();
    state.WaitUntil(state->flush_until, [&] { return state->done; });
  }
  ctx_.Cancel(Status(Reason::kTimeout, "the recorder was stopped"));
  sender_.Join();
}

void QueuedRecorder::Send() {
  for (;;) {
    EventRecord event;
    {
      auto state = state_.Lock();
      state.Wait([&] { return !state->queue.empty() || state->stopped; });
      if (state->queue.empty()) {
        state->done = true;
        return state_.NotifyAll();
      }
      event = std::move(state->queue.front());
      state->queue.pop_front();
    }
    if (ctx_.done()) {
      Drop("stopped", event);
    } else if (auto sent = correlator_.Correlate(event)) {
      SendOne(std::move(*sent));
    } else {
      Drop("spam", event);
    }
  }
}

void QueuedRecorder::SendOne(EventRecord event) {
  for (int tries = 1;; ++tries) {
    const char* how = "created";
    const Status written = Write(event, &how);
    if (written.ok()) return Count(how);
    if (ctx_.done()) return Drop("stopped", event, written.ToString());
    if (!MayRetry(written.reason())) return Drop("refused", event, written.ToString());
    if (tries >= options_.tries_max) return Drop("unreachable", event, written.ToString());
    if (!Pause(tries)) return Drop("stopped", event, written.ToString());
  }
}

Status QueuedRecorder::Write(EventRecord& event, const char** how) {
  client::Target target{.resource = Resource(), .namespace_ = NamespaceOf(event)};
  if (event.count > 1) {
    target.name = event.name;
    std::string patch = R"({"count":)" + std::to_string(event.count) + R"(,"lastTimestamp":")" +
                        event.last_time + R"(","message":)";
    codec::AppendJsonString(event.message, patch);
    const auto patched = options_.client->Patch(
        ctx_, target,
        {.media_type = "application/strategic-merge-patch+json", .text = std::move(patch) + "}"});
    *how = "patched";
    // It may have expired meanwhile.
    if (patched.ok() || patched.status().reason() != Reason::kNotFound) return patched.status();
    target.name.clear();
  }
  *how = "created";
  return options_.client->Create(ctx_, target, *ObjectOf(event)).status();
}

std::unique_ptr<Object> QueuedRecorder::ObjectOf(const EventRecord& event) const {
  static const runtime::KindPtr kind = runtime::Kind::Untyped({"", "v1", "Event"});
  auto object = std::make_unique<Object>(kind, "v1");
  object->Edit("metadata", "name") = event.name;
  object->Edit("metadata", "namespace") = NamespaceOf(event);
  for (const auto& [key, value] : event.annotations) {
    object->Edit("metadata", "annotations", key) = value;
  }
  FillReference(*object, event.about);
  object->Edit("reason") = event.reason;
  object->Edit("message") = event.message;
  object->Edit("source", "component") = options_.component;
  if (!options_.host.empty()) object->Edit("source", "host") = options_.host;
  object->Edit("firstTimestamp") = event.first_time;
  object->Edit("lastTimestamp") = event.last_time;
  object->Edit("count") = event.count;
  object->Edit("type") = event.type;
  object->Edit("reportingComponent") = options_.component;
  object->Edit("reportingInstance") = options_.host;
  return object;
}

bool QueuedRecorder::Pause(int tries) {
  nanoseconds wait = options_.retry_period;
  // So that the clients of a server that was away do not all come at once.
  if (tries == 1) wait = wait * static_cast<nanoseconds::rep>(SecureRandom().Below(1001)) / 1000;
  auto state = state_.Lock();
  return !state.WaitUntil(RealClock().Now() + wait, [&] { return state->stopped; });
}

void QueuedRecorder::Drop(const char* why, const EventRecord& event, const std::string& detail) {
  ++dropped_;
  Count(why);
  // A source that says too much must not fill the log, too.
  const bool usual = std::string_view(why) == "spam";
  Log(*options_.log, usual ? LogLevel::kDebug : LogLevel::kWarning, "event dropped",
      {{"why", why},
       {"object", event.about.kind + " " + event.about.namespace_ + "/" + event.about.name},
       {"reason", event.reason},
       {"message", event.message},
       {"error", detail}});
}

}  // namespace

ObjectReference ReferenceTo(const Object& object) {
  const runtime::GroupVersionKind gvk = object.gvk();
  return {.api_version = gvk.group_version().ToString(),
          .kind = gvk.kind,
          .namespace_ = std::string(object.namespace_()),
          .name = std::string(object.name()),
          .uid = std::string(object.uid()),
          .resource_version = std::string(object.resource_version())};
}

Result<std::unique_ptr<EventRecorder>> NewEventRecorder(EventRecorderOptions options) {
  if (options.client == nullptr) return Status(Reason::kInvalid, "client is required");
  if (options.component.empty()) return Status(Reason::kInvalid, "component is required");
  return std::make_unique<QueuedRecorder>(std::move(options));
}

}  // namespace apiserver::v0::controller
