#include "apiserver/client/informer.h"

#include <catch2/catch.hpp>
#include <deque>
#include <string>

#include "apiserver/base/sync.h"
#include "apiserver/meta/errors.h"
#include "client/scripted_client.h"

namespace apiserver::inline v0::client {
namespace {

using namespace scripted;

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
