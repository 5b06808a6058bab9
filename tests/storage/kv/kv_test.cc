#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "apiserver/base/sync.h"
#include "apiserver/storage/kv/engine.h"
#include "storage/kv/call_gate.h"
#include "storage/kv/history_policy.h"
#include "storage/kv/lease_table.h"

namespace apiserver::inline v0::storage::kv {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const Clock::Monotonic kStart{std::chrono::hours(1)};

TEST_CASE("storage.kv: the end of a prefix is the next prefix", "[storage.kv]") {
  CHECK(PrefixEnd("/pods/") == "/pods0");
  CHECK(PrefixEnd("a\xff\xff") == "b");
  CHECK(PrefixEnd("") == std::string(1, '\0'));
  CHECK(PrefixEnd("\xff\xff") == std::string(1, '\0'));
  CHECK(PrefixEnd("\x7f") == "\x80");
}

TEST_CASE("storage.kv: a shut gate lets nobody in and waits for those inside", "[storage.kv]") {
  CallGate gate;
  Notification shut;
  Thread closer;
  {
    auto inside = gate.Enter();
    REQUIRE(inside);
    closer = Thread("closer", [&] {
      gate.Shut();
      shut.Notify();
    });
    while (!gate.shut()) {
    }
    CHECK_FALSE(gate.Enter());
    CHECK_FALSE(shut.HasBeenNotified());
  }
  shut.Wait();
  closer.Join();
  gate.Shut();
  CHECK_FALSE(gate.Enter());
}

TEST_CASE("storage.kv: leases end in order of their time", "[storage.kv]") {
  LeaseTable leases;
  leases.Add(1, seconds(10), kStart);
  leases.Add(2, seconds(5), kStart);
  CHECK(leases.NextEnd() == kStart + seconds(5));
  CHECK(leases.Ended(kStart + seconds(4)).empty());
  CHECK(leases.Ended(kStart + seconds(5)) == std::vector<LeaseId>{2});
  CHECK(leases.Ended(kStart + seconds(10)) == std::vector<LeaseId>{2, 1});
  leases.Remove(2);
  CHECK(leases.NextEnd() == kStart + seconds(10));
  CHECK(leases.NextId() == 3);
}

TEST_CASE("storage.kv: a key is in one lease at most", "[storage.kv]") {
  LeaseTable leases;
  leases.Add(1, seconds(10), kStart);
  leases.Add(2, seconds(10), kStart);
  leases.Move("a", 0, 1);
  leases.Move("b", 0, 1);
  leases.Move("a", 1, 2);
  leases.Move("b", 1, 0);
  CHECK(leases.Keys(1).empty());
  CHECK(leases.Keys(2) == std::vector<std::string>{"a"});
}

TEST_CASE("storage.kv: history goes by age", "[storage.kv]") {
  HistoryPolicy policy({.window = minutes(5), .events_max = 0, .bytes_max = 0});
  CHECK_FALSE(policy.Next({10, 0, 0}, kStart));
  CHECK_FALSE(policy.Next({20, 0, 0}, kStart + minutes(4)));
  CHECK(policy.Next({30, 0, 0}, kStart + minutes(5)) == 10);
  CHECK_FALSE(policy.Next({40, 10, 0}, kStart + minutes(6)));
  CHECK(policy.Next({40, 10, 0}, kStart + minutes(9)) == 20);
}

TEST_CASE("storage.kv: history goes by number, a tenth at a time", "[storage.kv]") {
  HistoryPolicy policy({.window = seconds(0), .events_max = 100, .bytes_max = 0});
  CHECK_FALSE(policy.Next({101, 0, 0}, kStart));
  CHECK(policy.Next({102, 0, 0}, kStart) == 12);
  CHECK_FALSE(policy.Next({112, 12, 0}, kStart));
  CHECK(policy.Next({113, 12, 0}, kStart) == 23);
}

TEST_CASE("storage.kv: half of the history goes when it has too many bytes", "[storage.kv]") {
  HistoryPolicy policy({.window = seconds(0), .events_max = 0, .bytes_max = 1000});
  CHECK_FALSE(policy.Next({500, 300, 1000}, kStart));
  CHECK(policy.Next({500, 300, 1001}, kStart) == 400);
}

TEST_CASE("storage.kv: without limits history stays", "[storage.kv]") {
  HistoryPolicy policy({.window = seconds(0), .events_max = 0, .bytes_max = 0});
  CHECK_FALSE(policy.Next({1'000'000, 0, 1ULL << 40}, kStart + minutes(1000)));
}

}  // namespace
}  // namespace apiserver::inline v0::storage::kv
