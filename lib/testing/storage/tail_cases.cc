#include "base/status_macros.h"
#include "testing/storage/subject.h"

// The cases about tails: their events, progress, wake-ups, and compaction behind, at and ahead of
// them.
namespace apiserver::v0::testing::storage {
namespace {

// Writes, by revision: 2: a=1, 3: b=1, 4: a=2, 5: b deleted, 6: b=2.
Status FillTail(Subject& s) {
  RETURN_IF_ERROR(s.Create("/x/a", "1").status());
  RETURN_IF_ERROR(s.Create("/y/b", "1").status());
  RETURN_IF_ERROR(s.Update("/x/a", "2").status());
  RETURN_IF_ERROR(s.Delete("/y/b").status());
  return s.Create("/y/b", "2").status();
}

Status Read(Subject& s, const std::string& prefix, Revision from, const std::string& expected) {
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), prefix, from));
  // Read before the progress is requested, so that the tail must reach it.
  ASSIGN_OR_RETURN(const Revision now, s.Current());
  RETURN_IF_ERROR(s.engine().RequestProgress(Context::Background()));
  ASSIGN_OR_RETURN(const auto events, reader->ReadTo(now));
  EXPECT_EQ(TextOf(events), expected);
  return Status::Ok();
}

Status WholeLog(Subject& s) {
  RETURN_IF_ERROR(FillTail(s));
  return Read(s, "", 1,
              "create /x/a=1@2, create /y/b=1@3, put /x/a=2@4 was 1@2, delete /y/b@5 was 1@3, "
              "create /y/b=2@6");
}

Status FromTheMiddle(Subject& s) {
  RETURN_IF_ERROR(FillTail(s));
  return Read(s, "", 4, "put /x/a=2@4 was 1@2, delete /y/b@5 was 1@3, create /y/b=2@6");
}

Status OnePrefix(Subject& s) {
  RETURN_IF_ERROR(FillTail(s));
  RETURN_IF_ERROR(s.Create("/x", "no").status());
  RETURN_IF_ERROR(s.Create("/x0", "no").status());
  RETURN_IF_ERROR(Read(s, "/x/", 1, "create /x/a=1@2, put /x/a=2@4 was 1@2"));
  return Read(s, "/z/", 1, "");
}

Status EventsHaveRevisions(Subject& s) {
  RETURN_IF_ERROR(FillTail(s));
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "", 4));
  ASSIGN_OR_RETURN(const auto events, reader->ReadTo(6));
  EXPECT_EQ(events.size(), 3U);
  EXPECT_EQ(events[0].kv.create_revision, 2);
  EXPECT_EQ(events[0].previous.key, "/x/a");
  EXPECT_EQ(events[0].previous.create_revision, 2);
  EXPECT_EQ(events[1].kv.mod_revision, 5);
  EXPECT(events[1].kv.value == nullptr);
  EXPECT_EQ(events[1].previous.create_revision, 3);
  // The key existed until 5, but a create has nothing before it.
  EXPECT_EQ(events[2].previous.mod_revision, 0);
  EXPECT_EQ(events[2].kv.create_revision, 6);
  return Status::Ok();
}

Status FromNowOn(Subject& s) {
  RETURN_IF_ERROR(FillTail(s));
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "", 0));
  kv::EventBatch batch;
  EXPECT(reader->Poll(batch) == kv::Tail::State::kWait);
  RETURN_IF_ERROR(s.Create("/x/c", "1").status());
  ASSIGN_OR_RETURN(const auto events, reader->ReadTo(7));
  EXPECT_EQ(TextOf(events), "create /x/c=1@7");
  return Status::Ok();
}

Status FromTheFuture(Subject& s) {
  RETURN_IF_ERROR(FillTail(s));
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "", 9));
  for (const char* key : {"/7", "/8", "/9", "/10"}) {
    RETURN_IF_ERROR(s.Create(key, "v").status());
  }
  ASSIGN_OR_RETURN(const auto events, reader->ReadTo(10));
  EXPECT_EQ(TextOf(events), "create /9=v@9, create /10=v@10");
  return Status::Ok();
}

Status Wakes(Subject& s) {
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "/x/", 0));
  // More than once: a waker serves one wait.
  for (int i = 0; i < 5; ++i) {
    kv::EventBatch batch;
    EXPECT(reader->Poll(batch) == kv::Tail::State::kWait);
    ASSIGN_OR_RETURN(const Revision revision, s.Update("/x/a", std::to_string(i)));
    EXPECT(reader->WaitForWake());
    ASSIGN_OR_RETURN(const auto events, reader->ReadTo(revision));
    EXPECT_EQ(events.size(), 1U);
  }
  return Status::Ok();
}

