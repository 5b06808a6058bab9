#include "base/status_macros.h"
#include "testing/storage/subject.h"

// The cases about the end of an engine, and about its stats.
namespace apiserver::v0::testing::storage {
namespace {

Status NothingAfterStop(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  s.engine().Stop();
  EXPECT_REASON(s.Get("a"), Reason::kServiceUnavailable);
  EXPECT_REASON(s.Txn("b", 0, "1"), Reason::kServiceUnavailable);
  EXPECT_REASON(s.Current(), Reason::kServiceUnavailable);
  EXPECT_REASON(s.Compact(2), Reason::kServiceUnavailable);
  EXPECT_REASON(s.engine().NewTail("", 0), Reason::kServiceUnavailable);
  EXPECT_REASON(s.engine().GrantLease(Context::Background(), std::chrono::seconds(1)),
                Reason::kServiceUnavailable);
  EXPECT_REASON(s.engine().RequestProgress(Context::Background()), Reason::kServiceUnavailable);
  EXPECT_REASON(s.engine().Ready(), Reason::kServiceUnavailable);
  return Status::Ok();
}

Status StopTwice(Subject& s) {
  s.engine().Stop();
  s.engine().Stop();
  EXPECT_REASON(s.Current(), Reason::kServiceUnavailable);
  return Status::Ok();
}

Status StopEndsTails(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  ASSIGN_OR_RETURN(const auto waiting, TailReader::Open(s.engine(), "", 0));
  kv::EventBatch batch;
  EXPECT(waiting->Poll(batch) == kv::Tail::State::kWait);
  s.engine().Stop();
  // Without the wake-up a reader would never poll again, and never see the end.
  EXPECT(waiting->WaitForWake());
  EXPECT(waiting->Poll(batch) == kv::Tail::State::kEnd);
  EXPECT_REASON(waiting->tail().status(), Reason::kServiceUnavailable);
  return Status::Ok();
}

Status StopUnderLoad(Subject& s) {
  std::atomic<int> wrong = 0;
  Guarded<int> running{0};
  auto write = [&](const std::string& name) {
    for (int i = 0;; ++i) {
      // Each write is either complete or refused with kServiceUnavailable, at whatever point Stop()
      // meets it.
      const auto revision = s.Create(name + std::to_string(i), "v");
      if (!revision.ok()) {
        if (revision.status().reason() != Reason::kServiceUnavailable) ++wrong;
        return;
      }
      if (i > 0) continue;
      ++*running.Lock();
      running.NotifyAll();
    }
  };
  std::vector<Thread> threads;
  for (const char* name : {"a", "b", "c", "d"}) {
    threads.emplace_back("writer", [&write, name] { write(name); });
  }
  {
    auto all = running.Lock();
    // Stops only after every thread has written once, so that writes are running.
    all.Wait([&all] { return *all == 4; });
  }
  s.engine().Stop();
  for (Thread& thread : threads) thread.Join();
  EXPECT_EQ(wrong.load(), 0);
  return Status::Ok();
}

Status StatsFollow(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "12345").status());
  RETURN_IF_ERROR(s.Create("b", "123").status());
  EXPECT_EQ(s.engine().GetStats().keys, 2U);
  EXPECT_EQ(s.engine().GetStats().bytes, 8U);
  RETURN_IF_ERROR(s.Delete("a").status());
  EXPECT_EQ(s.engine().GetStats().keys, 1U);
  EXPECT_EQ(s.engine().GetStats().bytes, 3U);
  return Status::Ok();
}

}  // namespace

CaseTable LifeCases() {
  return {
      {"a stopped engine is unavailable", NothingAfterStop},
      {"an engine may be stopped twice", StopTwice},
      {"stopping ends and wakes tails", StopEndsTails},
      {"stopping lets running writes end and refuses the rest", StopUnderLoad},
      {"stats follow the live keys", StatsFollow, true},
  };
}

}  // namespace apiserver::v0::testing::storage
