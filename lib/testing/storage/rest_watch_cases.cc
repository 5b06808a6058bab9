#include "testing/storage/rest_subject.h"

// Watches of a rest::Storage.
namespace apiserver::v0::testing::storage::rest_kit {
namespace {

constexpr unsigned kWatches = kList | kWatch;

meta::ListOptions Initial(bool bookmarks = true) {
  meta::ListOptions options;
  options.send_initial_events = true;
  options.resource_version_match = ResourceVersionMatch::kNotOlderThan;
  options.allow_watch_bookmarks = bookmarks;
  return options;
}

Status AWatchTellsOfChangesInOrder(RestSubject& s) {
  s.Add("a");
  Watching watch = s.WatchFrom(s.Now());
  s.Add("b");
  s.Remark("a", "two");
  s.Remove("b");
  s.Add("b");
  EXPECT_EQ(watch.NextChange(), "ADDED b");
  EXPECT_EQ(watch.NextChange(), "MODIFIED a");
  EXPECT_EQ(watch.NextChange(), "DELETED b");
  EXPECT_EQ(watch.NextChange(), "ADDED b");
  EXPECT_EQ(watch.Ready(), "");
  return Status::Ok();
}

Status AWatchMayBeginInThePast(RestSubject& s) {
  s.Add("a");
  const std::string then = s.Now();
  s.Remark("a", "two");
  s.Add("b");
  Watching watch = s.WatchFrom(then);
  EXPECT_EQ(watch.NextChange(), "MODIFIED a");
  EXPECT_EQ(watch.NextChange(), "ADDED b");
  EXPECT_EQ(watch.Ready(), "");
  return Status::Ok();
}

Status AWatchFromAListMissesNothing(RestSubject& s) {
  s.Add("a");
  const auto list = s.List().value();
  s.Remark("a", "two");
  Watching watch = s.WatchFrom(list.resource_version);
  const auto event = watch.Next();
  EXPECT(event.ok());
  EXPECT(event->type == watch::EventType::kModified);
  EXPECT_EQ(s.MarkOf(*event->object), "two");
  return Status::Ok();
}

Status AnEventIsTheObjectOfItsVersion(RestSubject& s) {
  s.Add("a");
  Watching watch = s.WatchFrom(s.Now());
  s.Remark("a", "two");
  const auto two = s.List().value().items[0];
  s.Remark("a", "three");
  const auto event = watch.Next();
  EXPECT(event.ok());
  EXPECT_EQ(event->resource_version, std::string(two->resource_version()));
  EXPECT_EQ(s.MarkOf(*event->object), "two");
  EXPECT_EQ(std::string(event->object->uid()), std::string(two->uid()));
  return Status::Ok();
}

Status ADeletionHasTheLastStateAndANewVersion(RestSubject& s) {
  s.Add("a", "red");
  const auto a = s.List().value().items[0];
  Watching watch = s.WatchFrom(s.Now());
  s.Remove("a");
  const std::string after = s.Now();
  const auto event = watch.Next();
  EXPECT(event.ok());
  EXPECT(event->type == watch::EventType::kDeleted);
  EXPECT_EQ(s.MarkOf(*event->object), "red");
  EXPECT_EQ(std::string(event->object->uid()), std::string(a->uid()));
  EXPECT(Number(event->resource_version) > Number(a->resource_version()));
  EXPECT(Number(event->resource_version) <= Number(after));
  return Status::Ok();
}

Status VersionsOfEventsAscend(RestSubject& s) {
  Watching watch = s.WatchFrom(s.Now());
  for (int i = 0; i < 50; ++i) s.Add("a" + std::to_string(i));
  s.Remove("a7");
  std::uint64_t last = 0;
  for (int i = 0; i < 51; ++i) {
    const auto event = watch.Next();
    EXPECT(event.ok());
    // A bookmark has no object, and may repeat the last revision.
    if (event->object == nullptr) continue;
    EXPECT(Number(event->resource_version) > last);
    last = Number(event->resource_version);
  }
  return Status::Ok();
}

Status AWatchFromZeroBeginsWithTheState(RestSubject& s) {
  s.Add("a");
  s.Add("b");
  // A watch from 0 may begin with whatever a cache has; the list makes it catch up.
  (void)s.List();
  Watching watch = s.WatchFrom("0");
  EXPECT_EQ(watch.NextChange(), "ADDED a");
  EXPECT_EQ(watch.NextChange(), "ADDED b");
  s.Remove("a");
  EXPECT_EQ(watch.NextChange(), "DELETED a");
  return Status::Ok();
}

Status ASelectorTurnsChangesIntoComingAndGoing(RestSubject& s) {
  s.Add("a", "blue");
  meta::ListOptions options = Labelled("kit=red");
  options.resource_version = s.Now();
  Watching watch = s.Watch(options);
  s.Remark("a", "red");
  s.Add("b", "blue");
  s.Remark("a", "green");
  s.Remark("a", "red");
  s.Remove("a");
  EXPECT_EQ(watch.NextChange(), "ADDED a");
  const auto gone = watch.Next();
  EXPECT(gone.ok());
  EXPECT(gone->type == watch::EventType::kDeleted);
  // The last state that was selected.
  EXPECT_EQ(s.MarkOf(*gone->object), "red");
  EXPECT_EQ(watch.NextChange(), "ADDED a");
  EXPECT_EQ(watch.NextChange(), "DELETED a");
  EXPECT_EQ(watch.Ready(), "");
  return Status::Ok();
}

Status AWatchOfANameTellsOfNoOther(RestSubject& s) {
  meta::ListOptions options = At(s.Now());
  options.field_selector = meta::FieldSelector::Equals("metadata.name", s.HostName("b"));
  Watching watch = s.Watch(options);
  s.Add("a");
  s.Add("bb");
  s.Add("b");
  s.Remark("a", "two");
  s.Remark("b", "two");
  EXPECT_EQ(watch.NextChange(), "ADDED b");
  EXPECT_EQ(watch.NextChange(), "MODIFIED b");
  EXPECT_EQ(watch.Ready(), "");
  return Status::Ok();
}

Status AWatchOfANamespaceTellsOfNoOther(RestSubject& s) {
  const std::string now = s.Now();
  Watching one = s.WatchFrom(now, "ns");
  Watching all = s.WatchFrom(now, "");
  s.Add("a", "one", "other");
  s.Add("b", "one", "ns");
  s.Remove("a", "other");
  EXPECT_EQ(one.NextChange(), "ADDED b");
  EXPECT_EQ(one.Ready(), "");
  EXPECT_EQ(all.NextChange(), "ADDED a");
  EXPECT_EQ(all.NextChange(), "ADDED b");
  EXPECT_EQ(all.NextChange(), "DELETED a");
  return Status::Ok();
}

Status WatchesDoNotDisturbEachOther(RestSubject& s) {
  const std::string now = s.Now();
  Watching one = s.WatchFrom(now);
  Watching two = s.WatchFrom(now);
  {
    Watching gone = s.WatchFrom(now);
    s.Add("a");
    EXPECT_EQ(gone.NextChange(), "ADDED a");
  }
  s.Add("b");
  for (Watching* watch : {&one, &two}) {
    EXPECT_EQ(watch->NextChange(), "ADDED a");
    EXPECT_EQ(watch->NextChange(), "ADDED b");
  }
  return Status::Ok();
}

Status AWatchRefusesABadVersion(RestSubject& s) {
  const auto watch = s.TryWatch(At("yesterday"));
  EXPECT(!watch.ok());
  EXPECT(watch.status().code() == 400 || watch.status().code() == 422);
  return Status::Ok();
}

Status AWatchGetsABookmarkBeforeItsEnd(RestSubject& s) {
  s.Add("a");
  const std::string now = s.Now();
  meta::ListOptions options = At(now);
  options.allow_watch_bookmarks = true;
  // Kubernetes sends a bookmark about two seconds before the deadline of a watch.
  auto stream = s.TryWatch(options, "ns", std::chrono::seconds(3));
  EXPECT(stream.ok());
  Watching watch = s.Read(std::move(*stream));
  const auto event = watch.Next();
  EXPECT(event.ok());
  EXPECT(event->type == watch::EventType::kBookmark);
  EXPECT(!event->initial_events_end);
  EXPECT(Number(event->resource_version) >= Number(now));
  return Status::Ok();
}

// Checks that `watch` either ends with 410 Expired at once or delivers all of `changes`.
Status ExpiredOr(const std::string& changes, Watching watch) {
  std::string told = watch.NextChange();
  if (told == "ERROR Expired") {
    EXPECT_EQ(watch.NextText(), "END");
    return Status::Ok();
  }
  while (told.size() < changes.size()) {
    const std::string next = watch.NextChange();
    told += ", " + next;
    if (next == "NOTHING" || next == "END") break;
  }
  EXPECT_EQ(told, changes);
  return Status::Ok();
}

Status AWatchFromWhatIsForgottenHasExpired(RestSubject& s) {
  s.Add("a");
  const std::string then = s.Now();
  for (const char* label : {"two", "three", "four"}) s.Remark("a", label);
  s.Forget(s.Now());
  auto stream = s.TryWatch(At(then));
  if (!stream.ok()) {
    EXPECT_REASON(stream, Reason::kExpired);
    return Status::Ok();
  }
  // A watch cache may still know what its store has forgotten.
  return ExpiredOr("MODIFIED a, MODIFIED a, MODIFIED a", s.Read(std::move(*stream)));
}

Status AVersionOfBeforeTheStartHasExpired(RestSubject& s) {
  for (const char* label : {"one", "two", "three"}) {
    if (label == std::string_view("one")) {
      s.Add("a", label);
    } else {
      s.Remark("a", label);
    }
  }
  s.Forget(s.Now());
  auto stream = s.TryWatch(At("1"));
  if (!stream.ok()) {
    EXPECT_REASON(stream, Reason::kExpired);
    return Status::Ok();
  }
  return ExpiredOr("ADDED a, MODIFIED a, MODIFIED a", s.Read(std::move(*stream)));
}

Status InitialEventsAreTheStateAndEnd(RestSubject& s) {
  s.Add("a");
  s.Add("b");
  s.Add("c");
  s.Remove("c");
  const std::string now = s.Now();
  Watching watch = s.Watch(Initial());
  EXPECT_EQ(watch.NextText(), "ADDED a");
  EXPECT_EQ(watch.NextText(), "ADDED b");
  const auto end = watch.Next();
  EXPECT(end.ok());
  EXPECT(end->type == watch::EventType::kBookmark);
  EXPECT(end->initial_events_end);
  EXPECT(Number(end->resource_version) >= Number(now));
  return Status::Ok();
}

Status TheEndOfNoInitialEventsIsTold(RestSubject& s) {
  Watching watch = s.Watch(Initial());
  EXPECT_EQ(watch.NextText(), "BOOKMARK-END");
  s.Add("a");
  EXPECT_EQ(watch.NextChange(), "ADDED a");
  return Status::Ok();
}

Status ChangesFollowInitialEvents(RestSubject& s) {
  s.Add("a");
  Watching watch = s.Watch(Initial());
  EXPECT_EQ(watch.NextText(), "ADDED a");
  EXPECT_EQ(watch.NextText(), "BOOKMARK-END");
  s.Remark("a", "two");
  s.Remove("a");
  EXPECT_EQ(watch.NextChange(), "MODIFIED a");
  EXPECT_EQ(watch.NextChange(), "DELETED a");
  return Status::Ok();
}

Status InitialEventsAreSelected(RestSubject& s) {
  s.Add("a", "red");
  s.Add("b", "blue");
  meta::ListOptions options = Initial();
  options.label_selector = *meta::LabelSelector::Parse("kit=blue");
  Watching watch = s.Watch(options);
  EXPECT_EQ(watch.NextText(), "ADDED b");
  EXPECT_EQ(watch.NextText(), "BOOKMARK-END");
  return Status::Ok();
}

Status InitialEventsMayAskForALeastVersion(RestSubject& s) {
  s.Add("a");
  s.Remark("a", "two");
  meta::ListOptions options = Initial();
  options.resource_version = s.Now();
  Watching watch = s.Watch(options);
  const auto event = watch.Next();
  EXPECT(event.ok());
  EXPECT(event->type == watch::EventType::kAdded);
  EXPECT_EQ(s.MarkOf(*event->object), "two");
  EXPECT_EQ(watch.NextText(), "BOOKMARK-END");
  return Status::Ok();
}

Status NoInitialEventsMeansFromNow(RestSubject& s) {
  s.Add("a");
  (void)s.List();
  meta::ListOptions options = Initial();
  options.send_initial_events = false;
  Watching watch = s.Watch(options);
  s.Add("b");
  EXPECT_EQ(watch.NextChange(), "ADDED b");
  return Status::Ok();
}

}  // namespace

RestCaseTable WatchCases() {
  return {
      {"watch: tells of changes in order", kWatches, AWatchTellsOfChangesInOrder},
      {"watch: may begin in the past", kWatches, AWatchMayBeginInThePast},
      {"watch: from a list's resourceVersion misses nothing", kWatches,
       AWatchFromAListMissesNothing},
      {"watch: an event is the object of its resourceVersion", kWatches,
       AnEventIsTheObjectOfItsVersion},
      {"watch: DELETED has the last state and a new resourceVersion", kWatches,
       ADeletionHasTheLastStateAndANewVersion},
      {"watch: resourceVersions of events ascend", kWatches, VersionsOfEventsAscend},
      {"watch: from 0 begins with the state", kWatches, AWatchFromZeroBeginsWithTheState},
      {"watch: a selector turns changes into ADDED and DELETED", kWatches | kLabels,
       ASelectorTurnsChangesIntoComingAndGoing},
      {"watch: of a name tells of no other object", kWatches, AWatchOfANameTellsOfNoOther},
      {"watch: of a namespace tells of no other", kWatches | kNamespaces,
       AWatchOfANamespaceTellsOfNoOther},
      {"watch: several do not disturb each other", kWatches, WatchesDoNotDisturbEachOther},
      {"watch: a bad resourceVersion is 400 or 422", kWatch, AWatchRefusesABadVersion},
      {"watch: gets a bookmark before its end", kWatches | kBookmarks,
       AWatchGetsABookmarkBeforeItsEnd},
      {"watch: from what is forgotten is complete or 410", kWatches | kExpiry,
       AWatchFromWhatIsForgottenHasExpired},
      {"watch: from before all history is complete or 410", kWatches | kExpiry,
       AVersionOfBeforeTheStartHasExpired},
  };
}

RestCaseTable InitialEventCases() {
  return {
      {"initial events: are the state, and end with a bookmark", kWatches,
       InitialEventsAreTheStateAndEnd},
      {"initial events: the end of none is told", kWatches, TheEndOfNoInitialEventsIsTold},
      {"initial events: changes follow", kWatches, ChangesFollowInitialEvents},
      {"initial events: are selected", kWatches | kLabels, InitialEventsAreSelected},
      {"initial events: may ask for a least resourceVersion", kWatches,
       InitialEventsMayAskForALeastVersion},
      {"initial events: none means from now", kWatches, NoInitialEventsMeansFromNow},
  };
}

}  // namespace apiserver::v0::testing::storage::rest_kit
