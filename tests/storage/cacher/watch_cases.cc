#include "storage/backends.h"

// Watches over every form of storage: RunTestWatch* of
// k8s.io/apiserver/pkg/storage/testing/watcher_tests.go.
using namespace apiserver;  // NOLINT: a test.
using storage::ListOptions;

namespace {

ListOptions From(std::string rv, std::optional<bool> initial = std::nullopt,
                 bool bookmarks = false) {
  ListOptions options;
  options.resource_version = std::move(rv);
  options.send_initial_events = initial;
  options.allow_bookmarks = bookmarks;
  return options;
}

ListOptions WithLabels(ListOptions options, std::string_view labels) {
  options.predicate.label = *meta::LabelSelector::Parse(labels);
  return options;
}

}  // namespace

TEST_CASE("storage.Interface: a watch tells of what comes after its revision", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  auto watch = backend.WatchFrom("2");
  backend.Create("two");
  REQUIRE(backend.Resize("one", 3).ok());
  REQUIRE(backend.Delete("two").ok());
  CHECK(watch.NextText() == "ADDED two 3");
  CHECK(watch.NextText() == "MODIFIED one 4");
  CHECK(watch.NextText() == "DELETED two 5");
}

TEST_CASE("storage.Interface: a watch may begin in the past", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  backend.Create("two");
  REQUIRE(backend.Resize("one", 3).ok());
  auto watch = backend.WatchFrom("2");
  CHECK(watch.NextText() == "ADDED two 3");
  CHECK(watch.NextText() == "MODIFIED one 4");
}

TEST_CASE("storage.Interface: a watch from zero begins with the state", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  REQUIRE(backend.Resize("one", 3).ok());
  REQUIRE(backend.Get("one", "3").ok());
  auto watch = backend.WatchFrom("0");
  CHECK(watch.NextText() == "ADDED one 3");
  REQUIRE(backend.Resize("one", 4).ok());
  CHECK(watch.NextText() == "MODIFIED one 4");
}

TEST_CASE("storage.Interface: the object of an event is that of its revision", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("one");
  auto watch = backend.WatchFrom("2");
  REQUIRE(backend.Resize("one", 3).ok());
  REQUIRE(backend.Delete("one").ok());
  const auto modified = watch.Next();
  REQUIRE(modified);
  CHECK((*modified->object)["spec"]["size"].AsInt() == 3);
  CHECK(modified->object->resource_version() == "3");
  const auto deleted = watch.Next();
  REQUIRE(deleted);
  CHECK((*deleted->object)["spec"]["size"].AsInt() == 3);
  CHECK(deleted->resource_version == "4");
}

TEST_CASE("storage.Interface: a watch of a namespace hears of no other", "[storage]") {
  FOR_EVERY_FORM();
  auto watch = backend.Watch(From("1"), "/ns/");
  backend.Create("a", "ns2");
  backend.Create("b", "n");
  backend.Create("c", "ns");
  CHECK(watch.NextText() == "ADDED c 4");
}

TEST_CASE("storage.Interface: a watch of one key hears of no longer one", "[storage]") {
  FOR_EVERY_FORM();
  ListOptions options = From("1");
  options.recursive = false;
  auto watch = backend.Watch(options, "/ns/a");
  backend.Create("ab");
  backend.Create("a");
  CHECK(watch.NextText() == "ADDED a 3");
}

TEST_CASE("storage.Interface: selectors turn changes into additions and deletions", "[storage]") {
  FOR_EVERY_FORM();
  auto watch = backend.Watch(WithLabels(From("1"), "color=red"));
  backend.Create("one", "ns", "blue");
  REQUIRE(backend.Resize("one", 1, "red").ok());
  REQUIRE(backend.Resize("one", 2).ok());
  REQUIRE(backend.Resize("one", 3, "blue").ok());
  REQUIRE(backend.Resize("one", 4).ok());
  REQUIRE(backend.Delete("one").ok());
  backend.Create("two", "ns", "red");
  CHECK(watch.NextText() == "ADDED one 3");
  CHECK(watch.NextText() == "MODIFIED one 4");
  // The object is the last that matched, the revision that of the change.
  const auto gone = watch.Next();
  REQUIRE(gone);
  CHECK(gone->type == watch::EventType::kDeleted);
  CHECK((*gone->object)["spec"]["size"].AsInt() == 2);
  CHECK(gone->resource_version == "5");
  CHECK(watch.NextText() == "ADDED two 8");
}

TEST_CASE("storage.Interface: initial events are filtered too", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("a", "ns", "blue");
  backend.Create("b", "ns", "red");
  auto watch = backend.Watch(WithLabels(From("", true, true), "color=red"));
  CHECK(watch.NextText() == "ADDED b 3");
  CHECK(watch.NextText() == "BOOKMARK-END  3");
}

