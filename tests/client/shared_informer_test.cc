// Tests that handlers of a shared informer are told everything, each at its own pace.
#include "apiserver/client/shared_informer.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "apiserver/base/sync.h"
#include "client/scripted_client.h"

namespace client_shared_test {
namespace {

using namespace apiserver;
using namespace apiserver::client;
using namespace apiserver::client::scripted;
using client::scripted::Log;
using std::chrono::milliseconds;

// A client whose watch gets its events from the test.
class PushedClient final : public ScriptedClient {
 public:
  PushedClient() : ScriptedClient({}) {}

  void Push(watch::Event event) {
    events_.Lock()->push_back(std::move(event));
    events_.NotifyAll();
  }
  void PushAdd(const std::string& name, const std::string& version, const std::string& uid = "u") {
    Push(Changed(EventType::kAdded, name, version, uid));
  }
  void PushUpdate(const std::string& name, const std::string& version) {
    Push(Changed(EventType::kModified, name, version));
  }
  void PushDelete(const std::string& name, const std::string& version,
                  const std::string& uid = "u") {
    Push(Changed(EventType::kDeleted, name, version, uid));
  }

  Result<std::unique_ptr<WatchStream>> Watch(const Context&, const Target&,
                                             const meta::ListOptions&) override {
    ++watches;
    return std::make_unique<Stream>(*this);
  }

  std::atomic<int> watches{0};

 private:
  class Stream final : public WatchStream {
   public:
    explicit Stream(PushedClient& client) : client_(client) {}
    Result<std::optional<watch::Event>> Next(const Context& ctx) override {
      const auto registration = ctx.OnDone([this] { client_.events_.NotifyAll(); });
      auto events = client_.events_.Lock();
      // The notice of the end may come before the wait.
      while (events->empty() && !ctx.done()) {
        events.WaitUntil(RealClock().Now() + milliseconds(5), [&] { return !events->empty(); });
      }
      if (events->empty()) return Status(Reason::kTimeout, "cancelled");
      watch::Event event = std::move(events->front());
      events->pop_front();
      return std::optional(std::move(event));
    }
    void Cancel() override {}

   private:
    PushedClient& client_;
  };

  Guarded<std::deque<watch::Event>> events_;
};

struct Shared {
  PushedClient client;
  std::unique_ptr<SharedInformer> informer;

  explicit Shared(SharedInformerOptions options = {}) {
    options.informer.target = {.resource = {"g", "v1", "things"}};
    informer = NewSharedInformer(client, std::move(options));
  }
  // Starts with the objects pushed so far.
  void Sync() {
    client.Push(Bookmark("1", true));
    informer->Start();
    REQUIRE(informer->WaitForSync(kPatience));
  }
  bool AwaitVersion(const std::string& name, const std::string& version) {
    const auto until = RealClock().Now() + kPatience;
    while (RealClock().Now() < until) {
      const ObjectPtr object = informer->Get("ns", name);
      if ((object ? object->resource_version() : "") == version) return true;
      Notification().WaitFor(milliseconds(1));
    }
    return false;
  }
};

// A handler that waits in its first call until it may go on.
struct Slow {
  Recorder recorder;
  Notification called;
  Notification may_go_on;

