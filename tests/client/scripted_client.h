#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/client/informer.h"
#include "apiserver/meta/errors.h"

// A server that tests of informers write the script of, and a log of what handlers are told.
namespace apiserver::inline v0::client::scripted {

using runtime::ObjectPtr;
using watch::Event;
using watch::EventType;
using Log = std::vector<std::string>;

inline constexpr std::chrono::seconds kPatience(60);

inline ObjectPtr Thing(const std::string& name, const std::string& version,
                       const std::string& uid = "u") {
  static const runtime::KindPtr kind = runtime::Kind::Untyped({"g", "v1", "Thing"});
  auto object = std::make_unique<runtime::Object>(kind, "v1");
  object->Edit("metadata", "namespace") = "ns";
  object->Edit("metadata", "name") = name;
  object->Edit("metadata", "resourceVersion") = version;
  object->Edit("metadata", "uid") = uid;
  return object;
}

inline Event Changed(EventType type, const std::string& name, const std::string& version,
                     const std::string& uid = "u") {
  Event event;
  event.type = type;
  event.object = Thing(name, version, uid);
  event.resource_version = version;
  return event;
}
inline Event Bookmark(const std::string& version, bool initial_end = false) {
  Event event;
  event.type = EventType::kBookmark;
  event.resource_version = version;
  event.initial_events_end = initial_end;
  return event;
}
inline Event Failed(Status error) {
  Event event;
  event.type = EventType::kError;
  event.error = std::move(error);
  return event;
}

// The next act of the server: it answers a list, refuses, or streams events. A stream that is not
// `open_end` ends after its events.
struct Watching {
  std::vector<Event> events;
  bool open_end = false;
};
using Act = std::variant<runtime::List, Status, Watching>;

inline runtime::List ListOf(std::vector<ObjectPtr> items, std::string version,
                            std::string token = "") {
  runtime::List list;
  list.items = std::move(items);
  list.resource_version = std::move(version);
  list.continue_token = std::move(token);
  return list;
}

class ScriptedStream final : public WatchStream {
 public:
  explicit ScriptedStream(Watching script) : script_(std::move(script)) {}

  Result<std::optional<Event>> Next(const Context& ctx) override {
    if (next_ < script_.events.size()) return std::optional(script_.events[next_++]);
    if (!script_.open_end) return std::optional<Event>();
    Notification done;
    const auto registration = ctx.OnDone([&done] { done.Notify(); });
    done.Wait();
    return Status(Reason::kTimeout, "cancelled");
  }
  void Cancel() override {}

 private:
  const Watching script_;
  std::size_t next_ = 0;
};

// Plays a script, in order; past its end everything waits until it is cancelled.
class ScriptedClient : public Client {
 public:
  explicit ScriptedClient(std::deque<Act> script) : script_(std::move(script)) {}

  Result<runtime::List> List(const Context& ctx, const Target&,
                             const meta::ListOptions& options) override {
    Act act = Take("list rv=" + options.resource_version +
                   (options.continue_token.empty() ? "" : " continue=" + options.continue_token));
    if (auto* list = std::get_if<runtime::List>(&act)) return std::move(*list);
    if (auto* status = std::get_if<Status>(&act)) return *status;
    return ScriptedStream({.events = {}, .open_end = true}).Next(ctx).status();
  }
  Result<std::unique_ptr<WatchStream>> Watch(const Context&, const Target&,
                                             const meta::ListOptions& options) override {
    const bool initial = options.send_initial_events.value_or(false);
    Act act = Take((initial ? "watchlist rv=" : "watch rv=") + options.resource_version);
    if (auto* status = std::get_if<Status>(&act)) return *status;
    return std::make_unique<ScriptedStream>(std::get<Watching>(std::move(act)));
  }

  // The requests so far.
  Log asked() const { return *asked_.Lock(); }
  bool AwaitAsked(const std::string& last) {
    auto asked = asked_.Lock();
    return asked.WaitUntil(RealClock().Now() + kPatience,
                           [&] { return !asked->empty() && asked->back() == last; });
  }

  ObjectResult Get(const Context&, const Target&, const meta::GetOptions&) override {
    return Unused();
  }
  ObjectResult Create(const Context&, const Target&, const runtime::Object&,
                      const meta::CreateOptions&) override {
    return Unused();
  }
  ObjectResult Update(const Context&, const Target&, const runtime::Object&,
                      const meta::UpdateOptions&) override {
    return Unused();
  }
  ObjectResult Patch(const Context&, const Target&, const PatchBody&,
                     const meta::PatchOptions&) override {
    return Unused();
  }
  ObjectResult Delete(const Context&, const Target&, const meta::DeleteOptions&,
                      const meta::ListOptions&) override {
    return Unused();
  }
  Result<http::ClientResponse> Call(const Context&, http::ClientRequest) override {
    return Unused();
  }

 private:
  static Status Unused() { return meta::NewBadRequest("informers do not ask this"); }

  Act Take(std::string asked) {
    asked_.Lock()->push_back(std::move(asked));
    asked_.NotifyAll();
    if (script_.empty()) return Watching{.events = {}, .open_end = true};
    Act act = std::move(script_.front());
    script_.pop_front();
    return act;
  }

  std::deque<Act> script_;  // Of the informer's thread.
  Guarded<Log> asked_;
};

// Writes down what handlers are told; wakes whoever waits for a number of entries.
class Recorder {
 public:
  InformerHandler handler() {
    return {.on_add = [this](const ObjectPtr& object) { Write("add " + Text(object)); },
            .on_update =
                [this](const ObjectPtr& before, const ObjectPtr& now) {
                  Write("update " + Text(before) + " to " + Text(now));
                },
            .on_delete = [this](const ObjectPtr& object) { Write("delete " + Text(object)); }};
  }
  // The first `count` entries; fewer if they do not come in time.
  Log WaitFor(std::size_t count) {
    auto log = log_.Lock();
    log.WaitUntil(std::chrono::steady_clock::now() + kPatience,
                  [&] { return log->size() >= count; });
    return *log;
  }
  // The entries once `last` is the last of them, or after all patience.
  Log WaitForLast(const std::string& last) {
    auto log = log_.Lock();
    log.WaitUntil(std::chrono::steady_clock::now() + kPatience,
                  [&] { return !log->empty() && log->back() == last; });
    return *log;
  }
  Log all() const { return *log_.Lock(); }

 private:
  static std::string Text(const ObjectPtr& object) {
    return std::string(object->name()) + "@" + std::string(object->resource_version());
  }
  void Write(std::string entry) {
    log_.Lock()->push_back(std::move(entry));
    log_.NotifyAll();
  }
  Guarded<Log> log_;
};

}  // namespace apiserver::inline v0::client::scripted
