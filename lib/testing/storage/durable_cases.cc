#include "base/status_macros.h"
#include "testing/storage/subject.h"

// The cases about a restart, for engines that can be reopened.
namespace apiserver::v0::testing::storage {
namespace {

// Writes, by revision: 2: a=1, 3: b=1, 4: a=2, 5: b deleted, 6: c=1.
Status FillBeforeRestart(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  RETURN_IF_ERROR(s.Create("b", "1").status());
  RETURN_IF_ERROR(s.Update("a", "2").status());
  RETURN_IF_ERROR(s.Delete("b").status());
  return s.Create("c", "1").status();
}

Status Keys(Subject& s) {
  RETURN_IF_ERROR(FillBeforeRestart(s));
  RETURN_IF_ERROR(s.Reopen());
  ASSIGN_OR_RETURN(const std::string text, s.Text(""));
  EXPECT_EQ(text, "a=2 c=1");
  ASSIGN_OR_RETURN(const auto a, s.Get("a"));
  EXPECT_EQ(a.create_revision, 2);
  EXPECT_EQ(a.mod_revision, 4);
  // Stats are counted again when the engine opens.
  EXPECT_EQ(s.engine().GetStats().keys, 2U);
  EXPECT_EQ(s.engine().GetStats().bytes, 2U);
  return Status::Ok();
}

Status Revisions(Subject& s) {
  RETURN_IF_ERROR(FillBeforeRestart(s));
  RETURN_IF_ERROR(s.Reopen());
  ASSIGN_OR_RETURN(const Revision current, s.Current());
  EXPECT_EQ(current, 6);
  ASSIGN_OR_RETURN(const Revision next, s.Update("a", "3"));
  // No revision is used twice, since clients keep resource versions across a restart.
  EXPECT_EQ(next, 7);
  RETURN_IF_ERROR(s.Reopen());
  ASSIGN_OR_RETURN(const Revision after, s.Current());
  EXPECT_EQ(after, 7);
  return Status::Ok();
}

Status EmptyStore(Subject& s) {
  RETURN_IF_ERROR(s.Reopen());
  ASSIGN_OR_RETURN(const Revision revision, s.Current());
  EXPECT_EQ(revision, 1);
  return Status::Ok();
}

Status HistoryAfterRestart(Subject& s) {
  RETURN_IF_ERROR(FillBeforeRestart(s));
  RETURN_IF_ERROR(s.Reopen());
  ASSIGN_OR_RETURN(const std::string then, s.Text("", 3));
  EXPECT_EQ(then, "a=1 b=1");
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "", 1));
  ASSIGN_OR_RETURN(const auto events, reader->ReadTo(6));
  EXPECT_EQ(TextOf(events),
            "create a=1@2, create b=1@3, put a=2@4 was 1@2, delete b@5 was 1@3, create c=1@6");
  return Status::Ok();
}

Status TailAcrossTheJoint(Subject& s) {
  RETURN_IF_ERROR(FillBeforeRestart(s));
  RETURN_IF_ERROR(s.Reopen());
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "", 5));
  RETURN_IF_ERROR(s.Update("c", "2").status());
  ASSIGN_OR_RETURN(const auto events, reader->ReadTo(7));
  EXPECT_EQ(TextOf(events), "delete b@5 was 1@3, create c=1@6, put c=2@7 was 1@6");
  RETURN_IF_ERROR(s.Delete("c").status());
  ASSIGN_OR_RETURN(const auto more, reader->ReadTo(8));
  EXPECT_EQ(TextOf(more), "delete c@8 was 2@7");
  return Status::Ok();
}

Status CompactionAfterRestart(Subject& s) {
  RETURN_IF_ERROR(FillBeforeRestart(s));
  RETURN_IF_ERROR(s.Compact(4));
  RETURN_IF_ERROR(s.Reopen());
  EXPECT_EQ(s.engine().CompactedRevision(), 4);
  EXPECT_REASON(s.Text("", 3), Reason::kExpired);
  ASSIGN_OR_RETURN(const std::string then, s.Text("", 4));
  EXPECT_EQ(then, "a=2 b=1");
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "", 3));
  EXPECT_REASON(reader->ReadToEnd(), Reason::kExpired);
  RETURN_IF_ERROR(s.Compact(6));
  RETURN_IF_ERROR(s.Reopen());
  ASSIGN_OR_RETURN(const Revision current, s.Current());
  EXPECT_EQ(current, 6);
  ASSIGN_OR_RETURN(const std::string now, s.Text(""));
  EXPECT_EQ(now, "a=2 c=1");
  return Status::Ok();
}

Status Leases(Subject& s) {
  ASSIGN_OR_RETURN(const kv::LeaseId lease,
                   s.engine().GrantLease(Context::Background(), std::chrono::seconds(2)));
  RETURN_IF_ERROR(s.Create("a", "1", lease).status());
  RETURN_IF_ERROR(s.Reopen());
  // The restored lease accepts further keys.
  RETURN_IF_ERROR(s.Create("b", "1", lease).status());
  ASSIGN_OR_RETURN(const kv::LeaseId other,
                   s.engine().GrantLease(Context::Background(), std::chrono::seconds(3600)));
  // Ids of leases must go on as well: a reused id would attach the key to the wrong lease.
  EXPECT(other != lease);
  RETURN_IF_ERROR(s.Create("c", "1", other).status());
  s.clock().Advance(std::chrono::seconds(4));
  EXPECT(Eventually([&s] {
    auto text = s.Text("");
    return text.ok() && *text == "c=1";
  }));
  RETURN_IF_ERROR(s.Reopen());
  EXPECT_REASON(s.Create("d", "1", lease), Reason::kNotFound);
  return Status::Ok();
}

Status ManyKeys(Subject& s) {
  for (int i = 0; i < 300; ++i) RETURN_IF_ERROR(s.Create("k" + std::to_string(i), "v").status());
  for (int i = 0; i < 300; i += 3) RETURN_IF_ERROR(s.Delete("k" + std::to_string(i)).status());
  ASSIGN_OR_RETURN(const std::string before, s.Text(""));
  RETURN_IF_ERROR(s.Reopen());
  ASSIGN_OR_RETURN(const std::string after, s.Text(""));
  EXPECT_EQ(after, before);
  // Revision 301 is the last create: the deleted keys are still there.
  ASSIGN_OR_RETURN(const auto then, s.List("", 301));
  EXPECT_EQ(then.kvs.size(), 300U);
  return Status::Ok();
}

}  // namespace

CaseTable DurableCases() {
  return {
      {"keys survive a restart with their revisions", Keys},
      {"revisions go on after a restart", Revisions},
      {"an empty store stays empty", EmptyStore},
      {"history survives a restart", HistoryAfterRestart},
      {"a tail goes from before a restart to after it", TailAcrossTheJoint},
      {"compaction survives a restart", CompactionAfterRestart},
      {"leases survive a restart", Leases},
      {"hundreds of keys survive a restart", ManyKeys},
  };
}

}  // namespace apiserver::v0::testing::storage
