#include "apiserver/testing/storage/history.h"

#include <catch2/catch.hpp>

// The checker of histories, on histories whose verdict is known.
using namespace apiserver;  // NOLINT: a test.
using testing::storage::CheckHistory;
using testing::storage::CheckLinearizable;
using testing::storage::History;
using testing::storage::kNever;
using testing::storage::Operation;
using testing::storage::ReadRecord;
using testing::storage::Verdict;
using testing::storage::Violation;
using testing::storage::WatchRecord;
using Outcome = Operation::Outcome;
using Verb = Operation::Verb;

namespace {

Operation Call(Verb verb, std::int64_t value, std::int64_t invoked, std::int64_t returned) {
  Operation op;
  op.verb = verb;
  op.key = "even/a";
  op.value = value;
  op.invoked = invoked;
  op.returned = returned;
  return op;
}
Operation Create(std::int64_t value, std::int64_t invoked, std::int64_t returned) {
  return Call(Verb::kCreate, value, invoked, returned);
}
Operation Update(std::int64_t value, std::int64_t invoked, std::int64_t returned) {
  return Call(Verb::kUpdate, value, invoked, returned);
}
Operation Get(std::int64_t value, std::int64_t invoked, std::int64_t returned) {
  return Call(Verb::kGet, value, invoked, returned);
}
Operation Failed(Operation op, Reason reason) {
  op.outcome = Outcome::kFailed;
  op.reason = reason;
  return op;
}
Operation Unknown(Operation op) {
  op.outcome = Outcome::kUnknown;
  op.returned = kNever;
  return op;
}
Operation At(Operation op, std::int64_t revision, std::int64_t based_on = 0) {
  op.revision = revision;
  op.based_on = based_on;
  return op;
}

std::string Properties(const History& history) {
  std::string text;
  for (const Violation& violation : CheckHistory(history)) {
    text += text.empty() ? violation.property : " " + violation.property;
  }
  return text;
}

// even/a: created at 2 (value 1), red from 3 on (value 2), deleted at 5; odd/b: created at 4.
History Good() {
  History history;
  history.log = {{2, "even/a", false, true, false, 1, 1, 0},
                 {3, "even/a", false, false, true, 2, 1, 2},
                 {4, "odd/b", false, true, true, 3, 3, 0},
                 {5, "even/a", true, false, false, 0, 0, 3}};
  Operation other = At(Create(3, 5, 6), 4);
  other.key = "odd/b";
  other.uid = 3;
  Operation first = At(Create(1, 1, 2), 2);
  first.uid = 1;
  history.operations = {first, At(Update(2, 3, 4), 3, 2), other,
                        At(Call(Verb::kDelete, 2, 7, 8), 5, 3)};
  return history;
}

using watch::EventType;

WatchRecord Watch(std::vector<testing::storage::SeenEvent> events) {
  WatchRecord record;
  record.after = 1;
  record.invoked = 9;
  record.ended = 10;
  record.events = std::move(events);
  return record;
}

const testing::storage::SeenEvent kAdded = {EventType::kAdded, "even/a", 1, 2, 2};
const testing::storage::SeenEvent kModified = {EventType::kModified, "even/a", 2, 3, 3};
const testing::storage::SeenEvent kOther = {EventType::kAdded, "odd/b", 3, 4, 4};
const testing::storage::SeenEvent kDeleted = {EventType::kDeleted, "even/a", 2, 5, 3};

std::string Judge(WatchRecord record) {
  History history = Good();
  history.watches = {std::move(record)};
  return Properties(history);
}

ReadRecord List(std::int64_t revision, std::vector<testing::storage::SeenObject> items) {
  ReadRecord read;
  read.invoked = 9;
  read.returned = 10;
  read.revision = revision;
  read.items = std::move(items);
  return read;
}

std::string Judge(ReadRecord read) {
  History history = Good();
  history.reads = {std::move(read)};
  return Properties(history);
}

}  // namespace

