#include <catch2/catch.hpp>

#include <set>

#include "faults/members.h"

// A slice of what `storage_faults etcd-members` runs in large.
namespace apiserver::inline v0::faults {
namespace {

TEST_CASE("faults: three members of an etcd are killed, nothing is lost or missed",
          "[faults][slow]") {
  const MembersReport report = RunMembers({.seed = 1,
                                           .rounds = 3,
                                           .period = std::chrono::seconds(3),
                                           .down = std::chrono::milliseconds(500),
                                           .partitions = false});
  INFO(report.ToString());
  CHECK(report.ok());
  CHECK(report.kills == 3);
  CHECK(report.verdict.acknowledged >= 300);
  CHECK(report.verdict.lists > 0);
  CHECK(report.verdict.watches.size() == 6);
  for (const WatchVerdict& watch : report.verdict.watches) CHECK(watch.events > 50);
}

TEST_CASE("faults: each member has its turn in every three rounds", "[faults]") {
  const auto plan = PlanFaults({.seed = 4, .rounds = 60});
  REQUIRE(plan.size() == 60);
  std::size_t kills = 0;
  for (std::size_t i = 0; i < plan.size(); i += 3) {
    std::set<std::size_t> members;
    for (std::size_t j = i; j < i + 3; ++j) members.insert(plan[j].member);
    CHECK(members == std::set<std::size_t>{0, 1, 2});
  }
  for (const MemberFault& fault : plan) {
    kills += fault.kind == MemberFault::Kind::kKill ? 1 : 0;
    CHECK(fault.lasts >= std::chrono::seconds(2));
    CHECK(fault.lasts < std::chrono::seconds(3));
  }
  CHECK(kills < 60);
  CHECK(kills > 40);
}

}  // namespace
}  // namespace apiserver::inline v0::faults
