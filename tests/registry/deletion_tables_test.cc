// Deletion as k8s.io/apiserver/pkg/registry/generic/registry/store_test.go has it.
#include <algorithm>
#include <atomic>

#include "apiserver/base/sync.h"
#include "apiserver/codec/json.h"
#include "apiserver/testing/server/fake_clock.h"
#include "registry/fixture.h"

using namespace apiserver;  // NOLINT: a test.
using meta::DeletionPropagation;
using rest::GarbageCollectionPolicy;
using testing::Edited;
using testing::Fixture;

namespace {

using Names = std::vector<std::string>;

constexpr auto kDelete = GarbageCollectionPolicy::kDeleteDependents;
constexpr auto kOrphan = GarbageCollectionPolicy::kOrphanDependents;
constexpr const char* kNotFound = "NotFound";

meta::DeleteOptions Orphan(std::optional<bool> orphan) {
  meta::DeleteOptions options;
  options.orphan_dependents = orphan;
  return options;
}

meta::DeleteOptions Policy(DeletionPropagation policy) {
  meta::DeleteOptions options;
  options.propagation_policy = policy;
  return options;
}

// Puts an object with this metadata into storage, past all that a create would do to it.
void Store(Fixture& fixture, std::string_view name, std::string_view metadata) {
  auto object = fixture.New(name);
  const auto parsed = codec::ParseJson(object->arena().Copy(metadata), object->arena());
  REQUIRE(parsed.ok());
  for (const runtime::Member& member : parsed->members()) {
    object->Edit("metadata", member.key) = member.value;
  }
  object->Edit("metadata", "uid") = "u";
  REQUIRE(
      fixture.Store().storage().Create(fixture.ctx, "/ns/" + std::string(name), *object, {}).ok());
}

// A deletion that waits for finalizers leaves this behind.
void CheckMarked(Fixture& fixture, std::string_view name) {
  const auto object = fixture.Get(name);
  REQUIRE(object.ok());
  CHECK((*object)->deleting());
  CHECK((*object)->metadata()["deletionGracePeriodSeconds"].AsInt(-1) == 0);
  CHECK((*object)->generation() == 2);
}

Edited::Edit SetFinalizers(Names names) {
  return [names = std::move(names)](runtime::Object& object) {
    runtime::ListBuilder list(object.arena());
    for (const std::string& name : names) {
      list.Add(runtime::Value::String(object.arena().Copy(name)));
    }
    object.SetPath({"metadata", "finalizers"}, list.Build());
    object.Edit("spec", "color") = "changed";
  };
}

}  // namespace

// TestStoreDeleteWithOrphanDependents; its cases with nil options are those without
// orphanDependents.
TEST_CASE("registry: orphanDependents outranks finalizers, they outrank the strategy",
          "[registry]") {
  const Names orphan{"foo.com/x", "orphan", "bar.com/y"};
  const Names others{"foo.com/x", "bar.com/y"};
  const Names none{};
  const Names only{"orphan"};
  struct Row {
    Names existing;
    std::optional<bool> orphan;
    GarbageCollectionPolicy policy;
    std::string expected;
  };
  const std::vector<Row> rows{
      {orphan, true, kDelete, "foo.com/x orphan bar.com/y"},
      {others, true, kDelete, "foo.com/x bar.com/y orphan"},
      {none, true, kDelete, "orphan"},
      {only, true, kDelete, "orphan"},
      {orphan, false, kOrphan, "foo.com/x bar.com/y"},
      {others, false, kOrphan, "foo.com/x bar.com/y"},
      {none, false, kOrphan, kNotFound},
      {only, false, kOrphan, kNotFound},
      {orphan, {}, kDelete, "foo.com/x orphan bar.com/y"},
      {orphan, {}, kOrphan, "foo.com/x orphan bar.com/y"},
      {others, {}, kDelete, "foo.com/x bar.com/y"},
      {others, {}, kOrphan, "foo.com/x bar.com/y orphan"},
      {none, {}, kDelete, kNotFound},
      {none, {}, kOrphan, "orphan"},
      {only, {}, kDelete, "orphan"},
      {only, {}, kOrphan, "orphan"},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    Fixture fixture(/*watch_cache=*/false);
    fixture.strategy->policy = rows[i].policy;
    fixture.Create("pod", rows[i].existing);

    REQUIRE(fixture.Delete("pod", Orphan(rows[i].orphan)).ok());

    CHECK(fixture.FinalizersOf("pod") == rows[i].expected);
    if (rows[i].expected != kNotFound) CheckMarked(fixture, "pod");
  }
}

