#include "base/status_macros.h"
#include "testing/storage/storage_subject.h"

// The cases about watches: RunTestWatch* of
// k8s.io/apiserver/pkg/storage/testing/watcher_tests.go.
namespace apiserver::v0::testing::storage {
namespace {

ListOptions From(std::string rv, std::optional<bool> initial = std::nullopt,
                 bool bookmarks = false) {
  ListOptions options;
  options.resource_version = std::move(rv);
  options.send_initial_events = initial;
  options.allow_bookmarks = bookmarks;
  return options;
}

Status AWatchTellsOfWhatComesAfterItsRevision(StorageSubject& s) {
  s.Create("one");
  auto watch = s.WatchFrom("2");
  s.Create("two");
  EXPECT(s.Resize("one", 3).ok());
  EXPECT(s.Delete("two").ok());
  EXPECT_EQ(watch.NextText(), "ADDED two 3");
  EXPECT_EQ(watch.NextText(), "MODIFIED one 4");
  EXPECT_EQ(watch.NextText(), "DELETED two 5");
  return Status::Ok();
}

Status AWatchMayBeginInThePast(StorageSubject& s) {
  s.Create("one");
  s.Create("two");
  EXPECT(s.Resize("one", 3).ok());
  auto watch = s.WatchFrom("2");
  EXPECT_EQ(watch.NextText(), "ADDED two 3");
  EXPECT_EQ(watch.NextText(), "MODIFIED one 4");
  return Status::Ok();
}

Status AWatchFromZeroBeginsWithTheState(StorageSubject& s) {
  s.Create("one");
  EXPECT(s.Resize("one", 3).ok());
  // The get makes a cache catch up: a watch from 0 may begin with any state that it has.
  EXPECT(s.Get("one", "3").ok());
  auto watch = s.WatchFrom("0");
  EXPECT_EQ(watch.NextText(), "ADDED one 3");
  EXPECT(s.Resize("one", 4).ok());
  EXPECT_EQ(watch.NextText(), "MODIFIED one 4");
  return Status::Ok();
}

Status TheObjectOfAnEventIsThatOfItsRevision(StorageSubject& s) {
  s.Create("one");
  auto watch = s.WatchFrom("2");
  EXPECT(s.Resize("one", 3).ok());
  EXPECT(s.Delete("one").ok());
  const auto modified = watch.Next();
  EXPECT(modified);
  EXPECT_EQ((*modified->object)["spec"]["size"].AsInt(), 3);
  EXPECT_EQ(modified->object->resource_version(), "3");
  const auto deleted = watch.Next();
  EXPECT(deleted);
  // A deletion carries the last state of the object.
  EXPECT_EQ((*deleted->object)["spec"]["size"].AsInt(), 3);
  EXPECT_EQ(deleted->resource_version, "4");
  return Status::Ok();
}

Status AWatchOfANamespaceHearsOfNoOther(StorageSubject& s) {
  auto watch = s.Watch(From("1"), "/ns/");
  s.Create("a", "ns2");
  s.Create("b", "n");
  s.Create("c", "ns");
  EXPECT_EQ(watch.NextText(), "ADDED c 4");
  return Status::Ok();
}

Status AWatchOfOneKeyHearsOfNoLongerOne(StorageSubject& s) {
  ListOptions options = From("1");
  options.recursive = false;
  auto watch = s.Watch(options, "/ns/a");
  s.Create("ab");
  s.Create("a");
  EXPECT_EQ(watch.NextText(), "ADDED a 3");
  return Status::Ok();
}

Status SelectorsTurnChangesIntoAdditionsAndDeletions(StorageSubject& s) {
  auto watch = s.Watch(WithLabels(From("1"), "color=red"));
  s.Create("one", "ns", "blue");
  EXPECT(s.Resize("one", 1, "red").ok());
  EXPECT(s.Resize("one", 2).ok());
  EXPECT(s.Resize("one", 3, "blue").ok());
  EXPECT(s.Resize("one", 4).ok());
  EXPECT(s.Delete("one").ok());
  s.Create("two", "ns", "red");
  EXPECT_EQ(watch.NextText(), "ADDED one 3");
  EXPECT_EQ(watch.NextText(), "MODIFIED one 4");
  // A deletion by selector has the last object that matched, and the revision of the change.
  const auto gone = watch.Next();
  EXPECT(gone);
  EXPECT(gone->type == watch::EventType::kDeleted);
  EXPECT_EQ((*gone->object)["spec"]["size"].AsInt(), 2);
  EXPECT_EQ(gone->resource_version, "5");
  // The changes to an object that does not match come without events: no revision between is due.
  EXPECT_EQ(watch.NextText(), "ADDED two 8");
  return Status::Ok();
}

Status InitialEventsAreFilteredToo(StorageSubject& s) {
  s.Create("a", "ns", "blue");
  s.Create("b", "ns", "red");
  auto watch = s.Watch(WithLabels(From("", true, true), "color=red"));
  EXPECT_EQ(watch.NextText(), "ADDED b 3");
  EXPECT_EQ(watch.NextText(), "BOOKMARK-END  3");
  return Status::Ok();
}

Status InitialEventsEndWithABookmark(StorageSubject& s) {
  s.Create("a");
  s.Create("b");
  auto watch = s.Watch(From("", true, true));
  EXPECT_EQ(watch.NextText(), "ADDED a 2");
  EXPECT_EQ(watch.NextText(), "ADDED b 3");
  EXPECT_EQ(watch.NextText(), "BOOKMARK-END  3");
  s.Create("c");
  EXPECT_EQ(watch.NextText(), "ADDED c 4");
  return Status::Ok();
}

Status TheEndOfNoInitialEventsIsToldAsWell(StorageSubject& s) {
  auto watch = s.Watch(From("", true, true));
  // Without objects the end comes at the store's revision.
  EXPECT_EQ(watch.NextText(), "BOOKMARK-END  1");
  return Status::Ok();
}

Status WhoWantsNoBookmarksGetsNoneAtTheEndEither(StorageSubject& s) {
  s.Create("a");
  auto watch = s.Watch(From("", true, false));
  s.Create("b");
  EXPECT_EQ(watch.NextText(), "ADDED a 2");
  EXPECT_EQ(watch.NextText(), "ADDED b 3");
  return Status::Ok();
}

Status InitialEventsMayAskForALeastRevision(StorageSubject& s) {
  s.Create("a");
  s.Create("b");
  // A consistent list makes every storage see both; a cache that lags could begin with the first.
  EXPECT(s.List().ok());
  auto watch = s.Watch(From("2", true, true));
  EXPECT_EQ(watch.NextText(), "ADDED a 2");
  EXPECT_EQ(watch.NextText(), "ADDED b 3");
  EXPECT_EQ(watch.NextText(), "BOOKMARK-END  3");
  return Status::Ok();
}

Status InitialEventsOfTheFutureAreTooLarge(StorageSubject& s) {
  ASSIGN_OR_RETURN(const auto impatient, s.OpenImpatient());
  const auto watch = impatient->Watch(s.ctx, "/", From("1000", true, true));
  // The error comes from the call, not as an event, so that the client gets an HTTP error.
  EXPECT_REASON(watch, Reason::kTimeout);
  return Status::Ok();
}

Status AWatchWithoutInitialEventsBeginsNow(StorageSubject& s) {
  s.Create("a");
  // A consistent list makes every storage see the object, so that the watch begins after it.
  EXPECT(s.List().ok());
  auto watch = s.Watch(From("", false));
  s.Create("b");
  EXPECT_EQ(watch.NextText(), "ADDED b 3");
  return Status::Ok();
}

Status AWatchFromTheFutureWaitsForIt(StorageSubject& s) {
  auto watch = s.WatchFrom("3");
  s.Create("a");
  s.Create("b");
  s.Create("c");
  EXPECT_EQ(watch.NextText(), "ADDED c 4");
  return Status::Ok();
}

Status AWatchFromACompactedRevisionIsToldOnce(StorageSubject& s) {
  for (int i = 0; i < 8; ++i) s.Create("a" + std::to_string(i));
  // A cache that has run from the beginning may still have the events; a new one cannot.
  s.Compact("8");
  ASSIGN_OR_RETURN(const auto fresh, s.OpenAnother());
  WatchReader watch(std::move(*fresh->Watch(s.ctx, "/", From("3"))));
  const auto event = watch.Next();
  EXPECT(event);
  EXPECT(event->type == watch::EventType::kError);
  EXPECT(event->error ==
         Status(Reason::kExpired, "The resourceVersion for the provided watch is too old."));
  EXPECT_EQ(watch.NextText(), "END");
  // Before the engine that it uses goes.
  fresh->Stop();
  return Status::Ok();
}

Status ABadResourceVersionIsRefusedAtOnce(StorageSubject& s) {
  EXPECT_REASON(s.storage->Watch(s.ctx, "/", From("abc")), Reason::kBadRequest);
  return Status::Ok();
}

Status ManyChangesArriveCompleteAndInOrder(StorageSubject& s) {
  auto watch = s.WatchFrom("1");
  // Nothing is read meanwhile, so that the events must be kept.
  for (int i = 0; i < 700; ++i) s.Create("a" + std::to_string(i));
  for (int i = 0; i < 700; ++i) {
    const auto event = watch.Next();
    EXPECT(event);
    EXPECT_EQ(event->resource_version, std::to_string(i + 2));
  }
  return Status::Ok();
}

Status AWatchEndsWhenTheStorageStops(StorageSubject& s) {
  auto watch = s.WatchFrom("1");
  s.storage->Stop();
  s.engine->Stop();
  EXPECT_EQ(watch.NextText(), "END");
  return Status::Ok();
}

Status AnObjectThatComesAgainIsAddedAgain(StorageSubject& s) {
  auto watch = s.WatchFrom("1");
  s.Create("a");
  EXPECT(s.Delete("a").ok());
  s.Create("a");
  EXPECT_EQ(watch.NextText(), "ADDED a 2");
  EXPECT_EQ(watch.NextText(), "DELETED a 3");
  EXPECT_EQ(watch.NextText(), "ADDED a 4");
  return Status::Ok();
}

Status InitialEventsNeedNoAsking(StorageSubject& s) {
  s.Create("a");
  EXPECT(s.List().ok());
  auto watch = s.Watch(From("0", std::nullopt, true));
  EXPECT_EQ(watch.NextText(), "ADDED a 2");
  s.Create("b");
  // Only a request for initial events gets the bookmark at their end.
  EXPECT_EQ(watch.NextText(), "ADDED b 3");
  return Status::Ok();
}

}  // namespace

StorageCaseTable StorageWatchCases() {
  return {
      {"a watch tells of what comes after its revision", "RunTestWatch",
       AWatchTellsOfWhatComesAfterItsRevision},
      {"a watch may begin in the past", "RunTestWatchFromNonZero", AWatchMayBeginInThePast},
      {"a watch from zero begins with the state", "RunTestWatchFromZero",
       AWatchFromZeroBeginsWithTheState},
      {"the object of an event is that of its revision",
       "RunTestWatchDeleteEventObjectHaveLatestRV", TheObjectOfAnEventIsThatOfItsRevision},
      {"a watch of a namespace hears of no other", "RunTestNamespaceScopedWatch",
       AWatchOfANamespaceHearsOfNoOther},
      {"a watch of one key hears of no longer one", "RunTestNamespaceScopedWatch",
       AWatchOfOneKeyHearsOfNoLongerOne},
      {"selectors turn changes into additions and deletions", "RunTestWatch",
       SelectorsTurnChangesIntoAdditionsAndDeletions},
      {"initial events are filtered too", "RunWatchSemantics", InitialEventsAreFilteredToo},
      {"initial events end with a bookmark", "RunWatchSemantics", InitialEventsEndWithABookmark},
      {"the end of no initial events is told as well", "RunWatchSemantics",
       TheEndOfNoInitialEventsIsToldAsWell},
      {"who wants no bookmarks gets none at the end either", "RunWatchSemantics",
       WhoWantsNoBookmarksGetsNoneAtTheEndEither},
      {"initial events may ask for a least revision", "RunWatchSemanticInitialEventsExtended",
       InitialEventsMayAskForALeastRevision},
      {"initial events of the future are too large", "RunWatchSemantics",
       InitialEventsOfTheFutureAreTooLarge},
      {"a watch without initial events begins now", "RunWatchSemantics",
       AWatchWithoutInitialEventsBeginsNow},
      {"a watch from the future waits for it", "", AWatchFromTheFutureWaitsForIt},
      {"a watch from a compacted revision is told once", "RunTestCompactRevision",
       AWatchFromACompactedRevisionIsToldOnce},
      {"a bad resource version is refused at once", "", ABadResourceVersionIsRefusedAtOnce},
      {"many changes arrive complete and in order", "RunTestDelayedWatchDelivery",
       ManyChangesArriveCompleteAndInOrder},
      {"a watch ends when the storage stops", "", AWatchEndsWhenTheStorageStops},
      {"a watch that has not asked for initial events is not told their end",
       "RunSendInitialEventsBackwardCompatibility", InitialEventsNeedNoAsking},
      {"an object that comes again is added again", "RunTestDeleteTriggerWatch",
       AnObjectThatComesAgainIsAddedAgain},
  };
}

}  // namespace apiserver::v0::testing::storage
