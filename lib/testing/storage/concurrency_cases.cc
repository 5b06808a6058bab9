#include <map>
#include <set>

#include "base/status_macros.h"
#include "testing/storage/subject.h"

// The cases with several threads.
namespace apiserver::v0::testing::storage {
namespace {

// Runs `body(i)` on `n` threads and waits for them.
template <class Body>
void Parallel(int n, Body body) {
  std::vector<Thread> threads;
  threads.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) threads.emplace_back("case", [&body, i] { body(i); });
  for (Thread& thread : threads) thread.Join();
}

Status Counter(Subject& s) {
  RETURN_IF_ERROR(s.Create("n", "0").status());
  std::atomic<int> failed = 0;
  Parallel(6, [&](int) {
    for (int done = 0; done < 50;) {
      auto now = s.Get("n");
      if (!now.ok()) {
        ++failed;
        return;
      }
      auto response = s.Txn("n", now->mod_revision, std::to_string(std::stoi(*now->value) + 1));
      if (!response.ok()) {
        ++failed;
        return;
      }
      // A failed comparison means that another thread was faster: read and try again.
      if (response->succeeded) ++done;
    }
  });
  EXPECT_EQ(failed.load(), 0);
  ASSIGN_OR_RETURN(const auto kv, s.Get("n"));
  EXPECT_EQ(*kv.value, "300");
  // The create at 2 and 300 updates: failed comparisons make no revision.
  EXPECT_EQ(kv.mod_revision, 302);
  return Status::Ok();
}

Status OneWinner(Subject& s) {
  for (int round = 0; round < 30; ++round) {
    std::atomic<int> winners = 0;
    Parallel(4, [&](int i) {
      auto response = s.Txn("key" + std::to_string(round), 0, std::to_string(i));
      if (response.ok() && response->succeeded) ++winners;
    });
    EXPECT_EQ(winners.load(), 1);
  }
  ASSIGN_OR_RETURN(const Revision revision, s.Current());
  EXPECT_EQ(revision, 31);
  return Status::Ok();
}

Status DistinctRevisions(Subject& s) {
  Guarded<std::set<Revision>> revisions;
  Parallel(8, [&](int i) {
    for (int n = 0; n < 100; ++n) {
      auto revision = s.Create(std::to_string(i) + "/" + std::to_string(n), "v");
      if (revision.ok()) revisions.Lock()->insert(*revision);
    }
  });
  auto all = revisions.Lock();
  EXPECT_EQ(all->size(), 800U);
  EXPECT_EQ(*all->begin(), 2);
  EXPECT_EQ(*all->rbegin(), 801);
  return Status::Ok();
}

// A read returns every write that was acknowledged before it, also to other threads.
Status ReadYourWrites(Subject& s) {
  std::atomic<int> stale = 0;
  std::atomic<Revision> acknowledged = 1;
  Parallel(4, [&](int i) {
    for (int n = 0; n < 100; ++n) {
      const Revision seen = acknowledged.load();
      auto current = s.Current();
      if (!current.ok() || *current < seen) ++stale;
      auto revision = s.Update("k" + std::to_string(i), std::to_string(n));
      if (!revision.ok()) {
        ++stale;
        continue;
      }
      Revision before = acknowledged.load();
      while (before < *revision && !acknowledged.compare_exchange_weak(before, *revision)) {
      }
      auto kv = s.Get("k" + std::to_string(i));
      if (!kv.ok() || kv->mod_revision != *revision || *kv->value != std::to_string(n)) ++stale;
    }
  });
  EXPECT_EQ(stale.load(), 0);
  return Status::Ok();
}

Status GaplessTail(Subject& s) {
  ASSIGN_OR_RETURN(const auto reader, TailReader::Open(s.engine(), "", 1));
  std::atomic<int> failed = 0;
  std::vector<kv::Event> events;
  Status read;
  // The tail is read while the writes go on, not after them.
  Thread follower("follower", [&] {
    auto all = reader->ReadTo(601);
    read = all.status();
    if (all.ok()) events = *std::move(all);
  });
  Parallel(3, [&](int i) {
    for (int n = 0; n < 200; ++n) {
      const std::string key = std::to_string(i) + "/" + std::to_string(n % 20);
      if (!s.Update(key, std::to_string(n)).ok()) ++failed;
    }
  });
  follower.Join();
  RETURN_IF_ERROR(read);
  EXPECT_EQ(failed.load(), 0);
  EXPECT_EQ(events.size(), 600U);
  std::map<std::string, kv::KeyValue> state;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const kv::Event& event = events[i];
    EXPECT_EQ(event.kv.mod_revision, static_cast<Revision>(i) + 2);
    EXPECT_EQ(event.previous.mod_revision, state[event.kv.key].mod_revision);
    state[event.kv.key] = event.kv;
  }
  return Status::Ok();
}