TEST_CASE("testing.storage: reads between writes are linearizable", "[testing.storage]") {
  CHECK(CheckLinearizable({}) == Verdict::kLinearizable);
  CHECK(CheckLinearizable({Create(1, 1, 2), Get(1, 3, 4), Update(2, 5, 6), Get(2, 7, 8)}) ==
        Verdict::kLinearizable);
  // While the update runs both values may be seen, but not the old one after the new one.
  const Operation update = Update(2, 3, 10);
  CHECK(CheckLinearizable({Create(1, 1, 2), update, Get(1, 4, 5), Get(2, 6, 7)}) ==
        Verdict::kLinearizable);
  CHECK(CheckLinearizable({Create(1, 1, 2), update, Get(2, 4, 5), Get(1, 6, 7)}) ==
        Verdict::kNotLinearizable);
}

TEST_CASE("testing.storage: a stale or invented read is not linearizable", "[testing.storage]") {
  CHECK(CheckLinearizable({Create(1, 1, 2), Update(2, 3, 4), Get(1, 5, 6)}) ==
        Verdict::kNotLinearizable);
  CHECK(CheckLinearizable({Create(1, 1, 2), Get(7, 3, 4)}) == Verdict::kNotLinearizable);
  CHECK(CheckLinearizable({Get(1, 1, 2), Create(1, 3, 4)}) == Verdict::kNotLinearizable);
}

TEST_CASE("testing.storage: two creates of one key cannot both succeed", "[testing.storage]") {
  CHECK(CheckLinearizable({Create(1, 1, 4), Create(2, 2, 3)}) == Verdict::kNotLinearizable);
  CHECK(CheckLinearizable({Create(1, 1, 4), Failed(Create(2, 2, 3), Reason::kAlreadyExists)}) ==
        Verdict::kLinearizable);
  CHECK(CheckLinearizable({Failed(Create(2, 1, 2), Reason::kAlreadyExists), Create(1, 3, 4)}) ==
        Verdict::kNotLinearizable);
}

TEST_CASE("testing.storage: updates from one revision exclude each other", "[testing.storage]") {
  const Operation create = At(Create(1, 1, 2), 5);
  CHECK(CheckLinearizable({create, At(Update(2, 3, 6), 6, 5), At(Update(3, 4, 5), 7, 6)}) ==
        Verdict::kLinearizable);
  CHECK(CheckLinearizable({create, At(Update(2, 3, 6), 6, 5), At(Update(3, 4, 5), 7, 5)}) ==
        Verdict::kNotLinearizable);
  Operation conflict = Failed(Update(3, 3, 4), Reason::kConflict);
  conflict.wanted_revision = 5;
  CHECK(CheckLinearizable({create, conflict}) == Verdict::kNotLinearizable);
  conflict.wanted_revision = 4;
  CHECK(CheckLinearizable({create, conflict}) == Verdict::kLinearizable);
}

TEST_CASE("testing.storage: an unknown write may happen late or never", "[testing.storage]") {
  const Operation create = Create(1, 1, 2);
  const Operation unknown = Unknown(Update(2, 3, 4));
  CHECK(CheckLinearizable({create, unknown, Get(1, 5, 6), Get(2, 7, 8)}) == Verdict::kLinearizable);
  CHECK(CheckLinearizable({create, unknown, Get(1, 5, 6)}) == Verdict::kLinearizable);
  CHECK(CheckLinearizable({create, unknown, Get(2, 5, 6), Get(1, 7, 8)}) ==
        Verdict::kNotLinearizable);
  const Operation deleted = Unknown(Call(Verb::kDelete, 0, 3, 4));
  CHECK(CheckLinearizable({create, deleted, Get(1, 5, 6),
                           Failed(Get(0, 7, 8), Reason::kNotFound)}) == Verdict::kLinearizable);
}

TEST_CASE("testing.storage: a search that takes too long has no verdict", "[testing.storage]") {
  std::vector<Operation> operations = {Create(1, 1, 2)};
  for (int i = 0; i < 12; ++i) operations.push_back(Update(10 + i, 3 + i, 100 + i));
  operations.push_back(Get(99, 200, 201));
  CHECK(CheckLinearizable(operations, 100) == Verdict::kUnknown);
}

TEST_CASE("testing.storage: a history that agrees with the log is good", "[testing.storage]") {
  CHECK(Properties(Good()).empty());
  CHECK(Judge(Watch({kAdded, kModified, kOther, kDeleted})).empty());
  CHECK(Judge(List(5, {{"odd/b", 4, 3}})).empty());
}