// TestStoreDeletionPropagation
TEST_CASE("registry: the propagation policy decides who cares for dependents", "[registry]") {
  constexpr auto kForeground = DeletionPropagation::kForeground;
  constexpr auto kBackground = DeletionPropagation::kBackground;
  constexpr auto kOrphaning = DeletionPropagation::kOrphan;
  constexpr auto kDefault = DeletionPropagation::kUnset;
  struct Row {
    Names existing;
    DeletionPropagation policy;
    std::string with_default_strategy;
    std::string with_orphan_strategy;
  };
  const std::vector<Row> rows{
      {{}, kForeground, "foregroundDeletion", "foregroundDeletion"},
      {{}, kBackground, kNotFound, kNotFound},
      {{}, kOrphaning, "orphan", "orphan"},
      {{}, kDefault, kNotFound, "orphan"},
      {{"orphan"}, kForeground, "foregroundDeletion", "foregroundDeletion"},
      {{"orphan"}, kBackground, kNotFound, kNotFound},
      {{"orphan"}, kOrphaning, "orphan", "orphan"},
      {{"orphan"}, kDefault, "orphan", "orphan"},
      {{"foregroundDeletion"}, kForeground, "foregroundDeletion", "foregroundDeletion"},
      {{"foregroundDeletion"}, kBackground, kNotFound, kNotFound},
      {{"foregroundDeletion"}, kOrphaning, "orphan", "orphan"},
      {{"foregroundDeletion"}, kDefault, "foregroundDeletion", "foregroundDeletion"},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const auto strategy : {kDelete, kOrphan}) {
      CAPTURE(i, strategy == kOrphan);
      Fixture fixture(/*watch_cache=*/false);
      fixture.strategy->policy = strategy;
      fixture.Create("pod", rows[i].existing);

      REQUIRE(fixture.Delete("pod", Policy(rows[i].policy)).ok());

      const std::string& expected =
          strategy == kDelete ? rows[i].with_default_strategy : rows[i].with_orphan_strategy;
      CHECK(fixture.FinalizersOf("pod") == expected);
      if (expected != kNotFound) CheckMarked(fixture, "pod");
    }
  }
}

namespace {

// The version a request came by.
struct Version {
  std::string value;
};

// What old versions of a kind did to dependents they go on doing.
struct VersionedStrategy final : rest::Strategy {
  bool NamespaceScoped() const override { return true; }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }
  GarbageCollectionPolicy DefaultGarbageCollectionPolicy(const Context& ctx) const override {
    const auto* version = ctx.Get<Version>();
    return version != nullptr && version->value != "apps/v1" ? kOrphan : kDelete;
  }
};

}  // namespace

// TestDeletionFinalizersForGarbageCollection
TEST_CASE("registry: a strategy may decide by the version of the request", "[registry]") {
  for (const auto& [version, expected] :
       std::vector<std::pair<std::string, std::string>>{{"extensions/v1beta1", "orphan"},
                                                        {"apps/v1beta1", "orphan"},
                                                        {"apps/v1beta2", "orphan"},
                                                        {"apps/v1", kNotFound}}) {
    CAPTURE(version);
    Fixture fixture(/*watch_cache=*/false);
    fixture.options.kind = fixture.kind;
    fixture.options.strategy = std::make_shared<VersionedStrategy>();
    fixture.store = *registry::NewStore(fixture.config, fixture.options);
    fixture.Create("one");
    fixture.ctx.Set(Version{version});

    REQUIRE(fixture.Delete("one").ok());

    CHECK(fixture.FinalizersOf("one") == expected);
  }
}

TEST_CASE("registry: repeated and reordered finalizers are no change", "[registry]") {
  Fixture fixture(/*watch_cache=*/false);
  Store(fixture, "one",
        R"({"finalizers":["orphan","orphan","a.b/c"],"deletionTimestamp":"2020-01-01T00:00:00Z",)"
        R"("deletionGracePeriodSeconds":0})");

  REQUIRE(fixture.Delete("one").ok());

  CHECK(fixture.FinalizersOf("one") == "orphan orphan a.b/c");
  CHECK((*fixture.Get("one"))->resource_version() == "2");
}

