#include "testing/storage/recorder.h"

// Cases about an observer's calls and their order.
namespace apiserver::v0::testing::storage {
namespace {

Status FromTheNextOn(Subject& s) {
  RETURN_IF_ERROR(s.Create("a", "1").status());
  Recorder recorder;
  RETURN_IF_ERROR(recorder.Observe(s.engine()));
  EXPECT_EQ(recorder.begin(), 2);
  EXPECT_EQ(recorder.seen(), 2);
  RETURN_IF_ERROR(s.Update("a", "2").status());
  // A failed comparison is no commit.
  RETURN_IF_ERROR(s.Txn("a", 0, "no").status());
  RETURN_IF_ERROR(s.Delete("a").status());
  EXPECT_EQ(recorder.Text(), "put a=2@3 was 1@2, delete a@4 was 2@3");
  EXPECT_EQ(recorder.revision(), 4);
  EXPECT_EQ(recorder.seen(), 4);
  return Status::Ok();
}

Status BeforeTheAnswer(Subject& s) {
  Recorder recorder;
  RETURN_IF_ERROR(recorder.Observe(s.engine()));
  for (int i = 0; i < 50; ++i) {
    ASSIGN_OR_RETURN(const Revision revision, s.Create(std::to_string(i), "v"));
    EXPECT_EQ(recorder.revision(), revision);
    EXPECT_EQ(recorder.seen(), revision);
  }
  return Status::Ok();
}

// Uses four writers, so that an engine that batches has batches of several prefixes.
Status InOrderUnderLoad(Subject& s) {
  Recorder all;
  Recorder some;
  RETURN_IF_ERROR(all.Observe(s.engine()));
  RETURN_IF_ERROR(some.Observe(s.engine(), "b/"));
  std::atomic<int> late = 0;
  auto write = [&](const std::string& name) {
    for (int i = 0; i < 200; ++i) {
      auto revision = s.Create(name + std::to_string(i), "v");
      if (!revision.ok() || all.revision() < *revision || some.seen() < *revision) ++late;
    }
  };
  std::vector<Thread> threads;
  for (const char* name : {"a/", "b/", "c/", "d/"}) {
    threads.emplace_back("writer", [&write, name] { write(name); });
  }
  for (Thread& thread : threads) thread.Join();
  EXPECT_EQ(late.load(), 0);
  EXPECT(all.honest());
  EXPECT(some.honest());
  EXPECT_EQ(all.size(), 800U);
  EXPECT_EQ(some.size(), 200U);
  return Status::Ok();
}

// An observer registered amid writes gets exactly the later events, for any prefix.
Status NoGapAtTheStart(Subject& s) {
  std::atomic<bool> stop = false;
  std::atomic<int> failed = 0;
  Thread writer("writer", [&] {
    for (int i = 0; !stop; ++i) {
      if (!s.Create("k/" + std::to_string(i), "v").ok()) ++failed;
    }
  });
  std::vector<std::unique_ptr<Recorder>> recorders;
  Status refused;
  for (int i = 0; i < 20 && refused.ok(); ++i) {
    recorders.push_back(std::make_unique<Recorder>());
    Recorder& recorder = *recorders.back();
    refused = recorder.Observe(s.engine(), std::vector<std::string>{"k/", "", "k"}[i % 3]);
    Eventually([&recorder] { return recorder.size() > 2; });
  }
  stop = true;
  writer.Join();
  RETURN_IF_ERROR(refused);
  EXPECT_EQ(failed.load(), 0);
  ASSIGN_OR_RETURN(const Revision last, s.Current());
  for (const auto& recorder : recorders) {
    EXPECT(recorder->honest());
    EXPECT_EQ(recorder->size(), static_cast<std::size_t>(last - recorder->begin()));
  }
  return Status::Ok();
}

struct Scoped {
  const char* prefix;
  const char* told;
};

Status OnlyItsPrefix(Subject& s) {
  const Scoped scopes[] = {
      {"",
       "create a/b/c=1@2, create a/bd=1@3, create a=1@4, create b/=1@5, create ab=1@6, "
       "delete a/b/c@7 was 1@2"},
      {"a",
       "create a/b/c=1@2, create a/bd=1@3, create a=1@4, create ab=1@6, delete a/b/c@7 was 1@2"},
      {"a/", "create a/b/c=1@2, create a/bd=1@3, delete a/b/c@7 was 1@2"},
      {"a/b/", "create a/b/c=1@2, delete a/b/c@7 was 1@2"},
      {"a/b", "create a/b/c=1@2, create a/bd=1@3, delete a/b/c@7 was 1@2"},
      {"a/b/c", "create a/b/c=1@2, delete a/b/c@7 was 1@2"},
      {"a/b/c/", ""},
      {"a/b/", "create a/b/c=1@2, delete a/b/c@7 was 1@2"},
      {"b", "create b/=1@5"},
      {"c", ""},
  };
  std::vector<std::unique_ptr<Recorder>> recorders;
  for (const Scoped& scope : scopes) {
    recorders.push_back(std::make_unique<Recorder>());
    RETURN_IF_ERROR(recorders.back()->Observe(s.engine(), scope.prefix));
  }
  for (const char* key : {"a/b/c", "a/bd", "a", "b/", "ab"}) {
    RETURN_IF_ERROR(s.Create(key, "1").status());
  }
  RETURN_IF_ERROR(s.Delete("a/b/c").status());
  for (std::size_t i = 0; i < recorders.size(); ++i) {
    EXPECT_EQ(recorders[i]->Text(), scopes[i].told);
    EXPECT_EQ(recorders[i]->seen(), 7);
  }
  return Status::Ok();
}

// An observer without events is not called, which keeps a commit cheap; its progress advances
// nevertheless.
Status NothingForIt(Subject& s) {
  std::vector<std::unique_ptr<Recorder>> idle;
  for (int i = 0; i < 1000; ++i) {
    idle.push_back(std::make_unique<Recorder>());
    RETURN_IF_ERROR(idle.back()->Observe(s.engine(), "idle-" + std::to_string(i) + "/"));
  }
  Recorder busy;
  RETURN_IF_ERROR(busy.Observe(s.engine(), "a/"));
  for (int i = 0; i < 20; ++i) {
    ASSIGN_OR_RETURN(const Revision revision, s.Create("a/" + std::to_string(i), "v"));
    EXPECT_EQ(idle[i]->seen(), revision);
  }
  EXPECT_EQ(busy.calls(), 20U);
  for (const auto& recorder : idle) {
    EXPECT_EQ(recorder->calls(), 0U);
    EXPECT_EQ(recorder->seen(), 21);
  }
  return Status::Ok();
}

// Every even revision is the observer's, so that seen() tells which must have been delivered.
Status SeenIsDelivered(Subject& s) {
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  Recorder* self = nullptr;
  // While a commit is being delivered, seen() must not include it.
  Recorder recorder([&self, &wrong] {
    if (self->seen() >= self->revision()) ++wrong;
  });
  self = &recorder;
  RETURN_IF_ERROR(recorder.Observe(s.engine(), "a/"));
  Thread reader("reader", [&] {
    Revision last = 0;
    while (!stop) {
      const Revision seen = recorder.seen();
      // Odd revisions are the other prefix's: the last even one must have arrived.
      if (seen < last || recorder.revision() < seen - seen % 2) ++wrong;
      last = seen;
    }
  });
  Status failed;
  for (int i = 0; i < 200 && failed.ok(); ++i) {
    failed = s.Create((i % 2 == 0 ? "a/" : "b/") + std::to_string(i), "v").status();
  }
  stop = true;
  reader.Join();
  RETURN_IF_ERROR(failed);
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_EQ(recorder.size(), 100U);
  EXPECT_EQ(recorder.seen(), 201);
  return Status::Ok();
}

Status CompactionIsTold(Subject& s) {
  Recorder recorder;
  RETURN_IF_ERROR(recorder.Observe(s.engine(), "a/"));
  for (int i = 0; i < 5; ++i) RETURN_IF_ERROR(s.Tick().status());
  RETURN_IF_ERROR(s.Compact(4));
  // Compaction concerns every prefix, so that an observer without events gets it too.
  EXPECT_EQ(recorder.compacted(), 4);
  EXPECT_EQ(recorder.calls(), 0U);
  return Status::Ok();
}

Status LeaseEnds(Subject& s) {
  Recorder recorder;
  RETURN_IF_ERROR(recorder.Observe(s.engine()));
  ASSIGN_OR_RETURN(const kv::LeaseId lease,
                   s.engine().GrantLease(Context::Background(), std::chrono::seconds(1)));
  RETURN_IF_ERROR(s.Create("a", "1", lease).status());
  s.clock().Advance(std::chrono::seconds(2));
  EXPECT(Eventually([&recorder] { return recorder.size() == 2; }));
  EXPECT_EQ(recorder.Text(), "create a=1@2, delete a@3 was 1@2");
  return Status::Ok();
}

}  // namespace

CaseTable ObserverCases() {
  return {
      {"an observer sees exactly what follows its registration", FromTheNextOn},
      {"an observer is told before the writer is answered", BeforeTheAnswer},
      {"observers are told in order under load", InOrderUnderLoad},
      {"an observer registered amid writes misses nothing", NoGapAtTheStart},
      {"observers of nested prefixes are told of their keys", OnlyItsPrefix},
      {"an observer is not called for what others write", NothingForIt},
      {"an observer has been told of all that its progress covers", SeenIsDelivered},
      {"an observer is told of compaction", CompactionIsTold},
      {"an observer is told of the end of a lease", LeaseEnds},
  };
}

}  // namespace apiserver::v0::testing::storage
