#include <catch2/catch.hpp>
#include <cstddef>
#include <future>
#include <vector>

#include "apiserver/storage/memory/engine.h"
#include "buggy_rest.h"
#include "registry/fixture.h"

// Cases that have never failed are no evidence: each bug must be found.
using namespace apiserver;  // NOLINT: a test.
using testing::RestBug;
namespace kit = apiserver::testing::storage;

namespace {

struct SeededRestBug {
  const char* name;
  RestBug bug;
  // The beginning of one of the cases that must fail.
  const char* found_by;
};

const SeededRestBug kRestBugs[] = {
    {"get ignores the namespace", RestBug::kGetIgnoresNamespace, "get: looks in"},
    {"get of an absent object is 500", RestBug::kGetOfNothingIs500, "get: an absent"},
    {"get takes a bad resourceVersion", RestBug::kGetTakesBadVersion, "get: a bad"},
    {"a list is reversed", RestBug::kListReversed, "list: holds all"},
    {"a list has no resourceVersion", RestBug::kListHasNoVersion, "list: an empty"},
    {"a list ignores label selectors", RestBug::kListIgnoresLabels, "list: label"},
    {"a list ignores field selectors", RestBug::kListIgnoresFields, "list: metadata.name"},
    {"a list ignores the limit", RestBug::kListIgnoresLimit, "pages: together"},
    {"pages go on with the state of now", RestBug::kPagesGoOnNow, "pages: are of"},
    {"a selective page tells a remaining count", RestBug::kRemainingCountWithSelector,
     "pages: are filled"},
    {"an exact list is of now", RestBug::kExactIsNow, "list: Exact"},
    {"a table skips a row", RestBug::kTableSkipsRow, "table: has a row"},
    {"a watch begins now", RestBug::kWatchBeginsNow, "watch: may begin"},
    {"a watch tells of no deletion", RestBug::kWatchDropsDeletes, "watch: tells of changes"},
    {"a watch repeats an event", RestBug::kWatchRepeats, "watch: tells of changes"},
    {"DELETED has the object's resourceVersion", RestBug::kWatchDeletesWithOldVersion,
     "watch: DELETED"},
    {"a watch filters by the new state alone", RestBug::kWatchFiltersNaively, "watch: a selector"},
    {"initial events have no end", RestBug::kWatchHasNoInitialEnd, "initial events: are the"},
    {"a watch gets no bookmarks", RestBug::kWatchHasNoBookmarks, "watch: gets a bookmark"},
    {"a watch that is too old goes on from now", RestBug::kWatchExpiresSilently,
     "watch: from before"},
    {"create ignores dry run", RestBug::kCreateIgnoresDryRun, "create: a dry run stores"},
    {"create does not ask validate", RestBug::kCreateSkipsValidate, "create: validate may"},
    {"create overwrites", RestBug::kCreateOverwrites, "create: a taken"},
    {"create asks validate before the name is made", RestBug::kCreateValidatesBeforeNaming,
     "create: validate sees"},
    {"update ignores dry run", RestBug::kUpdateIgnoresDryRun, "update: a dry run"},
    {"update ignores the resourceVersion", RestBug::kUpdateIgnoresVersion, "update: from a stale"},
    {"update ignores the uid precondition", RestBug::kUpdateIgnoresUid, "update: a uid"},
    {"update does not ask validate", RestBug::kUpdateSkipsValidate, "update: validate may"},
    {"update writes what has not changed", RestBug::kUpdateAlwaysWrites, "update: that changes"},
    {"delete ignores dry run", RestBug::kDeleteIgnoresDryRun, "delete: a dry run"},
    {"delete ignores preconditions", RestBug::kDeleteIgnoresPreconditions, "delete: a uid"},
    {"delete does not ask validate", RestBug::kDeleteSkipsValidate, "delete: validate may"},
    {"delete ignores finalizers", RestBug::kDeleteIgnoresFinalizers, "delete: finalizers"},
    {"deletecollection ignores selectors", RestBug::kCollectionIgnoresSelector,
     "deletecollection: selectors"},
};

// The parts of a storage in memory, in the order of their construction.
struct Parts {
  ~Parts() {
    store.reset();
    pool->Stop();
  }
  std::unique_ptr<ThreadPool> pool = NewThreadPool({"rest", 2});
  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::shared_ptr<registry::Store> store;
};

kit::RestHost HostWith(RestBug bug) {
  kit::RestHost host;
  host.open = [bug]() -> Result<kit::RestOpened> {
    auto parts = std::make_shared<Parts>();
    registry::StorageConfig config;
    config.engine = parts->engine.get();
    config.executor = parts->pool.get();
    auto store =
        registry::NewStore(config, {.kind = testing::NewWidgetKind(),
                                    .strategy = std::make_shared<testing::WidgetStrategy>()});
    if (!store.ok()) return store.status();
    parts->store = *store;
    kit::RestOpened opened;
    opened.storage = testing::WithRestBug(*store, bug);
    opened.forget = [parts = parts.get()](std::string_view rv) {
      return parts->engine->Compact(Context::Background(), std::stoll(std::string(rv)));
    };
    opened.keep = std::move(parts);
    return opened;
  };
  host.spoil = [](runtime::Object& object) { object.Edit("spec", "size") = -1; };
  return host;
}

Status RunCase(const kit::RestHost& host, std::string_view beginning) {
  for (const kit::RestCase& one : kit::RestCases(host)) {
    if (std::string_view(one.name).starts_with(beginning)) return one.run(host);
  }
  return {Reason::kNotFound, "no case begins with " + std::string(beginning)};
}

}  // namespace