// A list has one revision: it shows the state that an exact read of that revision shows.
Status ConsistentLists(Subject& s) {
  constexpr int kKeys = 40;
  for (int i = 0; i < kKeys; ++i) RETURN_IF_ERROR(s.Create("k" + std::to_string(i), "0").status());
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  Thread writer("writer", [&] {
    // Writes round by round and in order, so that at most two successive values exist at any
    // revision.
    for (int round = 1; !stop && round < 100; ++round) {
      for (int i = 0; i < kKeys; ++i) {
        if (!s.Update("k" + std::to_string(i), std::to_string(round)).ok()) ++wrong;
      }
    }
  });
  int lists = 0;
  for (; lists < 60; ++lists) {
    auto list = s.List("k");
    if (!list.ok() || list->kvs.size() != kKeys) {
      ++wrong;
      break;
    }
    Revision newest = 0;
    std::set<int> values;
    for (const kv::KeyValue& kv : list->kvs) {
      newest = std::max(newest, kv.mod_revision);
      values.insert(std::stoi(*kv.value));
    }
    if (newest != list->revision || *values.rbegin() - *values.begin() > 1) ++wrong;
    // The same revision is read again while the writer goes on.
    auto again = s.Text("k", list->revision);
    if (!again.ok() || *again != TextOf(list->kvs)) ++wrong;
  }
  stop = true;
  writer.Join();
  EXPECT_EQ(lists, 60);
  EXPECT_EQ(wrong.load(), 0);
  return Status::Ok();
}

Status CompactionAmidReads(Subject& s) {
  for (int i = 0; i < 20; ++i) RETURN_IF_ERROR(s.Create("k" + std::to_string(i), "0").status());
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  Thread writer("writer", [&] {
    for (int n = 0; !stop; ++n) {
      auto revision = s.Update("k" + std::to_string(n % 20), std::to_string(n));
      if (!revision.ok()) ++wrong;
      if (n % 10 == 9 && !s.Compact(*revision).ok()) ++wrong;
    }
  });
  for (int i = 0; i < 200; ++i) {
    auto now = s.List("k");
    if (!now.ok()) {
      ++wrong;
      break;
    }
    if (now->kvs.size() != 20) ++wrong;
    auto exact = s.List("k", now->revision);
    // The compaction may have passed the list's revision since.
    const bool expired = !exact.ok() && exact.status().reason() == Reason::kExpired;
    if (!expired && (!exact.ok() || TextOf(exact->kvs) != TextOf(now->kvs))) ++wrong;
  }
  stop = true;
  writer.Join();
  EXPECT_EQ(wrong.load(), 0);
  return Status::Ok();
}

}  // namespace

CaseTable ConcurrencyCases() {
  return {
      {"no conditional update is lost", Counter},
      {"of many creators of one key one wins", OneWinner},
      {"no revision is given twice and none is left out", DistinctRevisions},
      {"what was acknowledged is read", ReadYourWrites},
      {"a tail follows many writers without a gap", GaplessTail},
      {"a list is of one revision", ConsistentLists},
      {"compaction disturbs reads only by expiring them", CompactionAmidReads},
  };
}

}  // namespace apiserver::v0::testing::storage
