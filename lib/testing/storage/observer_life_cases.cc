#include <thread>

#include "testing/storage/recorder.h"

// Cases about the end of an observation, and about waiting for a revision without events.
namespace apiserver::v0::testing::storage {
namespace {

Status NoCallAfterTheEnd(Subject& s) {
  Recorder gone;
  Recorder neighbour;
  RETURN_IF_ERROR(gone.Observe(s.engine(), "a/"));
  RETURN_IF_ERROR(neighbour.Observe(s.engine(), "a/"));
  RETURN_IF_ERROR(s.Create("a/1", "v").status());
  gone.End();
  RETURN_IF_ERROR(s.Create("a/2", "v").status());
  RETURN_IF_ERROR(s.Compact(2));
  EXPECT_EQ(gone.Text(), "create a/1=v@2");
  EXPECT_EQ(gone.compacted(), 0);
  // An ended observation keeps its progress.
  EXPECT_EQ(gone.seen(), 2);
  EXPECT_EQ(neighbour.Text(), "create a/1=v@2, create a/2=v@3");
  EXPECT_EQ(neighbour.compacted(), 2);
  EXPECT_EQ(neighbour.seen(), 3);
  return Status::Ok();
}

// A prefix between others is removed and added again.
Status NeighboursStay(Subject& s) {
  Recorder all;
  Recorder middle;
  Recorder inner;
  RETURN_IF_ERROR(all.Observe(s.engine(), ""));
  RETURN_IF_ERROR(inner.Observe(s.engine(), "a/b/"));
  RETURN_IF_ERROR(middle.Observe(s.engine(), "a/"));
  RETURN_IF_ERROR(s.Create("a/b/1", "v").status());
  middle.End();
  RETURN_IF_ERROR(s.Create("a/b/2", "v").status());
  RETURN_IF_ERROR(s.Create("a/c", "v").status());
  Recorder again;
  RETURN_IF_ERROR(again.Observe(s.engine(), "a/"));
  inner.End();
  RETURN_IF_ERROR(s.Create("a/b/3", "v").status());
  EXPECT_EQ(all.Text(), "create a/b/1=v@2, create a/b/2=v@3, create a/c=v@4, create a/b/3=v@5");
  EXPECT_EQ(middle.Text(), "create a/b/1=v@2");
  EXPECT_EQ(inner.Text(), "create a/b/1=v@2, create a/b/2=v@3");
  EXPECT_EQ(again.Text(), "create a/b/3=v@5");
  EXPECT_EQ(again.begin(), 4);
  return Status::Ok();
}

Status EndInItsOwnCall(Subject& s) {
  Recorder* self = nullptr;
  Recorder recorder([&self] { self->End(); });
  self = &recorder;
  RETURN_IF_ERROR(recorder.Observe(s.engine()));
  RETURN_IF_ERROR(s.Create("a", "1").status());
  RETURN_IF_ERROR(s.Create("b", "1").status());
  EXPECT_EQ(recorder.Text(), "create a=1@2");
  return Status::Ok();
}

Status EndInAnothersCall(Subject& s) {
  Recorder victim;
  Recorder recorder([&victim] { victim.End(); });
  RETURN_IF_ERROR(recorder.Observe(s.engine(), "a"));
  RETURN_IF_ERROR(victim.Observe(s.engine(), "a"));
  RETURN_IF_ERROR(s.Create("a", "1").status());
  // The order of the two calls is not promised.
  const std::size_t before = victim.calls();
  EXPECT(before <= 1);
  RETURN_IF_ERROR(s.Create("ab", "1").status());
  EXPECT_EQ(victim.calls(), before);
  EXPECT_EQ(recorder.calls(), 2U);
  return Status::Ok();
}

// An observer after its end.
struct Ended {
  std::unique_ptr<Recorder> recorder;
  std::size_t calls;  // The number when its end returned.
};

// Begins and ends observers. Returns how often a call was still running after its observer's end.
int ChurnObservers(Subject& s, int rounds, std::vector<Ended>& ended) {
  int late = 0;
  for (int i = 0; i < rounds; ++i) {
    std::atomic<bool> inside = false;
    auto recorder = std::make_unique<Recorder>([&inside] {
      inside = true;
      std::this_thread::yield();
      inside = false;
    });
    const char* prefix = std::vector<const char*>{"", "k/", "k/1", "k", "none"}[i % 5];
    if (!recorder->Observe(s.engine(), prefix).ok()) return -1;
    if (i % 5 < 4 && !Eventually([&recorder] { return recorder->calls() > 0; })) return -1;
    recorder->End();
    if (inside) ++late;
    const std::size_t calls = recorder->calls();
    // The others are freed here, amid the writes.
    if (i % 2 == 0) ended.push_back({std::move(recorder), calls});
  }
  return late;
}

Status EndAmidWrites(Subject& s) {
  std::atomic<bool> stop = false;
  std::atomic<int> failed = 0;
  std::vector<Thread> writers;
  for (const char* name : {"k/0", "k/1"}) {
    writers.emplace_back("writer", [&stop, &failed, &s, name] {
      for (int i = 0; !stop; ++i) {
        if (!s.Create(name + std::to_string(i), "v").ok()) ++failed;
      }
    });
  }
  std::vector<Ended> ended;
  const int late = ChurnObservers(s, 200, ended);
  stop = true;
  for (Thread& writer : writers) writer.Join();
  EXPECT_EQ(failed.load(), 0);
  EXPECT_EQ(late, 0);
  EXPECT_EQ(ended.size(), 100U);
  for (const Ended& one : ended) {
    EXPECT_EQ(one.recorder->calls(), one.calls);
    EXPECT(one.recorder->honest());
  }
  return Status::Ok();
}

Status WaiterIsTold(Subject& s) {
  Recorder recorder;
  RETURN_IF_ERROR(recorder.Observe(s.engine(), "a/"));
  int told = 0;
  int dropped = 0;
  const auto waits = recorder.progress().WhenSeen(3, [&told] { ++told; });
  (void)recorder.progress().WhenSeen(2, [&dropped] { ++dropped; });
  RETURN_IF_ERROR(s.Create("b/1", "v").status());
  EXPECT_EQ(told, 0);
  // The waiter is called before this write returns.
  RETURN_IF_ERROR(s.Create("b/2", "v").status());
  EXPECT_EQ(told, 1);
  RETURN_IF_ERROR(s.Create("b/3", "v").status());
  EXPECT_EQ(told, 1);
  const auto passed = recorder.progress().WhenSeen(4, [&told] { ++told; });
  EXPECT_EQ(told, 2);
  EXPECT_EQ(dropped, 0);
  EXPECT_EQ(recorder.calls(), 0U);
  return Status::Ok();
}

// Registers a waiter while its revision is being committed, with no later commit that would find
// it.
Status NoWaiterIsLost(Subject& s) {
  Recorder recorder;
  RETURN_IF_ERROR(recorder.Observe(s.engine(), "a/"));
  constexpr Revision kLast = 400;
  std::atomic<Revision> wanted = 0;
  std::atomic<int> early = 0;
  std::atomic<int> lost = 0;
  Thread waiter("waiter", [&] {
    for (Revision at = 2; at <= kLast && lost == 0; ++at) {
      wanted = at;
      Notification told;
      const auto waits = recorder.progress().WhenSeen(at, [&recorder, &early, &told, at] {
        if (recorder.seen() < at) ++early;
        told.Notify();
      });
      if (!told.WaitFor(std::chrono::seconds(60))) ++lost;
    }
  });
  Status failed;
  for (Revision at = 2; at <= kLast && failed.ok() && lost == 0; ++at) {
    while (wanted < at && lost == 0) {
    }
    failed = s.Create("b/" + std::to_string(at), "v").status();
  }
  if (!failed.ok()) ++lost;
  waiter.Join();
  RETURN_IF_ERROR(failed);
  EXPECT_EQ(early.load(), 0);
  EXPECT_EQ(lost.load(), 0);
  EXPECT_EQ(recorder.calls(), 0U);
  return Status::Ok();
}

}  // namespace

CaseTable ObserverLifeCases() {
  return {
      {"an observer is not called once its observation has ended", NoCallAfterTheEnd},
      {"an observation that ends leaves those around its prefix alone", NeighboursStay},
      {"an observation may end in a call of its observer", EndInItsOwnCall},
      {"an observation may end in a call of another observer", EndInAnothersCall},
      {"an observation that ends amid writes waits for the call that runs", EndAmidWrites},
      {"a waiter is told when the engine comes to its revision", WaiterIsTold},
      {"no waiter is left behind by the revision it waits for", NoWaiterIsLost},
  };
}

}  // namespace apiserver::v0::testing::storage