  InformerHandler handler() {
    InformerHandler told = recorder.handler();
    InformerHandler slow = told;
    slow.on_add = [this, told](const ObjectPtr& object) {
      called.Notify();
      may_go_on.Wait();
      told.on_add(object);
    };
    return slow;
  }
};

TEST_CASE("client: a slow handler stops neither the watch nor another handler", "[client]") {
  Shared f;
  Slow slow;
  Recorder fast;
  const auto one = f.informer->AddHandler(slow.handler());
  const auto other = f.informer->AddHandler(fast.handler());
  f.client.PushAdd("a", "1");
  f.Sync();
  slow.called.Wait();

  fast.WaitFor(1);
  f.client.PushUpdate("a", "2");
  fast.WaitFor(2);
  f.client.PushAdd("b", "3");
  fast.WaitFor(3);
  f.client.PushUpdate("a", "4");

  CHECK(fast.WaitFor(4) == Log{"add a@1", "update a@1 to a@2", "add b@3", "update a@2 to a@4"});
  CHECK(other->WaitForSync(kPatience));
  CHECK_FALSE(one->HasSynced());
  CHECK(f.informer->Get("ns", "a")->resource_version() == "4");

  // The slow one learns of a's two updates by one, from what it was told to the newest.
  slow.may_go_on.Notify();
  CHECK(slow.recorder.WaitFor(3) == Log{"add a@1", "update a@1 to a@4", "add b@3"});
  CHECK(one->WaitForSync(kPatience));
}

TEST_CASE("client: changes that wait for a handler are told as one of each object", "[client]") {
  Shared f;
  Slow slow;
  const auto registration = f.informer->AddHandler(slow.handler());
  f.client.PushAdd("a", "1");
  f.client.PushAdd("b", "2");
  f.Sync();
  slow.called.Wait();

  // The add of `b` waits: it has not been told.
  f.client.PushDelete("b", "3");
  f.client.PushAdd("come-and-gone", "4");
  f.client.PushDelete("come-and-gone", "5");
  f.client.PushDelete("a", "6");
  f.client.PushAdd("a", "7", "another");
  f.client.PushDelete("a", "8", "another");
  f.client.PushAdd("a", "9", "a third");
  f.client.PushAdd("last", "10");
  REQUIRE(f.AwaitVersion("last", "10"));
  slow.may_go_on.Notify();

  CHECK(slow.recorder.WaitFor(4) == Log{"add a@1", "delete a@6", "add a@9", "add last@10"});
  CHECK(slow.recorder.all().size() == 4);
}

TEST_CASE("client: a late handler gets what is there, then the changes", "[client]") {
  Shared f;
  f.client.PushAdd("a", "1");
  f.client.PushAdd("b", "2");
  f.Sync();
  Recorder late;

  const auto registration = f.informer->AddHandler(late.handler());
  CHECK(registration->WaitForSync(kPatience));
  CHECK(late.all() == Log{"add a@1", "add b@2"});
  f.client.PushUpdate("b", "3");
  CHECK(late.WaitFor(3).back() == "update b@2 to b@3");
  CHECK(f.client.watches == 1);
}

// Puts together what a handler was told, and notes whether each change fitted the last.
class Replica {
 public:
  InformerHandler handler() {
    return {.on_add =
                [this](const ObjectPtr& now) {
                  if (!state_.Lock()->objects.emplace(now->name(), now).second) ++misfits;
                },
            .on_update =
                [this](const ObjectPtr& before, const ObjectPtr& now) {
                  const auto state = state_.Lock();
                  ObjectPtr& at = state->objects[std::string(now->name())];
                  if (std::exchange(at, now) != before) ++misfits;
                },
            .on_delete =
                [this](const ObjectPtr& gone) {
                  if (state_.Lock()->objects.erase(std::string(gone->name())) != 1) ++misfits;
                }};
  }
  bool Is(const std::vector<ObjectPtr>& all) const {
    const auto state = state_.Lock();
    if (state->objects.size() != all.size()) return false;
    for (const ObjectPtr& object : all) {
      const auto found = state->objects.find(std::string(object->name()));
      if (found == state->objects.end() || found->second != object) return false;
    }
    return true;
  }

  std::atomic<int> misfits{0};

