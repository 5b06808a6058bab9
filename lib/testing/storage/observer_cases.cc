#include "base/status_macros.h"
#include "testing/storage/subject.h"

namespace apiserver::inline v0::testing::storage {
namespace {

// Writes down what it is told.
class Recorder final : public kv::Observer {
 public:
  void OnCommit(const std::vector<kv::Event>& events, Revision revision) override {
    auto state = state_.Lock();
    for (const kv::Event& event : events) {
      if (event.kv.mod_revision <= state->revision) state->ordered = false;
      state->revision = event.kv.mod_revision;
      state->events.push_back(event);
    }
    if (revision < state->revision) state->ordered = false;
    state->revision = revision;
  }
  void OnCompact(Revision compacted) override { state_.Lock()->compacted = compacted; }

  std::string Text() const { return TextOf(state_.Lock()->events); }
  std::size_t size() const { return state_.Lock()->events.size(); }
  Revision revision() const { return state_.Lock()->revision; }
  Revision compacted() const { return state_.Lock()->compacted; }
  bool ordered() const { return state_.Lock()->ordered; }

 private:
  struct State {
    std::vector<kv::Event> events;
    Revision revision = 0;
    Revision compacted = 0;
    bool ordered = true;
  };
  Guarded<State> state_;
};

Status FromTheNextOn(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  auto recorder = std::make_shared<Recorder>();
  ASSIGN_OR_RETURN(const Revision before, s.engine().AddObserver(recorder));
  EXPECT_EQ(before, 2);
  RETURN_IF_ERROR(s.Update("a", "2").status());
  RETURN_IF_ERROR(s.Txn("a", 0, "no").status());
  RETURN_IF_ERROR(s.Delete("a").status());
  EXPECT_EQ(recorder->Text(), "put a=2@3 was 1@2, delete a@4 was 2@3");
  EXPECT_EQ(recorder->revision(), 4);
  return Status::Ok();
}

Status BeforeTheAnswer(Subject& s) {
  auto recorder = std::make_shared<Recorder>();
  RETURN_IF_ERROR(s.engine().AddObserver(recorder).status());
  for (int i = 0; i < 50; ++i) {
    ASSIGN_OR_RETURN(const Revision revision, s.Create(std::to_string(i), "v"));
    EXPECT_EQ(recorder->revision(), revision);
  }
  return Status::Ok();
}

Status InOrderUnderLoad(Subject& s) {
  auto recorder = std::make_shared<Recorder>();
  RETURN_IF_ERROR(s.engine().AddObserver(recorder).status());
  std::atomic<int> late = 0;
  auto write = [&](const std::string& name) {
    for (int i = 0; i < 200; ++i) {
      auto revision = s.Create(name + std::to_string(i), "v");
      if (!revision.ok() || recorder->revision() < *revision) ++late;
    }
  };
  std::vector<Thread> threads;
  for (const char* name : {"a", "b", "c", "d"}) {
    threads.emplace_back("writer", [&write, name] { write(name); });
  }
  for (Thread& thread : threads) thread.Join();
  EXPECT_EQ(late.load(), 0);
  EXPECT(recorder->ordered());
  EXPECT_EQ(recorder->size(), 800U);
  return Status::Ok();
}

// Whatever is registered in the middle of writes sees exactly what follows.
Status NoGapAtTheStart(Subject& s) {
  std::atomic<bool> stop = false;
  std::atomic<int> failed = 0;
  Thread writer("writer", [&] {
    for (int i = 0; !stop; ++i) {
      if (!s.Create("k" + std::to_string(i), "v").ok()) ++failed;
    }
  });
  std::vector<std::pair<std::shared_ptr<Recorder>, Revision>> recorders;
  for (int i = 0; i < 20; ++i) {
    auto recorder = std::make_shared<Recorder>();
    auto before = s.engine().AddObserver(recorder);
    if (before.ok()) recorders.emplace_back(recorder, *before);
    Eventually([&recorder] { return recorder->size() > 2; });
  }
  stop = true;
  writer.Join();
  EXPECT_EQ(failed.load(), 0);
  EXPECT_EQ(recorders.size(), 20U);
  ASSIGN_OR_RETURN(const Revision last, s.Current());
  for (const auto& [recorder, before] : recorders) {
    EXPECT(recorder->ordered());
    EXPECT_EQ(recorder->size(), static_cast<std::size_t>(last - before));
  }
  return Status::Ok();
}

Status CompactionIsTold(Subject& s) {
  auto recorder = std::make_shared<Recorder>();
  RETURN_IF_ERROR(s.engine().AddObserver(recorder).status());
  for (int i = 0; i < 5; ++i) RETURN_IF_ERROR(s.Tick().status());
  RETURN_IF_ERROR(s.Compact(4));
  EXPECT_EQ(recorder->compacted(), 4);
  return Status::Ok();
}

Status LeaseEnds(Subject& s) {
  auto recorder = std::make_shared<Recorder>();
  RETURN_IF_ERROR(s.engine().AddObserver(recorder).status());
  ASSIGN_OR_RETURN(const kv::LeaseId lease,
                   s.engine().GrantLease(Context::Background(), std::chrono::seconds(1)));
  RETURN_IF_ERROR(s.Create("a", "1", lease).status());
  s.clock().Advance(std::chrono::seconds(2));
  EXPECT(Eventually([&recorder] { return recorder->size() == 2; }));
  EXPECT_EQ(recorder->Text(), "create a=1@2, delete a@3 was 1@2");
  return Status::Ok();
}

}  // namespace

CaseTable ObserverCases() {
  return {
      {"an observer sees exactly what follows its registration", FromTheNextOn},
      {"an observer is told before the writer is answered", BeforeTheAnswer},
      {"observers are told in order under load", InOrderUnderLoad},
      {"an observer registered amid writes misses nothing", NoGapAtTheStart},
      {"an observer is told of compaction", CompactionIsTold},
      {"an observer is told of the end of a lease", LeaseEnds},
  };
}

}  // namespace apiserver::inline v0::testing::storage