TEST_CASE("storage.Interface: initial events end with a bookmark", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("a");
  backend.Create("b");
  auto watch = backend.Watch(From("", true, true));
  CHECK(watch.NextText() == "ADDED a 2");
  CHECK(watch.NextText() == "ADDED b 3");
  CHECK(watch.NextText() == "BOOKMARK-END  3");
  backend.Create("c");
  CHECK(watch.NextText() == "ADDED c 4");
}

TEST_CASE("storage.Interface: the end of no initial events is told as well", "[storage]") {
  FOR_EVERY_FORM();
  auto watch = backend.Watch(From("", true, true));
  CHECK(watch.NextText() == "BOOKMARK-END  1");
}

TEST_CASE("storage.Interface: who wants no bookmarks gets none at the end either", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("a");
  auto watch = backend.Watch(From("", true, false));
  backend.Create("b");
  CHECK(watch.NextText() == "ADDED a 2");
  CHECK(watch.NextText() == "ADDED b 3");
}

TEST_CASE("storage.Interface: initial events may ask for a least revision", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("a");
  backend.Create("b");
  // Every form has seen both; one that lags may begin with the first alone.
  REQUIRE(backend.List().ok());
  auto watch = backend.Watch(From("2", true, true));
  CHECK(watch.NextText() == "ADDED a 2");
  CHECK(watch.NextText() == "ADDED b 3");
  CHECK(watch.NextText() == "BOOKMARK-END  3");
}

TEST_CASE("storage.Interface: initial events of the future are too large", "[storage]") {
  FOR_EVERY_FORM();
  const auto watch = backend.storage->Watch(backend.ctx, "/", From("1000", true, true));
  CHECK(watch.status().reason() == Reason::kTimeout);
}

TEST_CASE("storage.Interface: a watch without initial events begins now", "[storage]") {
  FOR_EVERY_FORM();
  backend.Create("a");
  // Every form has seen it.
  REQUIRE(backend.List().ok());
  auto watch = backend.Watch(From("", false));
  backend.Create("b");
  CHECK(watch.NextText() == "ADDED b 3");
}

TEST_CASE("storage.Interface: a watch from the future waits for it", "[storage]") {
  FOR_EVERY_FORM();
  auto watch = backend.WatchFrom("3");
  backend.Create("a");
  backend.Create("b");
  backend.Create("c");
  CHECK(watch.NextText() == "ADDED c 4");
}

TEST_CASE("storage.Interface: a watch from a compacted revision is told once", "[storage]") {
  FOR_EVERY_FORM();
  for (int i = 0; i < 8; ++i) backend.Create("a" + std::to_string(i));
  // A cache that was there from the beginning may know better; one that is new cannot.
  backend.Compact("8");
  storage::cacher::Options options;
  options.store.engine = backend.engine.get();
  options.store.kind = backend.kind;
  options.store.prefix = "/registry/test.example.com/widgets";
  options.executor = backend.pool.get();
  const auto fresh = form == testing::Form::kStore ? storage::store::New(options.store)
                                                   : storage::cacher::New(options);
  testing::WatchReader watch(std::move(*fresh->Watch(backend.ctx, "/", From("3"))));
  const auto event = watch.Next();
  REQUIRE(event);
  CHECK(event->type == watch::EventType::kError);
  CHECK(event->error ==
        Status(Reason::kExpired, "The resourceVersion for the provided watch is too old."));
  CHECK(watch.NextText() == "END");
  fresh->Stop();
}

TEST_CASE("storage.Interface: a bad resource version is refused at once", "[storage]") {
  FOR_EVERY_FORM();
  CHECK(backend.storage->Watch(backend.ctx, "/", From("abc")).status().reason() ==
        Reason::kBadRequest);
}

TEST_CASE("storage.Interface: many changes arrive complete and in order", "[storage]") {
  FOR_EVERY_FORM();
  auto watch = backend.WatchFrom("1");
  for (int i = 0; i < 700; ++i) backend.Create("a" + std::to_string(i));
  for (int i = 0; i < 700; ++i) {
    const auto event = watch.Next();
    REQUIRE(event);
    REQUIRE(event->resource_version == std::to_string(i + 2));
  }
}

TEST_CASE("storage.Interface: a watch ends when the storage stops", "[storage]") {
  FOR_EVERY_FORM();
  auto watch = backend.WatchFrom("1");
  backend.storage->Stop();
  backend.engine->Stop();
  CHECK(watch.NextText() == "END");
}

TEST_CASE("storage.Interface: an object that comes again is added again", "[storage]") {
  FOR_EVERY_FORM();
  auto watch = backend.WatchFrom("1");
  backend.Create("a");
  REQUIRE(backend.Delete("a").ok());
  backend.Create("a");
  CHECK(watch.NextText() == "ADDED a 2");
  CHECK(watch.NextText() == "DELETED a 3");
  CHECK(watch.NextText() == "ADDED a 4");
}