Status Progress(Subject& s) {
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "/x/", 0));
  kv::EventBatch batch;
  EXPECT(reader->Poll(batch) == kv::Tail::State::kWait);
  for (int i = 0; i < 3; ++i) RETURN_IF_ERROR(s.Tick().status());
  // Without it an engine need not say that a prefix has no more events.
  RETURN_IF_ERROR(s.engine().RequestProgress(Context::Background()));
  ASSIGN_OR_RETURN(const auto events, reader->ReadTo(4));
  EXPECT(events.empty());
  return Status::Ok();
}

Status ProgressNeverLies(Subject& s) {
  for (int i = 0; i < 700; ++i) {
    RETURN_IF_ERROR(s.Create((i % 3 == 0 ? "/x/" : "/y/") + std::to_string(i), "v").status());
  }
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "/x/", 1));
  Revision complete = 0;
  Revision last = 0;
  std::size_t seen = 0;
  while (complete < 701) {
    kv::EventBatch batch;
    const kv::Tail::State state = reader->Poll(batch);
    // A remote tail reads ahead on its own; an embedded one has the whole log at once.
    if (state == kv::Tail::State::kWait && s.host().remote) {
      EXPECT(reader->WaitForWake());
      continue;
    }
    EXPECT(state == kv::Tail::State::kEvents);
    for (const kv::Event& event : batch.events) {
      EXPECT(event.kv.mod_revision > last);
      EXPECT(event.kv.mod_revision > complete);
      EXPECT(event.kv.mod_revision <= batch.complete_up_to);
      last = event.kv.mod_revision;
      ++seen;
    }
    EXPECT(batch.complete_up_to >= complete);
    complete = batch.complete_up_to;
  }
  // Every third of 700.
  EXPECT_EQ(seen, 234U);
  return Status::Ok();
}

Status TailBelowCompaction(Subject& s) {
  RETURN_IF_ERROR(FillTail(s));
  RETURN_IF_ERROR(s.Compact(4));
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "", 3));
  kv::EventBatch batch;
  EXPECT(reader->Poll(batch) == kv::Tail::State::kEnd);
  EXPECT_REASON(reader->tail().status(), Reason::kExpired);
  EXPECT_EQ(reader->tail().compacted_revision(), 4);
  // The end is final.
  EXPECT(reader->Poll(batch) == kv::Tail::State::kEnd);
  return Status::Ok();
}

Status FromTheCompactedRevision(Subject& s) {
  RETURN_IF_ERROR(FillTail(s));
  RETURN_IF_ERROR(s.Compact(5));
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "", 5));
  ASSIGN_OR_RETURN(const auto events, reader->ReadTo(6));
  EXPECT_EQ(events.size(), 2U);
  // The compaction may have taken the previous value, so only type and revision are compared.
  EXPECT(events[0].type == kv::Event::Type::kDelete);
  EXPECT_EQ(events[0].kv.mod_revision, 5);
  EXPECT_EQ(TextOf(events[1]), "create /y/b=2@6");
  return Status::Ok();
}

Status PreviousBelowTheFloor(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  for (int i = 0; i < 5; ++i) RETURN_IF_ERROR(s.Tick().status());
  RETURN_IF_ERROR(s.Compact(6));
  RETURN_IF_ERROR(s.Update("a", "2").status());
  RETURN_IF_ERROR(s.Delete("a").status());
  return Read(s, "a", 7, "put a=2@8 was 1@2, delete a@9 was 2@8");
}

Status CompactionPassesACaughtUpTail(Subject& s) {
  RETURN_IF_ERROR(FillTail(s));
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "", 1));
  RETURN_IF_ERROR(reader->ReadTo(6).status());
  RETURN_IF_ERROR(s.Compact(6));
  RETURN_IF_ERROR(s.Create("c", "1").status());
  ASSIGN_OR_RETURN(const auto events, reader->ReadTo(7));
  EXPECT_EQ(TextOf(events), "create c=1@7");
  return Status::Ok();
}

