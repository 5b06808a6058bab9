#include <catch2/catch.hpp>

#include "faults/members_history.h"

// The judge of the runs with etcd's members, and the lies that it must notice.
namespace apiserver::inline v0::faults {
namespace {

using WriteOutcome = MemberWrite::Outcome;

// Two writers, three members that agree, a watch of everything and one of "a/".
MembersHistory Good() {
  MembersHistory history;
  history.writers = {{{WriteOutcome::kAcknowledged, {2, "a/x", 11}},
                      {WriteOutcome::kUnknown, {0, "a/x", 12}},
                      {WriteOutcome::kUnknown, {0, "a/x", 0}},
                      {WriteOutcome::kUnknown, {0, "a/x", 13}}},
                     {{WriteOutcome::kAcknowledged, {3, "b/y", 21}},
                      {WriteOutcome::kRefused, {0, "b/y", 22}},
                      {WriteOutcome::kAcknowledged, {6, "b/y", 0}}}};
  MemberView member;
  member.log = {{2, "a/x", 11}, {3, "b/y", 21}, {4, "a/x", 12}, {5, "a/x", 0}, {6, "b/y", 0}};
  history.members = {member, member, member};
  MemberWatch all;
  all.name = "all";
  all.changes = member.log;
  MemberWatch some;
  some.name = "a";
  some.prefix = "a/";
  some.changes = {{2, "a/x", 11}, {4, "a/x", 12}, {5, "a/x", 0}};
  history.watches = {all, some};
  history.lists = 3;
  return history;
}

TEST_CASE("faults: a true history of a cluster has no violation", "[faults]") {
  const MembersVerdict verdict = Judge(Good());
  INFO(verdict.first_violation);
  CHECK(verdict.violations() == 0);
  CHECK(verdict.acknowledged == 3);
  CHECK(verdict.refused == 1);
  CHECK(verdict.unknown == 3);
  CHECK(verdict.unknown_happened == 2);
  CHECK(verdict.watches[1].events == 3);
}

TEST_CASE("faults: an acknowledged write that is not in the log is lost", "[faults]") {
  MembersHistory history = Good();
  history.writers[1].push_back({WriteOutcome::kAcknowledged, {7, "b/y", 23}});
  const MembersVerdict verdict = Judge(history);
  CHECK(verdict.lost == 1);
  CHECK(verdict.violations() == 1);
  CHECK(verdict.first_violation == "lost: write of b/y = 23 at revision 7");
}

TEST_CASE("faults: a write with another's revision or value is lost", "[faults]") {
  MembersHistory history = Good();
  history.writers[0][0].change.value = 14;
  CHECK(Judge(history).lost == 1);
  history = Good();
  history.writers[1][2].change.revision = 5;
  CHECK(Judge(history).lost == 1);
}

TEST_CASE("faults: an acknowledged delete that was undone is lost", "[faults]") {
  MembersHistory history = Good();
  for (MemberView& member : history.members) {
    member.log.pop_back();
    member.state = {{"b/y", 21}};
  }
  history.watches[0].changes.pop_back();
  CHECK(Judge(history).lost == 1);
}

TEST_CASE("faults: a refused write that happened is strange", "[faults]") {
  MembersHistory history = Good();
  history.writers[0][1].outcome = WriteOutcome::kRefused;
  CHECK(Judge(history).strange > 0);
}

TEST_CASE("faults: a write that happened twice is strange", "[faults]") {
  MembersHistory history = Good();
  for (MemberView& member : history.members) {
    member.log.push_back({7, "a/x", 12});
    member.state = {{"a/x", 12}};
  }
  history.watches[0].changes.push_back({7, "a/x", 12});
  history.watches[1].changes.push_back({7, "a/x", 12});
  CHECK(Judge(history).strange == 2);
}

TEST_CASE("faults: what nobody wrote or deleted is strange", "[faults]") {
  MembersHistory history = Good();
  history.writers[0].erase(history.writers[0].begin() + 2);
  CHECK(Judge(history).strange == 1);
  history.writers[0].erase(history.writers[0].begin() + 1);
  CHECK(Judge(history).strange == 2);
}

TEST_CASE("faults: a writer's revisions grow", "[faults]") {
  MembersHistory history = Good();
  std::swap(history.writers[1][0], history.writers[1][2]);
  CHECK(Judge(history).disordered == 1);
}

TEST_CASE("faults: a member that says something else disagrees", "[faults]") {
  MembersHistory history = Good();
  history.members[2].log.pop_back();
  CHECK(Judge(history).disagreeing == 1);
  history = Good();
  history.members[1].state = {{"b/y", 21}};
  CHECK(Judge(history).disagreeing == 1);
}

TEST_CASE("faults: what a watch was not told is a gap", "[faults]") {
  const std::size_t missing = GENERATE(0, 1, 2);
  MembersHistory history = Good();
  auto& changes = history.watches[1].changes;
  changes.erase(changes.begin() + static_cast<std::ptrdiff_t>(missing));
  const MembersVerdict verdict = Judge(history);
  CHECK(verdict.watches[1].gaps == 1);
  CHECK(verdict.violations() == 1);
  CHECK(verdict.first_violation.starts_with("watch a missed: "));
}

TEST_CASE("faults: what a watch was told twice, late or wrongly is told", "[faults]") {
  MembersHistory history = Good();
  auto& changes = history.watches[1].changes;
  changes.push_back(changes.back());
  CHECK(Judge(history).watches[1].duplicates == 1);
  CHECK(Judge(history).violations() == 1);
  changes.pop_back();
  std::swap(changes[0], changes[1]);
  CHECK(Judge(history).watches[1].disordered == 1);
  CHECK(Judge(history).violations() == 1);
  std::swap(changes[0], changes[1]);
  changes[1].value = 15;
  CHECK(Judge(history).watches[1].wrong == 1);
  changes[1] = {3, "b/y", 21};
  CHECK(Judge(history).watches[1].wrong == 1);
}

TEST_CASE("faults: gaps of a watch that does not resume are told but no violation", "[faults]") {
  MembersHistory history = Good();
  history.watches[1].changes.clear();
  history.watches[1].resumes_where_it_was = false;
  const MembersVerdict verdict = Judge(history);
  CHECK(verdict.watches[1].gaps == 3);
  CHECK(verdict.violations() == 0);
}

TEST_CASE("faults: a stale list is a violation", "[faults]") {
  MembersHistory history = Good();
  history.stale_lists = 1;
  CHECK(Judge(history).violations() == 1);
}

TEST_CASE("faults: a value is found in what is stored", "[faults]") {
  CHECK(ValueIn(R"({"metadata":{"name":"a"},"spec":{"color":"","size":1234}})") == 1234);
  CHECK(ValueIn(R"({"spec":{"size":7},"status":{}})") == 7);
  CHECK(ValueIn("{}") == 0);
}

}  // namespace
}  // namespace apiserver::inline v0::faults