TEST_CASE("testing.storage: writes that are not in the log are found", "[testing.storage]") {
  History history = Good();
  history.operations.push_back(At(Update(9, 9, 10), 6));
  CHECK(Properties(history).starts_with("S4"));
  history = Good();
  history.operations[1] = Failed(history.operations[1], Reason::kConflict);
  CHECK(Properties(history).find("S3") != std::string::npos);
  history = Good();
  history.operations[1].based_on = 1;
  CHECK(Properties(history).starts_with("S1"));
  history = Good();
  history.operations[3].wanted_uid = 9;
  CHECK(Properties(history).starts_with("S17"));
}

TEST_CASE("testing.storage: what watches leave out, repeat or mix up is found",
          "[testing.storage]") {
  CHECK(Judge(Watch({kAdded, kOther})) == "S5");
  CHECK(Judge(Watch({kAdded, kAdded})) == "S5");
  CHECK(Judge(Watch({kModified, kAdded})) == "S5");
  auto modified = kDeleted;
  modified.object_revision = 5;
  CHECK(Judge(Watch({kAdded, kModified, kOther, modified})) == "S5");
}

TEST_CASE("testing.storage: a selection is entered by ADDED and left by DELETED",
          "[testing.storage]") {
  auto entered = kModified;
  entered.type = EventType::kAdded;
  WatchRecord record = Watch({entered, kOther, kDeleted});
  record.scope.red_only = true;
  CHECK(Judge(record).empty());
  record.events[0] = kModified;
  CHECK(Judge(record) == "S6");
}

TEST_CASE("testing.storage: bookmarks must not overtake or go back", "[testing.storage]") {
  CHECK(Judge(Watch({kAdded, {EventType::kBookmark, "", 0, 2, 0}, kModified})).empty());
  CHECK(Judge(Watch({kAdded, {EventType::kBookmark, "", 0, 3, 0}, kModified})) == "S8");
  CHECK(Judge(Watch({kAdded, {EventType::kBookmark, "", 0, 1, 0}, kModified})) == "S8");
}

TEST_CASE("testing.storage: initial events are the state at their end", "[testing.storage]") {
  const testing::storage::SeenEvent end = {EventType::kBookmark, "", 0, 5, 0, true};
  WatchRecord record = Watch({kOther, end});
  record.initial = true;
  record.consistent = true;
  CHECK(Judge(record).empty());
  record.events = {end};
  CHECK(Judge(record) == "S9");
  record.events = {kModified, kOther, end};
  CHECK(Judge(record) == "S9");
  record.events = {kModified, {EventType::kBookmark, "", 0, 3, 0, true}};
  // Older than what was known, and not as it was then.
  CHECK(Judge(record) == "S9 S9");
}

TEST_CASE("testing.storage: a watch may expire only below a compaction", "[testing.storage]") {
  WatchRecord record = Watch({kAdded});
  record.end = WatchRecord::End::kExpired;
  CHECK(Judge(record) == "S14");
  History history = Good();
  history.watches = {record};
  history.compactions = {{8, 4}};
  CHECK(Properties(history).empty());
}

TEST_CASE("testing.storage: lists are judged by their revision", "[testing.storage]") {
  CHECK(Judge(List(3, {{"even/a", 3, 2}})) == "S10");  // Older than what was acknowledged.
  CHECK(Judge(List(5, {})) == "S10");
  ReadRecord exact = List(3, {{"even/a", 3, 2}});
  exact.mode = ReadRecord::Mode::kExact;
  exact.asked = 3;
  CHECK(Judge(exact).empty());
  exact.items = {{"even/a", 2, 1}};
  CHECK(Judge(exact) == "S11");
  exact.revision = 2;
  CHECK(Judge(exact) == "S11");
  ReadRecord pages = List(5, {{"odd/b", 4, 3}});
  pages.one_revision = false;
  CHECK(Judge(pages) == "S13");
}

TEST_CASE("testing.storage: a get may be old, but not older than it asked for",
          "[testing.storage]") {
  ReadRecord get = List(0, {{"even/a", 2, 1}});
  get.is_list = false;
  get.scope = {"even/a", true};
  get.mode = ReadRecord::Mode::kNotOlderThan;
  get.asked = 2;
  CHECK(Judge(get).empty());
  get.asked = 3;
  CHECK(Judge(get) == "S11");
}
