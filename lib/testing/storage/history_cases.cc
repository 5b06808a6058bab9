#include "base/status_macros.h"
#include "testing/storage/subject.h"

// The cases about reads of earlier revisions, and about compaction.
namespace apiserver::v0::testing::storage {
namespace {

// Writes, by revision: 2: a=1, 3: b=1, 4: a=2, 5: b deleted, 6: c=1, 7: b=2.
Status FillHistory(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  RETURN_IF_ERROR(s.Create("b", "1").status());
  RETURN_IF_ERROR(s.Update("a", "2").status());
  RETURN_IF_ERROR(s.Delete("b").status());
  RETURN_IF_ERROR(s.Create("c", "1").status());
  return s.Create("b", "2").status();
}

Status EveryRevision(Subject& s) {
  RETURN_IF_ERROR(FillHistory(s));
  const char* expected[] = {"", "a=1", "a=1 b=1", "a=2 b=1", "a=2", "a=2 c=1", "a=2 b=2 c=1"};
  for (Revision at = 1; at <= 7; ++at) {
    ASSIGN_OR_RETURN(const std::string text, s.Text("", at));
    EXPECT_EQ(text, expected[at - 1]);
    ASSIGN_OR_RETURN(const auto list, s.List("", at));
    EXPECT_EQ(list.count, list.kvs.size());
    // The response has the store's revision, not the one that was read.
    EXPECT_EQ(list.revision, 7);
  }
  return Status::Ok();
}

Status OldRevisionsOfAKey(Subject& s) {
  RETURN_IF_ERROR(FillHistory(s));
  ASSIGN_OR_RETURN(const auto a, s.Get("a", 5));
  EXPECT_EQ(a.mod_revision, 4);
  EXPECT_EQ(a.create_revision, 2);
  ASSIGN_OR_RETURN(const auto b, s.Get("b", 4));
  EXPECT_EQ(b.mod_revision, 3);
  EXPECT_EQ(b.create_revision, 3);
  ASSIGN_OR_RETURN(const auto again, s.Get("b", 7));
  EXPECT_EQ(again.create_revision, 7);
  return Status::Ok();
}

Status Future(Subject& s) {
  RETURN_IF_ERROR(FillHistory(s));
  auto read = s.Get("a", 8);
  EXPECT_REASON(read, Reason::kTimeout);
  const Status& status = read.status();
  EXPECT(status.details() != nullptr);
  // Clients recognise this error by its cause, as client-go does.
  EXPECT_EQ(status.details()->causes.size(), 1U);
  EXPECT_EQ(status.details()->causes[0].reason, "ResourceVersionTooLarge");
  EXPECT_EQ(status.details()->causes[0].message, "Too large resource version");
  EXPECT_EQ(status.message(), "Too large resource version: 8, current: 7");
  return Status::Ok();
}

Status BelowCompaction(Subject& s) {
  RETURN_IF_ERROR(FillHistory(s));
  RETURN_IF_ERROR(s.Compact(5));
  EXPECT_EQ(s.engine().CompactedRevision(), 5);
  EXPECT_REASON(s.Text("", 4), Reason::kExpired);
  EXPECT_REASON(s.Get("a", 1), Reason::kExpired);
  return Status::Ok();
}

Status AtCompaction(Subject& s) {
  RETURN_IF_ERROR(FillHistory(s));
  RETURN_IF_ERROR(s.Compact(3));
  // a=1 was superseded since, b=1 deleted since.
  ASSIGN_OR_RETURN(const std::string then, s.Text("", 3));
  EXPECT_EQ(then, "a=1 b=1");
  ASSIGN_OR_RETURN(const std::string later, s.Text("", 4));
  EXPECT_EQ(later, "a=2 b=1");
  ASSIGN_OR_RETURN(const std::string deleted, s.Text("", 5));
  EXPECT_EQ(deleted, "a=2");
  ASSIGN_OR_RETURN(const std::string now, s.Text(""));
  EXPECT_EQ(now, "a=2 b=2 c=1");
  return Status::Ok();
}

Status KeyFromBelowTheFloor(Subject& s) {
  RETURN_IF_ERROR(s.Create("old", "1").status());
  for (int i = 0; i < 10; ++i) RETURN_IF_ERROR(s.Tick().status());
  RETURN_IF_ERROR(s.Compact(8));
  for (const Revision at : {Revision{8}, Revision{10}, Revision{12}, Revision{0}}) {
    ASSIGN_OR_RETURN(const auto kv, s.Get("old", at));
    // The pair keeps its revision though that is below the compaction.
    EXPECT_EQ(kv.mod_revision, 2);
    EXPECT_EQ(*kv.value, "1");
  }
  RETURN_IF_ERROR(s.Update("old", "2").status());
  ASSIGN_OR_RETURN(const auto before, s.Get("old", 10));
  EXPECT_EQ(*before.value, "1");
  return Status::Ok();
}

Status DeletedBelowTheFloor(Subject& s) {
  RETURN_IF_ERROR(FillHistory(s));
  RETURN_IF_ERROR(s.Delete("c").status());
  RETURN_IF_ERROR(s.Tick().status());
  RETURN_IF_ERROR(s.Tick().status());
  RETURN_IF_ERROR(s.Compact(10));
  ASSIGN_OR_RETURN(const auto gone, s.Get("c", 10));
  EXPECT_EQ(gone.mod_revision, 0);
  RETURN_IF_ERROR(s.Create("c", "again").status());
  // The new version must not hide that the key was absent at 10.
  ASSIGN_OR_RETURN(const auto still_gone, s.Get("c", 10));
  EXPECT_EQ(still_gone.mod_revision, 0);
  ASSIGN_OR_RETURN(const auto now, s.Get("c"));
  EXPECT_EQ(now.create_revision, 11);
  return Status::Ok();
}

Status CompactionsCannotBeWrong(Subject& s) {
  RETURN_IF_ERROR(FillHistory(s));
  EXPECT_REASON(s.Compact(8), Reason::kInvalid);
  RETURN_IF_ERROR(s.Compact(5));
  // A compaction below an earlier one is ignored, as several servers may compact one store.
  RETURN_IF_ERROR(s.Compact(3));
  RETURN_IF_ERROR(s.Compact(5));
  EXPECT_EQ(s.engine().CompactedRevision(), 5);
  RETURN_IF_ERROR(s.Compact(7));
  ASSIGN_OR_RETURN(const std::string text, s.Text("", 7));
  EXPECT_EQ(text, "a=2 b=2 c=1");
  return Status::Ok();
}

Status OftenUpdatedKey(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "0").status());
  for (int i = 1; i <= 300; ++i) RETURN_IF_ERROR(s.Update("a", std::to_string(i)).status());
  for (Revision at = 2; at <= 302; at += 10) {
    ASSIGN_OR_RETURN(const auto kv, s.Get("a", at));
    EXPECT_EQ(*kv.value, std::to_string(at - 2));
  }
  RETURN_IF_ERROR(s.Compact(202));
  for (Revision at = 202; at <= 302; at += 10) {
    ASSIGN_OR_RETURN(const auto kv, s.Get("a", at));
    EXPECT_EQ(*kv.value, std::to_string(at - 2));
  }
  return Status::Ok();
}

