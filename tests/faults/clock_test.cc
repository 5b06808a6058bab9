#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/storage/rocks/engine.h"
#include "faults/disk.h"
#include "faults/disk_file_system.h"
#include "storage/rocks/open_over.h"

namespace apiserver::inline v0::faults {
namespace {

namespace kv = storage::kv;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// A clock both of whose hands can be set, forward and back.
class JumpingClock final : public Clock {
 public:
  Monotonic Now() const override { return Monotonic(seconds(monotonic_)); }
  Wall WallNow() const override { return Wall(seconds(wall_)); }
  void Jump(seconds by) { monotonic_ += by.count(); }
  void JumpWall(seconds by) { wall_ += by.count(); }

 private:
  std::atomic<std::int64_t> monotonic_ = 1'000'000;
  std::atomic<std::int64_t> wall_ = 1'600'000'000;
};

struct Store {
  JumpingClock clock;
  Disk disk;
  std::unique_ptr<rocksdb::Env> env = NewDiskEnv(disk);
  std::unique_ptr<kv::Engine> engine;

  explicit Store(kv::HistoryOptions history = {.window = {}, .events_max = 0, .bytes_max = 0}) {
    engine = storage::rocks::OpenOver(*env, {.path = "/store", .clock = clock, .history = history})
                 .value();
  }
  void Put(const std::string& key, kv::LeaseId lease = 0) {
    kv::TxnRequest request;
    request.key = key;
    request.expected_mod_revision = Find(key);
    request.value = std::make_shared<const std::string>("v");
    request.lease = lease;
    REQUIRE(engine->Txn(Context::Background(), request)->succeeded);
  }
  // The revision of a key; zero: it is not there.
  kv::Revision Find(const std::string& key) const {
    const auto found = engine->Range(Context::Background(), {.key = key, .end = ""}).value();
    return found.kvs.empty() ? 0 : found.kvs[0].mod_revision;
  }
  void PutLeased(const std::string& key, seconds ttl) {
    Put(key, engine->GrantLease(Context::Background(), ttl).value());
  }
};

TEST_CASE("faults: the date moving by a year neither ends nor prolongs a lease", "[faults]") {
  Store store;
  store.PutLeased("a", seconds(60));
  store.clock.JumpWall(hours(24 * 365));
  CHECK(store.Find("a") != 0);
  store.clock.JumpWall(-hours(24 * 365 * 2));
  CHECK(store.Find("a") != 0);
  store.clock.Jump(seconds(60));
  CHECK(store.Find("a") == 0);
}

TEST_CASE("faults: a clock that leaps a day ahead ends each lease once", "[faults]") {
  Store store;
  store.Put("kept");
  store.PutLeased("a", seconds(60));
  store.PutLeased("b", hours(1));
  auto tail = store.engine->NewTail("", 0).value();
  store.clock.Jump(hours(24));
  CHECK(store.Find("a") == 0);
  CHECK(store.Find("b") == 0);
  CHECK(store.Find("kept") != 0);
  kv::EventBatch batch;
  REQUIRE(tail->Next(batch, Waker()) == kv::Tail::State::kEvents);
  CHECK(batch.events.size() == 2);
  CHECK(tail->Next(batch, Waker()) == kv::Tail::State::kWait);
}

TEST_CASE("faults: a monotonic clock that goes back ends no lease early", "[faults]") {
  Store store;
  store.PutLeased("a", seconds(60));
  store.clock.Jump(-hours(1));
  CHECK(store.Find("a") != 0);
  store.Put("b");
  store.clock.Jump(hours(1) + seconds(59));
  CHECK(store.Find("a") != 0);
  store.clock.Jump(seconds(1));
  CHECK(store.Find("a") == 0);
}

TEST_CASE("faults: leases begin anew at an opening, whatever the clocks did", "[faults]") {
  Store store;
  store.PutLeased("a", seconds(60));
  store.clock.Jump(seconds(50));
  store.engine->Stop();
  store.engine.reset();
  store.clock.Jump(-hours(1));
  store.clock.JumpWall(hours(1000));
  store.engine =
      storage::rocks::OpenOver(*store.env, {.path = "/store", .clock = store.clock}).value();
  store.clock.Jump(seconds(59));
  CHECK(store.Find("a") != 0);
  store.clock.Jump(seconds(1));
  CHECK(store.Find("a") == 0);
}

TEST_CASE("faults: a clock that leaps ages history and nothing that is live", "[faults]") {
  Store store({.window = minutes(5), .events_max = 0, .bytes_max = 0});
  store.Put("a");
  store.Put("a");
  store.clock.Jump(-hours(1));
  store.Put("b");
  CHECK(store.engine->CompactedRevision() == 0);
  store.clock.Jump(hours(1000));
  // Compaction comes with writes.
  for (int i = 0; i < 100 && store.engine->CompactedRevision() == 0; ++i) {
    store.Put("c");
    store.clock.Jump(minutes(1));
  }
  CHECK(store.engine->CompactedRevision() > 0);
  CHECK(store.Find("a") == 3);
  CHECK(store.Find("b") == 4);
  CHECK(store.engine->Ready().ok());
}

}  // namespace
}  // namespace apiserver::inline v0::faults