 private:
  struct State {
    std::map<std::string, ObjectPtr> objects;
  };
  Guarded<State> state_;
};

TEST_CASE("client: handlers that come and go lose no change and get none twice", "[client]") {
  constexpr int kChanges = 4000;
  constexpr int kHandlers = 40;
  Shared f;
  f.client.PushAdd("always", "0");
  f.Sync();
  Thread writer("writer", [&] {
    for (int i = 1; i <= kChanges; ++i) {
      const std::string name = "x" + std::to_string(i % 13);
      if (i % 5 == 0) {
        f.client.PushDelete(name, std::to_string(i));
      } else {
        f.client.PushUpdate(name, std::to_string(i));
      }
    }
    f.client.PushUpdate("always", "end");
  });
  std::deque<Replica> replicas(kHandlers);
  std::vector<std::unique_ptr<HandlerRegistration>> registrations;
  for (Replica& replica : replicas) {
    registrations.push_back(f.informer->AddHandler(replica.handler()));
    if (registrations.size() % 3 == 0) registrations[registrations.size() / 2]->Remove();
  }
  writer.Join();
  REQUIRE(f.AwaitVersion("always", "end"));
  const std::vector<ObjectPtr> all = f.informer->List();
  // Told by now if they were to be told nothing more.
  const auto until = RealClock().Now() + kPatience;
  const auto converged = [&] {
    int count = 0;
    for (const Replica& replica : replicas) count += replica.Is(all) ? 1 : 0;
    return count;
  };
  while (converged() < kHandlers - kHandlers / 3 && RealClock().Now() < until) {
    Notification().WaitFor(milliseconds(2));
  }
  CHECK(converged() >= kHandlers - kHandlers / 3);
  for (const Replica& replica : replicas) CHECK(replica.misfits == 0);
}

TEST_CASE("client: a resync tells all objects again, to the handlers that want it", "[client]") {
  Shared f({.resync = milliseconds(5)});
  f.client.PushAdd("a", "1");
  f.client.PushAdd("b", "2");
  Recorder often;
  Recorder never;
  const auto one = f.informer->AddHandler(often.handler());
  const auto other = f.informer->AddHandler(never.handler(), milliseconds(0));
  f.Sync();

  const Log told = often.WaitFor(6);
  REQUIRE(told.size() >= 6);
  CHECK(Log(told.begin(), told.begin() + 6) == Log{"add a@1", "add b@2", "update a@1 to a@1",
                                                   "update b@2 to b@2", "update a@1 to a@1",
                                                   "update b@2 to b@2"});
  CHECK(other->WaitForSync(kPatience));
  CHECK(never.all() == Log{"add a@1", "add b@2"});
  CHECK(f.client.watches == 1);
}

TEST_CASE("client: a removed handler is not called, and the others go on", "[client]") {
  Shared f;
  Recorder recorder;
  const auto kept = f.informer->AddHandler(recorder.handler());
  f.client.PushAdd("a", "1");
  f.Sync();
  SECTION("Remove() waits for the call that is under way") {
    Slow slow;
    auto going = f.informer->AddHandler(slow.handler());
    slow.called.Wait();
    Thread later("later", [&] {
      Notification().WaitFor(milliseconds(20));
      slow.may_go_on.Notify();
    });
    going->Remove();
    CHECK(slow.recorder.all() == Log{"add a@1"});
    f.client.PushUpdate("a", "2");
    CHECK(recorder.WaitFor(2).size() == 2);
    going.reset();
    CHECK(slow.recorder.all() == Log{"add a@1"});
  }
  SECTION("a handler removes itself") {
    std::unique_ptr<HandlerRegistration> once;
    std::atomic<int> calls{0};
    Notification added;
    once = f.informer->AddHandler({.on_add = [&](const ObjectPtr&) {
      added.Wait();
      ++calls;
      once.reset();
    }});
    added.Notify();
    f.client.PushAdd("b", "2");
    CHECK(recorder.WaitFor(2).size() == 2);
    f.informer->Stop();
    CHECK(calls == 1);
  }
}

TEST_CASE("client: informer and registrations end in any order", "[client]") {
  auto f = std::make_unique<Shared>();
  Recorder recorder;
  auto first = f->informer->AddHandler(recorder.handler());
  const auto second = f->informer->AddHandler(recorder.handler());
  const auto never_started = Shared().informer->AddHandler(recorder.handler());
  f->client.PushAdd("a", "1");
  f->Sync();
  CHECK(recorder.WaitFor(2).size() == 2);

  first.reset();
  f->informer->Stop();
  f->informer->Stop();
  const auto late = f->informer->AddHandler(recorder.handler());
  CHECK_FALSE(late->WaitForSync(milliseconds(1)));
  CHECK(f->informer->List().size() == 1);
  f.reset();
  CHECK(second->HasSynced());
  second->Remove();
  CHECK(recorder.all().size() == 2);
}

TEST_CASE("client: an index finds objects by what its function says of them", "[client]") {
  Shared f({.indexes = {{"first", [](const ObjectPtr& object) {
                           return std::vector{std::string(object->name().substr(0, 1))};
                         }}}});
  for (const char* name : {"ab", "ac", "b"}) f.client.PushAdd(name, "1");
  f.Sync();
  const auto names = [&](std::string_view index, std::string_view value) {
    std::string all;
    const auto objects = f.informer->ByIndex(index, value);
    for (const ObjectPtr& object : *objects) {
      all += std::string(object->name()) + " ";
    }
    return all;
  };

  CHECK(names("first", "a") == "ab ac ");
  CHECK(names("first", "c").empty());
  CHECK(names(kNamespaceIndex, "ns") == "ab ac b ");
  CHECK(f.informer->IndexValues("first").value() == std::vector<std::string>{"a", "b"});
  CHECK(f.informer->IndexValues(kNamespaceIndex).value() == std::vector<std::string>{"ns"});
  CHECK(f.informer->List("ns").size() == 3);
  CHECK(f.informer->List("n").empty());

  // An index of the objects that are there; it follows changes.
  const auto by_version = [](const ObjectPtr& object) {
    return std::vector{std::string(object->resource_version()), std::string("any")};
  };
  REQUIRE(f.informer->AddIndex("version", by_version).ok());
  CHECK(f.informer->AddIndex("version", by_version).reason() == Reason::kAlreadyExists);
  CHECK(f.informer->AddIndex("namespace", by_version).reason() == Reason::kAlreadyExists);
  f.client.PushUpdate("ab", "2");
  f.client.PushDelete("ac", "3");
  REQUIRE(f.AwaitVersion("ac", ""));
  CHECK(names("version", "1") == "b ");
  CHECK(names("version", "2") == "ab ");
  CHECK(names("version", "any") == "ab b ");
  CHECK(names("first", "a") == "ab ");
  CHECK(f.informer->IndexValues("version").value() == std::vector<std::string>{"1", "2", "any"});
  CHECK(f.informer->ByIndex("none", "x").status().reason() == Reason::kNotFound);
  CHECK(f.informer->IndexValues("none").status().reason() == Reason::kNotFound);
}

TEST_CASE("client: informers of a program are one for each resource", "[client]") {
  PushedClient client;
  client.PushAdd("a", "1");
  client.Push(Bookmark("1", true));
  const auto informers = NewSharedInformers(client);
  const runtime::GroupVersionResource things{"g", "v1", "things"};
  SharedInformer& informer = informers->For(things);
  CHECK(&informers->For(things) == &informer);
  Recorder recorder;
  const auto registration = informer.AddHandler(recorder.handler());
  CHECK(informers->WaitForSync(milliseconds(0)));  // None has been started.

  informers->Start();
  informers->Start();
  CHECK(informers->WaitForSync(kPatience));
  CHECK(recorder.WaitFor(1) == Log{"add a@1"});
  CHECK(client.watches == 1);

  SharedInformer& later = informers->For({"g", "v1", "others"});
  CHECK(&later != &informer);
  informers->Start();
  CHECK_FALSE(informers->WaitForSync(milliseconds(10)));  // The other one gets no events.
  client.Push(Bookmark("1", true));
  client.Push(Bookmark("1", true));
  informers->Stop();
  informers->Start();
}

TEST_CASE("client: a new list tells handlers of a shared informer the differences", "[client]") {
  ScriptedClient client(
      {ListOf({Thing("a", "1"), Thing("b", "2"), Thing("c", "3", "old"), Thing("d", "4")}, "4"),
       Watching{.events = {Failed(meta::NewResourceExpired("too old"))}},
       ListOf({Thing("a", "1"), Thing("b", "5"), Thing("c", "6", "new"), Thing("e", "7")}, "7"),
       Watching{.events = {}, .open_end = true}});
  Recorder recorder;
  SharedInformerOptions options{.informer = {.target = {.resource = {"g", "v1", "things"}},
                                             .handlers = {recorder.handler()}}};
  options.informer.watch_list = false;
  options.informer.backoff = milliseconds(1);
  const auto informer = NewSharedInformer(client, std::move(options));
  informer->Start();
  REQUIRE(client.AwaitAsked("watch rv=7"));
  // The second list may have come before the first was told: then less is.
  const Log told = recorder.WaitForLast("add e@7");
  CHECK(told.back() == "add e@7");
  CHECK(informer->Get("ns", "c")->uid() == "new");
  CHECK(informer->Get("ns", "d") == nullptr);
}

}  // namespace
}  // namespace client_shared_test