// TestMarkAsDeleting
TEST_CASE("registry: the time of deletion moves only to the past", "[registry]") {
  testing::FakeClock clock(Clock::Wall(std::chrono::seconds(1'600'000'000)));
  struct Row {
    std::string before;
    std::string after;
    int generation;
  };
  const std::vector<Row> rows{
      {"", "2020-09-13T12:26:40Z", 8},
      {R"(,"deletionTimestamp":"2020-09-13T12:26:41Z")", "2020-09-13T12:26:40Z", 7},
      {R"(,"deletionTimestamp":"2020-09-13T12:26:39Z")", "2020-09-13T12:26:39Z", 7},
  };
  for (const Row& row : rows) {
    CAPTURE(row.before);
    Fixture fixture(/*watch_cache=*/false);
    fixture.config.clock = &clock;
    Store(fixture, "one", R"({"generation":7,"finalizers":["a.b/c"])" + row.before + "}");

    REQUIRE(fixture.Delete("one").ok());

    const auto object = fixture.Get("one");
    REQUIRE(object.ok());
    CHECK((*object)->metadata()["deletionTimestamp"].AsString() == row.after);
    CHECK((*object)->metadata()["deletionGracePeriodSeconds"].AsInt(-1) == 0);
    CHECK((*object)->generation() == row.generation);
  }
}

// TestGracefulStoreHandleFinalizers, TestNonGracefulStoreHandleFinalizers
TEST_CASE("registry: only the update that takes the last finalizer deletes", "[registry]") {
  for (const bool collector : {true, false}) {
    for (const bool graceful : {true, false}) {
      CAPTURE(collector, graceful);
      Fixture fixture;
      fixture.config.enable_garbage_collection = collector;
      if (graceful) fixture.strategy->grace = 30;
      int deleted = 0;
      fixture.options.after_delete = [&deleted](const runtime::Object&) { ++deleted; };
      fixture.Create("foo", {"foo.com/x"});

      meta::DeleteOptions now;
      if (graceful) now.grace_period_seconds = 0;
      const auto marked = fixture.Delete("foo", now);
      REQUIRE(marked.ok());
      CHECK_FALSE(marked->deleted_immediately);
      CheckMarked(fixture, "foo");

      REQUIRE(fixture.Edit("foo", SetFinalizers({"foo.com/x"})).ok());
      CHECK(deleted == 0);
      CHECK(fixture.FinalizersOf("foo") == "foo.com/x");

      const auto last = fixture.Edit("foo", SetFinalizers({}));
      REQUIRE(last.ok());
      CHECK(deleted == 1);
      CHECK((*last->object)["spec"]["color"].AsString() == "changed");
      CHECK(fixture.FinalizersOf("foo") == kNotFound);
    }
  }
}

TEST_CASE("registry: a dry run of the update that takes the last finalizer deletes nothing",
          "[registry]") {
  Fixture fixture;
  int deleted = 0;
  fixture.options.after_delete = [&deleted](const runtime::Object&) { ++deleted; };
  fixture.Create("foo", {"foo.com/x"});
  REQUIRE(fixture.Delete("foo").ok());

  const auto last = fixture.Update("foo", Edited(SetFinalizers({})), /*dry_run=*/true);

  REQUIRE(last.ok());
  CHECK(deleted == 0);
  CHECK(fixture.FinalizersOf("foo") == "foo.com/x");
}

// TestGracefulStoreCanDeleteIfExistingGracePeriodZero
TEST_CASE("registry: what was left behind with no grace to go is deleted by the next delete",
          "[registry]") {
  Fixture fixture;
  fixture.strategy->grace = 30;
  Store(fixture, "foo",
        R"({"generation":1,"deletionTimestamp":"2020-01-01T00:00:00Z",)"
        R"("deletionGracePeriodSeconds":0})");

  const auto deleted = fixture.Delete("foo");

  REQUIRE(deleted.ok());
  CHECK(deleted->deleted_immediately);
  CHECK(fixture.FinalizersOf("foo") == kNotFound);
}

// TestRetryDeleteValidation
TEST_CASE("registry: admission judges a deletion again when the object has changed", "[registry]") {
  for (const bool finalizer : {true, false}) {
    for (const bool watch_cache : {true, false}) {
      CAPTURE(finalizer, watch_cache);
      Fixture fixture(watch_cache);
      fixture.Create("foo", finalizer ? Names{"foo.com/pending"} : Names{});
      std::vector<std::string> seen;
      const rest::ValidateObject validate = [&](const Context&, const runtime::Object& object) {
        seen.emplace_back(object.labels()["modified"].AsString());
        if (seen.size() > 1) return Status();
        return fixture
            .Edit("foo",
                  [](runtime::Object& now) { now.Edit("metadata", "labels", "modified") = "true"; })
            .status();
      };

      const auto deleted = fixture.Store().Delete(fixture.ctx, "foo", validate, {});

      INFO(deleted.status().ToString());
      REQUIRE(deleted.ok());
      CHECK(deleted->deleted_immediately == !finalizer);
      CHECK(seen == std::vector<std::string>{"", "true"});
    }
  }
}

// Preconditions hold inside retries, too.
TEST_CASE("registry: an object that changes under a deletion with a precondition stays",
          "[registry]") {
  for (const bool finalizer : {true, false}) {
    CAPTURE(finalizer);
    Fixture fixture;
    const auto created = fixture.Create("foo", finalizer ? Names{"foo.com/x"} : Names{});
    int calls = 0;
    const rest::ValidateObject validate = [&](const Context&, const runtime::Object&) {
      if (++calls > 1) return Status();
      return fixture
          .Edit("foo", [](runtime::Object& now) { now.Edit("spec", "color") = "meanwhile"; })
          .status();
    };
    meta::DeleteOptions options;
    options.preconditions.resource_version = std::string(created->resource_version());

    const auto refused = fixture.Store().Delete(fixture.ctx, "foo", validate, options);

    CHECK(refused.status().reason() == Reason::kConflict);
    CHECK(refused.status().message().find("Precondition failed: ResourceVersion in precondition: "
                                          "2, ResourceVersion in object meta: 3") !=
          std::string::npos);
    CHECK_FALSE((*fixture.Get("foo"))->deleting());
  }
}

TEST_CASE("registry: a precondition on the version allows for the marks of the deletion itself",
          "[registry]") {
  Fixture fixture;
  const auto created = fixture.Create("foo", {"orphan"});
  meta::DeleteOptions options = Policy(DeletionPropagation::kBackground);
  options.preconditions.resource_version = std::string(created->resource_version());
  options.preconditions.uid = std::string(created->uid());

  const auto deleted = fixture.Delete("foo", options);

  INFO(deleted.status().ToString());
  REQUIRE(deleted.ok());
  CHECK(fixture.FinalizersOf("foo") == kNotFound);
}

// TestStoreDeleteCollection
TEST_CASE("registry: deletecollection goes on after its first page", "[registry][slow]") {
  constexpr int kObjects = 10'003;  // A page and a bit.
  Fixture fixture;
  fixture.config.delete_collection_workers = 2;
  for (int i = 0; i < kObjects; ++i) fixture.Create("foo-" + std::to_string(i));

  const auto deleted = fixture.Store().DeleteCollection(fixture.ctx, nullptr, {}, {});

  REQUIRE(deleted.ok());
  CHECK(deleted->items.size() == kObjects);
  CHECK(fixture.Store().List(fixture.ctx, {})->items.empty());
}

// TestStoreDeleteCollectionNoMutateOptions
TEST_CASE("registry: what a strategy makes of one object's options is not the next one's",
          "[registry]") {
  Fixture fixture;
  fixture.strategy->grace = 30;
  fixture.Create("foo");
  fixture.Create("bar");
  meta::DeleteOptions options;

  REQUIRE(fixture.Store().DeleteCollection(fixture.ctx, nullptr, options, {}).ok());

  CHECK_FALSE(options.grace_period_seconds.has_value());
  CHECK((*fixture.Get("foo"))->metadata()["deletionGracePeriodSeconds"].AsInt() == 30);
  CHECK((*fixture.Get("bar"))->metadata()["deletionGracePeriodSeconds"].AsInt() == 30);
}

// TestStoreDeleteCollectionNotFound
TEST_CASE("registry: two deletecollections at once do not mind each other", "[registry]") {
  Fixture fixture;
  for (int round = 0; round < 10; ++round) {
    fixture.Create("foo");
    fixture.Create("bar");
    std::atomic<int> failures{0};
    {
      std::vector<Thread> threads;  // Joined here.
      for (int i = 0; i < 2; ++i) {
        threads.emplace_back("collection", [&] {
          if (!fixture.Store().DeleteCollection(fixture.ctx, nullptr, {}, {}).ok()) ++failures;
        });
      }
    }
    CHECK(failures == 0);
    CHECK(fixture.FinalizersOf("foo") == kNotFound);
    CHECK(fixture.FinalizersOf("bar") == kNotFound);
  }
}

// TestStoreDeleteCollectionWorkDistributorExited
TEST_CASE("registry: deletecollection ends when all its workers have failed", "[registry]") {
  Fixture fixture;
  fixture.config.delete_collection_workers = 3;
  for (int i = 0; i < 100; ++i) fixture.Create("foo-" + std::to_string(i));
  std::atomic<int> asked{0};

  const auto refused = fixture.Store().DeleteCollection(
      fixture.ctx,
      [&asked](const Context&, const runtime::Object&) {
        ++asked;
        return Status(Reason::kForbidden, "validate object failed");
      },
      {}, {});

  CHECK(refused.status() == Status(Reason::kForbidden, "validate object failed"));
  CHECK(asked <= 3);
  CHECK(fixture.Store().List(fixture.ctx, {})->items.size() == 100);
}

// TestStoreDeleteCollectionWithContextCancellation
TEST_CASE("registry: deletecollection stops when its request is given up", "[registry]") {
  Fixture fixture;
  for (int i = 0; i < 100; ++i) fixture.Create("foo-" + std::to_string(i));
  Context ctx = Context::Child(fixture.ctx);
  int asked = 0;

  const auto stopped =
      fixture.Store().DeleteCollection(ctx,
                                       [&](const Context&, const runtime::Object&) {
                                         ++asked;
                                         ctx.Cancel(Status(Reason::kTimeout, "given up"));
                                         return Status();
                                       },
                                       {}, {});

  CHECK_FALSE(stopped.ok());
  CHECK(asked == 1);
  CHECK(fixture.Store().List(fixture.ctx, {})->items.size() >= 99);
}

// TestStoreDeleteCollectionWithWatch
TEST_CASE("registry: a watcher sees what deletecollection deletes", "[registry]") {
  Fixture fixture;
  const auto created = fixture.Create("foo");
  meta::ListOptions from;
  from.resource_version = std::string(created->resource_version());
  from.field_selector = meta::FieldSelector::Equals("metadata.name", "foo");
  const auto stream =
      fixture.Store().Watch(fixture.ctx, from, RealClock().Now() + std::chrono::hours(1));
  REQUIRE(stream.ok());

  REQUIRE(fixture.Store().DeleteCollection(fixture.ctx, nullptr, {}, {}).ok());

  std::vector<watch::Event> events;
  while ((*stream)->Next(events, 10, Waker()) == watch::Stream::State::kMore) {
  }
  REQUIRE(events.size() == 1);
  CHECK(events[0].type == watch::EventType::kDeleted);
  CHECK(events[0].object->name() == "foo");
  CHECK(events[0].object->uid() == created->uid());
  CHECK(events[0].resource_version == "3");
}

TEST_CASE("registry: a dry run of deletecollection deletes nothing", "[registry]") {
  Fixture fixture;
  fixture.Create("foo");
  fixture.Create("held", {"foo.com/x"});
  meta::DeleteOptions options;
  options.dry_run = true;

  const auto deleted = fixture.Store().DeleteCollection(fixture.ctx, nullptr, options, {});

  REQUIRE(deleted.ok());
  CHECK(deleted->items.size() == 2);
  CHECK(fixture.Get("foo").ok());
  CHECK_FALSE((*fixture.Get("held"))->deleting());
}

TEST_CASE("registry: deletecollection marks what finalizers hold", "[registry]") {
  Fixture fixture;
  fixture.Create("foo");
  fixture.Create("held", {"foo.com/x"});

  REQUIRE(fixture.Store()
              .DeleteCollection(fixture.ctx, nullptr, Policy(DeletionPropagation::kForeground), {})
              .ok());

  CHECK(fixture.FinalizersOf("foo") == "foregroundDeletion");
  CHECK(fixture.FinalizersOf("held") == "foo.com/x foregroundDeletion");
}