Status CompactionFreesHistory(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", std::string(1000, 'x')).status());
  RETURN_IF_ERROR(s.Update("a", std::string(100, 'y')).status());
  RETURN_IF_ERROR(s.Create("b", std::string(10, 'z')).status());
  kv::Stats stats = s.engine().GetStats();
  EXPECT_EQ(stats.keys, 2U);
  EXPECT_EQ(stats.bytes, 110U);
  EXPECT_EQ(stats.history_bytes, 1000U);
  RETURN_IF_ERROR(s.Delete("b").status());
  RETURN_IF_ERROR(s.Tick().status());
  RETURN_IF_ERROR(s.Tick().status());
  RETURN_IF_ERROR(s.Compact(6));
  // An engine may free the history later, on a thread of its own.
  EXPECT(Eventually([&s] { return s.engine().GetStats().history_bytes <= 1; }));
  stats = s.engine().GetStats();
  EXPECT_EQ(stats.keys, 2U);
  EXPECT_EQ(stats.bytes, 101U);
  return Status::Ok();
}

}  // namespace

CaseTable HistoryCases() {
  return {
      {"the state as of every revision is readable", EveryRevision},
      {"a key has the revisions it had then", OldRevisionsOfAKey},
      {"a future revision is a timeout that says so", Future},
      {"a revision below the compaction is expired", BelowCompaction},
      {"the state at the compacted revision stays whole", AtCompaction},
      {"exact read of a key whose last change lies below the compaction floor",
       KeyFromBelowTheFloor},
      {"a key deleted below the floor does not come back", DeletedBelowTheFloor},
      {"a compaction in the future is invalid and one in the past does nothing",
       CompactionsCannotBeWrong},
      {"every version of a key that changes often is readable", OftenUpdatedKey},
      {"compaction frees what history held", CompactionFreesHistory, true},
  };
}

}  // namespace apiserver::v0::testing::storage
