#include "apiserver/client/informer.h"

#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <variant>

#include "apiserver/base/sync.h"
#include "apiserver/meta/errors.h"

namespace apiserver::inline v0::client {
namespace {

using runtime::ObjectPtr;
using watch::Event;
using watch::EventType;
using Log = std::vector<std::string>;

constexpr std::chrono::seconds kPatience(60);

ObjectPtr Thing(const std::string& name, const std::string& version, const std::string& uid = "u") {
  static const runtime::KindPtr kind = runtime::Kind::Untyped({"g", "v1", "Thing"});
  auto object = std::make_unique<runtime::Object>(kind, "v1");
  object->Edit("metadata", "namespace") = "ns";
  object->Edit("metadata", "name") = name;
  object->Edit("metadata", "resourceVersion") = version;
  object->Edit("metadata", "uid") = uid;
  return object;
}

Event Changed(EventType type, const std::string& name, const std::string& version) {
  Event event;
  event.type = type;
  event.object = Thing(name, version);
  event.resource_version = version;
  return event;
}
Event Bookmark(const std::string& version, bool initial_end = false) {
  Event event;
  event.type = EventType::kBookmark;
  event.resource_version = version;
  event.initial_events_end = initial_end;
  return event;
}
Event Failed(Status error) {
  Event event;
  event.type = EventType::kError;
  event.error = std::move(error);
  return event;
}

// What the server does next: answers a list, refuses, or streams events. A stream that is not
// `open_end` ends after its events.
struct Watching {
  std::vector<Event> events;
  bool open_end = false;
};
using Act = std::variant<runtime::List, Status, Watching>;

runtime::List ListOf(std::vector<ObjectPtr> items, std::string version, std::string token = "") {
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
class ScriptedClient final : public Client {
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

  // What was asked so far.
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

struct InformerFixture {
  ScriptedClient client;
  Recorder recorder;
  std::unique_ptr<Informer> informer;

  explicit InformerFixture(std::deque<Act> script, bool watch_list = true,
                           InformerOptions options = {})
      : client(std::move(script)) {
    options.target = {.resource = {"g", "v1", "things"}, .namespace_ = "ns"};
    options.handlers = {recorder.handler()};
    options.watch_list = watch_list;
    options.backoff = std::chrono::milliseconds(1);
    options.backoff_max = std::chrono::milliseconds(2);
    informer = NewInformer(client, std::move(options));
    informer->Start();
  }
};

}  // namespace

TEST_CASE("client: an informer fills itself from the first events of a watch", "[client]") {
  InformerFixture f({Watching{
      .events = {Changed(EventType::kAdded, "b", "2"), Changed(EventType::kAdded, "a", "1"),
                 Bookmark("5", true), Changed(EventType::kModified, "a", "6"),
                 Changed(EventType::kDeleted, "b", "7"), Changed(EventType::kAdded, "c", "8")},
      .open_end = true}});

  CHECK(f.recorder.WaitFor(5) ==
        Log{"add a@1", "add b@2", "update a@1 to a@6", "delete b@7", "add c@8"});
  CHECK(f.informer->WaitForSync(kPatience));
  CHECK(f.informer->Get("ns", "a")->resource_version() == "6");
  CHECK(f.informer->Get("ns", "b") == nullptr);
  CHECK(f.informer->Get("other", "a") == nullptr);
  CHECK(f.client.asked() == Log{"watchlist rv="});
}

TEST_CASE("client: an informer keeps and tells what its transform makes", "[client]") {
  InformerOptions options;
  options.transform = [](const ObjectPtr& whole) {
    auto part = std::make_unique<runtime::Object>(whole->kind_ptr(), whole->version());
    for (const char* const member : {"namespace", "name", "resourceVersion", "uid"}) {
      part->Edit("metadata", member) = std::string(whole->metadata()[member].AsString());
    }
    part->Edit("metadata", "uid") = "transformed";
    return ObjectPtr(std::move(part));
  };
  std::deque<Act> acts;
  SECTION("of initial events") {
    acts = {Watching{.events = {Changed(EventType::kAdded, "a", "1"), Bookmark("5", true),
                                Changed(EventType::kModified, "a", "6")},
                     .open_end = true}};
  }
  SECTION("of lists and later events") {
    acts = {meta::NewInvalid({"meta.k8s.io", "ListOptions"}, "", {}),
            ListOf({Thing("a", "1")}, "5"),
            Watching{.events = {Changed(EventType::kModified, "a", "6")}, .open_end = true}};
  }
  InformerFixture f(std::move(acts), true, std::move(options));

  CHECK(f.recorder.WaitFor(2) == Log{"add a@1", "update a@1 to a@6"});
  CHECK(f.informer->Get("ns", "a")->uid() == "transformed");
}

TEST_CASE("client: an informer has not synced before the initial events have ended", "[client]") {
  InformerFixture f({Watching{.events = {Changed(EventType::kAdded, "a", "1"), Bookmark("3")},
                              .open_end = true}});

  CHECK_FALSE(f.informer->WaitForSync(std::chrono::milliseconds(20)));
  CHECK_FALSE(f.informer->HasSynced());
  CHECK(f.informer->List().empty());
}

TEST_CASE("client: an informer lists where the server refuses initial events", "[client]") {
  InformerFixture f({meta::NewInvalid({"meta.k8s.io", "ListOptions"}, "", {}),
                     ListOf({Thing("a", "1")}, "4", "T"), ListOf({Thing("b", "2")}, "4"),
                     Watching{.events = {Changed(EventType::kAdded, "c", "5")}, .open_end = true}});

  CHECK(f.recorder.WaitFor(3) == Log{"add a@1", "add b@2", "add c@5"});
  CHECK(f.client.asked() == Log{"watchlist rv=", "list rv=0", "list rv= continue=T", "watch rv=4"});
}

TEST_CASE("client: an informer takes a watch up where the last one ended", "[client]") {
  InformerFixture f(
      {ListOf({}, "4"), Watching{.events = {Changed(EventType::kAdded, "a", "5")}},
       Watching{.events = {Bookmark("9")}}, Status(Reason::kServiceUnavailable, "connection lost"),
       Watching{.events = {Changed(EventType::kAdded, "b", "10")}, .open_end = true}},
      false);

  CHECK(f.recorder.WaitFor(2) == Log{"add a@5", "add b@10"});
  CHECK(f.client.asked() ==
        Log{"list rv=0", "watch rv=4", "watch rv=5", "watch rv=9", "watch rv=9"});
  f.informer->Stop();
  CHECK(f.informer->LastResourceVersion() == "10");
}

TEST_CASE("client: an informer whose watch has expired lists anew and tells what changed",
          "[client]") {
  const Status expired = meta::NewResourceExpired("too old");
  InformerFixture f(
      {ListOf({Thing("a", "1"), Thing("b", "2"), Thing("c", "3"), Thing("d", "3", "old")}, "4"),
       Watching{.events = {Failed(expired)}},
       ListOf({Thing("a", "1"), Thing("b", "7"), Thing("d", "8", "new"), Thing("e", "9")}, "9"),
       Watching{.events = {}, .open_end = true}},
      false);

  CHECK(f.recorder.WaitFor(9) == Log{"add a@1", "add b@2", "add c@3", "add d@3", "delete c@3",
                                     "update b@2 to b@7", "delete d@3", "add d@8", "add e@9"});
  CHECK(f.client.asked()[2] == "list rv=");
}

TEST_CASE("client: an informer keeps trying while the server is away", "[client]") {
  const Status away(Reason::kServiceUnavailable, "connection refused");
  InformerFixture f({away, away, away, ListOf({Thing("a", "1")}, "4")}, false);

  CHECK(f.recorder.WaitFor(1) == Log{"add a@1"});
  CHECK(f.informer->WaitForSync(kPatience));
}

TEST_CASE("client: an informer starts over when a watch ends before the list is whole",
          "[client]") {
  InformerFixture f({Watching{.events = {Changed(EventType::kAdded, "a", "1")}},
                     Watching{.events = {Changed(EventType::kAdded, "b", "2"), Bookmark("3", true)},
                              .open_end = true}});

  CHECK(f.recorder.WaitFor(1) == Log{"add b@2"});
}

TEST_CASE("client: a stopped informer has no thread and keeps what it knew", "[client]") {
  InformerFixture f({ListOf({Thing("a", "1")}, "4")}, false);
  REQUIRE(f.informer->WaitForSync(kPatience));

  f.informer->Stop();
  f.informer->Stop();

  CHECK(f.informer->List().size() == 1);
}

// What a log was told.
class Told final : public LogSink {
 public:
  bool Enabled(LogLevel) const override { return true; }
  void Write(LogLevel, std::string_view message, std::span<const LogField>) override {
    lines_.Lock()->emplace_back(message);
  }
  Log lines() const { return *lines_.Lock(); }

 private:
  Guarded<Log> lines_;
};

TEST_CASE("client: that an informer is stopped is no line of the log", "[client]") {
  struct Row {
    std::deque<Act> script;
    bool watch_list;
    std::string during;
  };
  const Act silence = Watching{.events = {}, .open_end = true};
  for (const Row& row : {Row{{silence}, false, "list rv=0"}, Row{{silence}, true, "watchlist rv="},
                         Row{{ListOf({}, "4"), silence}, false, "watch rv=4"}}) {
    CAPTURE(row.during);
    Told told;
    ScriptedClient client(row.script);
    InformerOptions options;
    options.watch_list = row.watch_list;
    options.log = &told;
    const auto informer = NewInformer(client, options);
    informer->Start();
    REQUIRE(client.AwaitAsked(row.during));

    informer->Stop();

    CHECK(told.lines().empty());
  }
  Told told;
  ScriptedClient client(
      {Status(Reason::kServiceUnavailable, "connection refused"), ListOf({}, "4")});
  InformerOptions options;
  options.watch_list = false;
  options.backoff = std::chrono::milliseconds(1);
  options.log = &told;
  const auto informer = NewInformer(client, options);
  informer->Start();
  REQUIRE(informer->WaitForSync(kPatience));
  CHECK(told.lines() == Log{"informer: starting over"});
}

}  // namespace apiserver::inline v0::client