Status CompactionPassesAWaitingTail(Subject& s) {
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "/x/", 0));
  kv::EventBatch batch;
  EXPECT(reader->Poll(batch) == kv::Tail::State::kWait);
  for (int i = 0; i < 600; ++i) RETURN_IF_ERROR(s.Tick().status());
  RETURN_IF_ERROR(s.engine().RequestProgress(Context::Background()));
  // The prefix was quiet, so only progress tells that the tail is past the compaction.
  RETURN_IF_ERROR(reader->ReadTo(601).status());
  RETURN_IF_ERROR(s.Compact(601));
  RETURN_IF_ERROR(s.Create("/x/a", "1").status());
  ASSIGN_OR_RETURN(const auto events, reader->ReadTo(602));
  EXPECT_EQ(TextOf(events), "create /x/a=1@602");
  return Status::Ok();
}

Status CompactionEndsATailThatIsBehind(Subject& s) {
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "", 2));
  for (int i = 0; i < 600; ++i) RETURN_IF_ERROR(s.Tick().status());
  RETURN_IF_ERROR(s.Compact(600));
  EXPECT_REASON(reader->ReadToEnd(), Reason::kExpired);
  EXPECT_EQ(reader->tail().compacted_revision(), 600);
  return Status::Ok();
}

Status IndependentTails(Subject& s) {
  ASSIGN_OR_RETURN(const auto one, TailReader::Open(s.engine(), "/x/", 1));
  ASSIGN_OR_RETURN(auto two, TailReader::Open(s.engine(), "", 1));
  RETURN_IF_ERROR(FillTail(s));
  ASSIGN_OR_RETURN(const auto all, two->ReadTo(6));
  EXPECT_EQ(all.size(), 5U);
  // The end of one tail must not take the progress of the other.
  two.reset();
  RETURN_IF_ERROR(s.engine().RequestProgress(Context::Background()));
  ASSIGN_OR_RETURN(const auto some, one->ReadTo(6));
  EXPECT_EQ(some.size(), 2U);
  return Status::Ok();
}

Status NoWaker(Subject& s) {
  ASSIGN_OR_RETURN(const auto tail, s.engine().NewTail("", 0));
  kv::EventBatch batch;
  EXPECT(tail->Next(batch, Waker()) == kv::Tail::State::kWait);
  RETURN_IF_ERROR(s.Create("a", "1").status());
  EXPECT(Eventually([&] { return tail->Next(batch, Waker()) == kv::Tail::State::kEvents; }));
  EXPECT_EQ(TextOf(batch.events), "create a=1@2");
  return Status::Ok();
}

Status BatchIsReplaced(Subject& s) {
  RETURN_IF_ERROR(FillTail(s));
  ASSIGN_OR_RETURN(const auto tail, s.engine().NewTail("", 6));
  kv::EventBatch batch;
  // Leftovers of an earlier call.
  batch.events.resize(3);
  batch.complete_up_to = 99;
  EXPECT(Eventually([&] { return tail->Next(batch, Waker()) == kv::Tail::State::kEvents; }));
  EXPECT_EQ(TextOf(batch.events), "create /y/b=2@6");
  EXPECT_EQ(batch.complete_up_to, 6);
  return Status::Ok();
}

}  // namespace

CaseTable TailCases() {
  return {
      {"a tail has every change with what was there before", WholeLog},
      {"a tail begins at its revision", FromTheMiddle},
      {"a tail has one prefix only", OnePrefix},
      {"events carry the revisions of keys, before and after", EventsHaveRevisions},
      {"a tail from zero begins now", FromNowOn},
      {"a tail from the future skips what comes before", FromTheFuture},
      {"a waiting tail wakes its reader every time", Wakes},
      {"a request for progress reaches a tail whose prefix is quiet", Progress},
      {"no event comes after a batch that declared it complete", ProgressNeverLies},
      {"a tail from below the compaction ends as expired", TailBelowCompaction},
      {"a tail from the compacted revision works", FromTheCompactedRevision, true},
      {"a previous value from below the floor is there", PreviousBelowTheFloor},
      {"compaction passes a tail that has caught up", CompactionPassesACaughtUpTail},
      {"compaction passes a tail that waited", CompactionPassesAWaitingTail},
      {"compaction ends a tail that is behind", CompactionEndsATailThatIsBehind, true},
      {"tails do not disturb each other", IndependentTails},
      {"a tail without a waker can be polled", NoWaker},
      {"a batch is filled anew", BatchIsReplaced},
  };
}

}  // namespace apiserver::v0::testing::storage
