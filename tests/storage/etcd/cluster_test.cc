#include <map>

#include "storage/etcd/fixture.h"

// Three members, of which one goes.
namespace apiserver::inline v0::storage::etcd {
namespace {

using std::chrono::milliseconds;

// Writes until it is told to stop; remembers what was acknowledged.
struct Writer {
  std::map<std::string, Revision> acknowledged;
  int failed = 0;

  void Run(Subject& s, const std::string& name, const std::atomic<bool>& stop) {
    for (int i = 0; !stop; ++i) {
      const std::string key = name + std::to_string(i);
      const auto revision = s.Create(key, name);
      if (revision.ok()) {
        acknowledged[key] = *revision;
      } else {
        ++failed;
      }
    }
  }
};

TEST_CASE("storage.etcd: a killed member of three costs at most one call and no write",
          "[storage.etcd]") {
  const auto server = StartEtcd(3);
  const auto s = OpenSubject(OptionsFor(server->urls()));
  const auto reader = Must(TailReader::Open(s->engine(), "", 1));
  std::atomic<bool> stop = false;
  std::vector<Writer> writers(4);
  std::vector<Thread> threads;
  for (std::size_t i = 0; i < writers.size(); ++i) {
    threads.emplace_back("writer", [&, i] { writers[i].Run(*s, std::string(1, 'a' + i), stop); });
  }
  const Revision before = Must(s->Current());
  REQUIRE(Eventually([&] { return Must(s->Current()) > before + 100; }));
  server->Kill(1);
  // A new leader is there within two seconds if it was the leader.
  const Revision killed = Must(s->Current());
  CHECK(Eventually([&] {
    const auto now = s->Current();
    return now.ok() && *now > killed + 200;
  }));
  stop = true;
  for (Thread& thread : threads) thread.Join();

  int failed = 0;
  std::map<Revision, std::string> expected;
  for (const Writer& writer : writers) {
    failed += writer.failed;
    for (const auto& [key, revision] : writer.acknowledged) expected[revision] = key;
  }
  CHECK(failed <= 1);
  const Revision last = Must(s->Current());
  std::map<Revision, std::string> seen;
  for (const kv::Event& event : Must(reader->ReadTo(last))) {
    CHECK(seen.emplace(event.kv.mod_revision, event.kv.key).second);
  }
  // The log has no gap, and every acknowledged write at its revision.
  CHECK(seen.size() == static_cast<std::size_t>(last - 1));
  for (const auto& [revision, key] : expected) CHECK(seen[revision] == key);
}

TEST_CASE("storage.etcd: a member that hangs is left aside", "[storage.etcd][slow]") {
  const auto server = StartEtcd(3);
  const auto s = OpenSubject(OptionsFor(server->urls()));
  for (int i = 0; i < 6; ++i) Must(s->Tick());
  server->Pause(2);
  int failed = 0;
  for (int i = 0; i < 12; ++i) failed += s->Current().ok() ? 0 : 1;
  CHECK(failed == 0);
  server->Resume(2);
}

}  // namespace
}  // namespace apiserver::inline v0::storage::etcd
