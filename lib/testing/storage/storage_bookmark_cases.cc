#include "testing/storage/storage_subject.h"

// The cases about watches' scopes and bookmarks: the rest of
// k8s.io/apiserver/pkg/storage/testing/watcher_tests.go.
namespace apiserver::v0::testing::storage {
namespace {

// A little more than the two seconds before its end in which a watch gets a bookmark.
constexpr std::chrono::seconds kSoon{3};

ListOptions Named(std::string rv, std::string name) {
  ListOptions options;
  options.resource_version = std::move(rv);
  options.predicate.field = meta::FieldSelector::Equals("metadata.name", std::move(name));
  return options;
}

// Options with bookmarks and a deadline `kSoon` from now: a bookmark is due two seconds before it.
ListOptions WithBookmark(const StorageSubject& s, std::string rv) {
  ListOptions options;
  options.resource_version = std::move(rv);
  options.allow_bookmarks = true;
  options.deadline = const_cast<StorageSubject&>(s).clock().Now() + kSoon;
  return options;
}

Status ClusterScopedObjectsAreWatched(StorageSubject& s) {
  auto all = s.WatchFrom("1");
  auto one = s.Watch(Named("1", "b"));
  const auto create = [&s](const char* name) {
    return s.storage->Create(s.ctx, "/" + std::string(name), *NewWidget(s.kind, name, ""), {});
  };
  EXPECT(create("a").ok());
  EXPECT(create("b").ok());
  EXPECT(s.storage->Delete(s.ctx, "/a", {}, nullptr).ok());
  EXPECT_EQ(all.NextText(), "ADDED a 2");
  EXPECT_EQ(all.NextText(), "ADDED b 3");
  EXPECT_EQ(all.NextText(), "DELETED a 4");
  EXPECT_EQ(one.NextText(), "ADDED b 3");
  return Status::Ok();
}

Status OneNameIsWatchedInOneNamespaceOrAll(StorageSubject& s) {
  auto everywhere = s.Watch(Named("1", "a"));
  auto here = s.Watch(Named("1", "a"), "/ns/");
  s.Create("a", "other");
  s.Create("b", "ns");
  s.Create("a", "ns");
  EXPECT_EQ(everywhere.NextText(), "ADDED a 2");
  EXPECT_EQ(everywhere.NextText(), "ADDED a 4");
  EXPECT_EQ(here.NextText(), "ADDED a 4");
  return Status::Ok();
}

Status OneObjectIsWatchedWithItsInitialState(StorageSubject& s) {
  s.Create("a");
  s.Create("b");
  EXPECT(s.List().ok());
  ListOptions options = Named("", "b");
  options.send_initial_events = true;
  options.allow_bookmarks = true;
  auto watch = s.Watch(options);
  EXPECT_EQ(watch.NextText(), "ADDED b 3");
  EXPECT_EQ(watch.NextText(), "BOOKMARK-END  3");
  s.Create("c");
  EXPECT(s.Resize("b", 2).ok());
  EXPECT_EQ(watch.NextChange(), "MODIFIED b 5");
  return Status::Ok();
}

Status WhoDoesNotReadHoldsNobodyUp(StorageSubject& s) {
  std::vector<WatchReader> idle;
  idle.reserve(50);
  for (int i = 0; i < 50; ++i) idle.push_back(s.WatchFrom("1"));
  auto reading = s.WatchFrom("1");
  for (int i = 0; i < 300; ++i) {
    const std::string name = "a" + std::to_string(i);
    s.Create(name);
    EXPECT_EQ(reading.NextText(), "ADDED " + name + " " + std::to_string(i + 2));
  }
  // A watch that falls behind still has all its events, or has ended.
  const std::string late = idle.front().NextText();
  EXPECT(late == "ADDED a0 2" || late == "END" || late.starts_with("ERROR"));
  return Status::Ok();
}

Status AWatchGoesWhileOthersWrite(StorageSubject& s) {
  // The watch ends here, without having been read.
  { auto watch = s.WatchFrom("1"); }
  auto other = s.WatchFrom("1");
  s.Create("one");
  EXPECT_EQ(other.NextText(), "ADDED one 2");
  return Status::Ok();
}

Status ABookmarkComesBeforeTheEnd(StorageSubject& s) {
  s.Create("one");
  EXPECT(s.List().ok());
  auto told = s.Watch(WithBookmark(s, "1"));
  ListOptions silent = WithBookmark(s, "1");
  silent.allow_bookmarks = false;
  auto untold = s.Watch(silent);
  EXPECT_EQ(told.NextText(), "ADDED one 2");
  EXPECT_EQ(untold.NextText(), "ADDED one 2");
  s.clock().Advance(kSoon);
  s.Create("two", "other");
  EXPECT(s.List().ok());
  std::string next = told.NextText();
  // The bookmark may come before or after the event: both are in order.
  if (next == "ADDED two 3") next = told.NextText();
  EXPECT(next == "BOOKMARK  2" || next == "BOOKMARK  3");
  EXPECT_EQ(untold.NextText(), "ADDED two 3");
  return Status::Ok();
}

Status ABookmarkTellsOfOtherResources(StorageSubject& s) {
  s.Create("one");
  kv::TxnRequest txn;
  txn.key = "/registry/other/thing";
  txn.value = std::make_shared<const std::string>("{}");
  EXPECT(s.engine->Txn(s.ctx, txn)->succeeded);
  // The list lets a cache learn of the other resource's revision.
  EXPECT_EQ(s.List()->resource_version, "3");
  auto watch = s.Watch(WithBookmark(s, "2"));
  s.clock().Advance(kSoon);
  EXPECT_EQ(watch.NextText(), "BOOKMARK  3");
  return Status::Ok();
}

Status BookmarksOvertakeNoEvent(StorageSubject& s) {
  Thread writer("writer", [&s] {
    for (int i = 0; i < 400; ++i)
      (void)s.storage->Create(s.ctx, "/ns/a" + std::to_string(i), *NewWidget(s.kind, "a"), {});
  });
  std::int64_t seen = 1;
  for (int round = 0; seen < 401; ++round) {
    auto watch = s.Watch(WithBookmark(s, std::to_string(seen)));
    if (round % 2 == 0) s.clock().Advance(kSoon);
    for (int i = 0; i < 20 && seen < 401; ++i) {
      const auto event = watch.Next();
      EXPECT(event);
      const std::int64_t revision = std::stoll(event->resource_version);
      const bool bookmark = event->type == watch::EventType::kBookmark;
      // A bookmark ahead of `seen` would lose the events between, since clients resume from it.
      EXPECT_EQ(revision, bookmark ? seen : seen + 1);
      seen = revision;
    }
  }
  writer.Join();
  return Status::Ok();
}

Status ObjectsDieWithTheirTtl(StorageSubject& s) {
  auto watch = s.WatchFrom("1");
  EXPECT(
      s.storage->Create(s.ctx, "/ns/one", *NewWidget(s.kind, "one"), std::chrono::seconds(1)).ok());
  EXPECT_EQ(watch.NextText(), "ADDED one 2");
  s.clock().Advance(std::chrono::seconds(3));
  EXPECT(Eventually([&s] { return s.Get("one").status().reason() == Reason::kNotFound; }));
  EXPECT_EQ(watch.NextText(), "DELETED one 3");
  return Status::Ok();
}

Status AnUpdateMayGiveATtl(StorageSubject& s) {
  s.Create("one");
  const auto updated = s.storage->GuaranteedUpdate(
      s.ctx, "/ns/one", {}, [](const runtime::ObjectPtr& current) -> Result<Update> {
        Update update;
        update.object = current->Clone();
        update.object->Edit("spec", "size") = 2;
        update.ttl = std::chrono::seconds(1);
        return update;
      });
  EXPECT(updated.ok());
  auto watch = s.WatchFrom("3");
  s.clock().Advance(std::chrono::seconds(3));
  EXPECT(Eventually([&s] { return s.Get("one").status().reason() == Reason::kNotFound; }));
  EXPECT_EQ(watch.NextText(), "DELETED one 4");
  return Status::Ok();
}

}  // namespace

StorageCaseTable StorageBookmarkCases() {
  return {
      {"objects without a namespace are watched", "RunTestClusterScopedWatch",
       ClusterScopedObjectsAreWatched},
      {"a name is watched in one namespace or in all", "RunTestNamespaceScopedWatch",
       OneNameIsWatchedInOneNamespaceOrAll},
      {"one object is watched with its initial state", "RunWatchListMatchSingle",
       OneObjectIsWatchedWithItsInitialState},
      {"watches that nobody reads hold nobody up", "RunTestWatcherTimeout",
       WhoDoesNotReadHoldsNobodyUp},
      {"a watch that is gone leaves the others alone", "RunTestWatchContextCancel",
       AWatchGoesWhileOthersWrite},
      {"a bookmark comes before the end to whoever wants it", "RunTestWatchDispatchBookmarkEvents",
       ABookmarkComesBeforeTheEnd},
      {"a bookmark tells of writes to other resources", "RunOptionalTestProgressNotify",
       ABookmarkTellsOfOtherResources},
      {"bookmarks overtake no event", "RunTestOptionalWatchBookmarksWithCorrectResourceVersion",
       BookmarksOvertakeNoEvent},
      {"an object created with a TTL dies", "RunTestCreateWithTTL", ObjectsDieWithTheirTtl},
      {"an object updated with a TTL dies", "RunTestGuaranteedUpdateWithTTL", AnUpdateMayGiveATtl},
  };
}

}  // namespace apiserver::v0::testing::storage