TEST_CASE("testing.storage: every seeded bug of a rest::Storage is found", "[testing.storage]") {
  // Side by side: a case that misses an event waits ten seconds for it.
  std::vector<std::future<Status>> outcomes;
  for (const SeededRestBug& seeded : kRestBugs) {
    outcomes.push_back(std::async(
        std::launch::async, [&seeded] { return RunCase(HostWith(seeded.bug), seeded.found_by); }));
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const Status outcome = outcomes[i].get();
    INFO(kRestBugs[i].name << ": " << outcome.ToString());
    CHECK_FALSE(outcome.ok());
    CHECK(outcome.reason() != Reason::kNotFound);
  }
}

TEST_CASE("testing.storage: a good rest::Storage passes every case that finds a bug",
          "[testing.storage]") {
  for (const SeededRestBug& seeded : kRestBugs) {
    const Status outcome = RunCase(HostWith(RestBug::kNone), seeded.found_by);
    INFO(seeded.found_by << ": " << outcome.ToString());
    CHECK(outcome.ok());
  }
}

TEST_CASE("testing.storage: cases are skipped only where the host says so", "[testing.storage]") {
  kit::RestHost host = HostWith(RestBug::kNone);
  const std::size_t all = kit::RestCases(host).size();
  CHECK(all >= 60);
  CHECK(kit::SkippedRestCases(host).empty());

  host.lacks = {"watch"};
  const auto skipped = kit::SkippedRestCases(host);
  CHECK(kit::RestCases(host).size() + skipped.size() == all);
  REQUIRE_FALSE(skipped.empty());
  CHECK(skipped[0].ends_with("(needs watch)"));
  // It can watch.
  CHECK_FALSE(RunCase(host, "storage: lacks").ok());
  host.lacks = {"wings"};
  CHECK(RunCase(host, "storage: lacks").message() == "RestHost::lacks has the unknown word wings");
}

TEST_CASE("testing.storage: a RestHost that contradicts itself is told", "[testing.storage]") {
  const kit::RestHost good = HostWith(RestBug::kNone);
  const auto mark = [](runtime::Object&, std::string_view) {};
  const auto mark_of = [](const runtime::Object&) { return std::string(); };
  const std::string_view judge = "storage: lacks what its host says";
  REQUIRE(RunCase(good, judge).ok());

  kit::RestHost half = good;
  half.mark = mark;
  half.lacks = {"labels"};
  CHECK(RunCase(half, judge).message() == "RestHost::mark and RestHost::mark_of belong together");

  kit::RestHost labelled = good;
  labelled.mark = mark;
  labelled.mark_of = mark_of;
  CHECK_FALSE(RunCase(labelled, judge).ok());
  labelled.lacks = {"labels"};
  CHECK(RunCase(labelled, judge).ok());

  kit::RestHost named = good;
  named.name = [](std::string_view name) { return std::string(name); };
  CHECK(RunCase(named, judge).message() == "RestHost::name is for a storage without create");
}
