#include "registry/fixture.h"

using namespace apiserver;  // NOLINT: a test.
using meta::DeletionPropagation;
using testing::Fixture;

namespace {

meta::DeleteOptions Grace(std::int64_t seconds) {
  meta::DeleteOptions options;
  options.grace_period_seconds = seconds;
  return options;
}

meta::DeleteOptions Propagation(DeletionPropagation policy) {
  meta::DeleteOptions options;
  options.propagation_policy = policy;
  return options;
}

}  // namespace

TEST_CASE("registry: delete answers with what was deleted", "[registry]") {
  Fixture fixture;
  const auto created = fixture.Create("one");
  const auto deleted = fixture.Delete("one");
  REQUIRE(deleted.ok());
  CHECK(deleted->deleted_immediately);
  CHECK(deleted->object == nullptr);
  CHECK(deleted->details.name == "one");
  CHECK(deleted->details.kind == "widgets");
  CHECK(deleted->details.group == "test.example.com");
  CHECK(deleted->details.uid == created->uid());
  CHECK(fixture.Get("one").status().reason() == Reason::kNotFound);
}

TEST_CASE("registry: delete may answer with the object", "[registry]") {
  Fixture fixture;
  fixture.options.return_deleted_object = true;
  fixture.Create("one");
  const auto deleted = fixture.Delete("one");
  REQUIRE(deleted.ok());
  REQUIRE(deleted->object != nullptr);
  CHECK(deleted->object->resource_version() == "3");
}

TEST_CASE("registry: delete of what is not there is 404", "[registry]") {
  Fixture fixture;
  CHECK(fixture.Delete("one").status().message() == "widgets.test.example.com \"one\" not found");
}

TEST_CASE("registry: delete checks its preconditions", "[registry]") {
  Fixture fixture;
  const auto created = fixture.Create("one");
  meta::DeleteOptions options;
  options.preconditions.uid = "other";
  CHECK(fixture.Delete("one", options).status().message() ==
        "Operation cannot be fulfilled on Widget.test.example.com \"one\": the UID in the "
        "precondition (other) does not match the UID in record (" +
            std::string(created->uid()) +
            "). The object might have been deleted and then recreated");
  options.preconditions = {};
  options.preconditions.resource_version = "1";
  CHECK(fixture.Delete("one", options).status().message() ==
        "Operation cannot be fulfilled on Widget.test.example.com \"one\": the ResourceVersion in "
        "the precondition (1) does not match the ResourceVersion in record (2). The object might "
        "have been modified");
  options.preconditions.resource_version = "2";
  CHECK(fixture.Delete("one", options).ok());
}

TEST_CASE("registry: admission may refuse a deletion", "[registry]") {
  Fixture fixture;
  fixture.Create("one");
  const auto refused = fixture.Store().Delete(fixture.ctx, "one",
                                              [](const Context&, const runtime::Object&) {
                                                return Status(Reason::kInternalError, "webhook");
                                              },
                                              {});
  CHECK(refused.status() == Status(Reason::kInternalError, "webhook"));
  CHECK(fixture.Get("one").ok());
}

TEST_CASE("registry: an object with finalizers lingers until they are gone", "[registry]") {
  Fixture fixture;
  fixture.Create("one", {"example.com/a", "example.com/b"});
  const auto deleted = fixture.Delete("one");
  REQUIRE(deleted.ok());
  CHECK(!deleted->deleted_immediately);
  REQUIRE(deleted->object != nullptr);
  CHECK(deleted->object->deleting());
  CHECK(deleted->object->metadata()["deletionGracePeriodSeconds"].AsInt(-1) == 0);
  CHECK(deleted->object->generation() == 2);
  // Again changes nothing.
  REQUIRE(fixture.Delete("one").ok());
  CHECK((*fixture.Get("one"))->resource_version() == "3");

  REQUIRE(fixture
              .Edit("one",
                    [](runtime::Object& object) {
                      runtime::ListBuilder list(object.arena());
                      list.Add(runtime::Value::String("example.com/b"));
                      object.Edit("metadata", "finalizers") = list.Build();
                    })
              .ok());
  CHECK(fixture.FinalizersOf("one") == "example.com/b");
  const auto last =
      fixture.Edit("one", [](runtime::Object& object) { object.Erase("metadata", "finalizers"); });
  REQUIRE(last.ok());
  CHECK(last->object->name() == "one");
  CHECK(!last->created);
  CHECK(fixture.Get("one").status().reason() == Reason::kNotFound);
}

TEST_CASE("registry: no finalizer may be added while deleting", "[registry]") {
  Fixture fixture;
  fixture.Create("one", {"example.com/a"});
  REQUIRE(fixture.Delete("one").ok());
  const auto refused = fixture.Edit("one", [](runtime::Object& object) {
    runtime::ListBuilder list(object.arena());
    list.Add(runtime::Value::String("example.com/a"));
    list.Add(runtime::Value::String("example.com/new"));
    object.Edit("metadata", "finalizers") = list.Build();
  });
  CHECK(refused.status().reason() == Reason::kInvalid);
}

TEST_CASE("registry: taking the last finalizer from a live object does not delete it",
          "[registry]") {
  Fixture fixture;
  fixture.Create("one", {"example.com/a"});
  REQUIRE(
      fixture.Edit("one", [](runtime::Object& object) { object.Erase("metadata", "finalizers"); })
          .ok());
  CHECK(fixture.Get("one").ok());
}

TEST_CASE("registry: foreground deletion leaves the object to the collector", "[registry]") {
  Fixture fixture;
  fixture.Create("one");
  REQUIRE(fixture.Delete("one", Propagation(DeletionPropagation::kForeground)).ok());
  CHECK(fixture.FinalizersOf("one") == "foregroundDeletion");
  CHECK((*fixture.Get("one"))->deleting());
}

TEST_CASE("registry: orphaning leaves the object to the collector", "[registry]") {
  Fixture fixture;
  fixture.Create("one");
  REQUIRE(fixture.Delete("one", Propagation(DeletionPropagation::kOrphan)).ok());
  CHECK(fixture.FinalizersOf("one") == "orphan");
  fixture.Create("two");
  meta::DeleteOptions old_style;
  old_style.orphan_dependents = true;
  REQUIRE(fixture.Delete("two", old_style).ok());
  CHECK(fixture.FinalizersOf("two") == "orphan");
}

TEST_CASE("registry: background deletion takes the collector's finalizers off", "[registry]") {
  Fixture fixture;
  fixture.Create("one", {"orphan"});
  REQUIRE(fixture.Delete("one", Propagation(DeletionPropagation::kBackground)).ok());
  CHECK(fixture.FinalizersOf("one") == "NotFound");
}

TEST_CASE("registry: without options an object's own finalizer decides", "[registry]") {
  Fixture fixture;
  fixture.Create("one", {"foregroundDeletion"});
  REQUIRE(fixture.Delete("one").ok());
  CHECK(fixture.FinalizersOf("one") == "foregroundDeletion");
}

TEST_CASE("registry: a strategy may orphan by default", "[registry]") {
  Fixture fixture;
  fixture.strategy->policy = rest::GarbageCollectionPolicy::kOrphanDependents;
  fixture.Create("one");
  REQUIRE(fixture.Delete("one").ok());
  CHECK(fixture.FinalizersOf("one") == "orphan");
}

TEST_CASE("registry: where collection is not supported no finalizer is added", "[registry]") {
  Fixture fixture;
  fixture.strategy->policy = rest::GarbageCollectionPolicy::kUnsupported;
  fixture.Create("one");
  REQUIRE(fixture.Delete("one", Propagation(DeletionPropagation::kForeground)).ok());
  CHECK(fixture.FinalizersOf("one") == "NotFound");
}

TEST_CASE("registry: a server without collector adds no finalizer", "[registry]") {
  Fixture fixture;
  fixture.config.enable_garbage_collection = false;
  fixture.Create("one");
  REQUIRE(fixture.Delete("one", Propagation(DeletionPropagation::kOrphan)).ok());
  CHECK(fixture.FinalizersOf("one") == "NotFound");
}

TEST_CASE("registry: a graceful deletion sets the time when it will be", "[registry]") {
  Fixture fixture;
  fixture.strategy->grace = 30;
  fixture.Create("one");
  const auto deleted = fixture.Delete("one");
  REQUIRE(deleted.ok());
  CHECK(!deleted->deleted_immediately);
  CHECK(deleted->object->metadata()["deletionGracePeriodSeconds"].AsInt() == 30);
  CHECK(deleted->object->deleting());
  CHECK(deleted->object->generation() == 2);
}

TEST_CASE("registry: a later delete may only shorten the grace", "[registry]") {
  Fixture fixture;
  fixture.strategy->grace = 30;
  fixture.Create("one");
  REQUIRE(fixture.Delete("one").ok());
  REQUIRE(fixture.Delete("one", Grace(50)).ok());
  CHECK((*fixture.Get("one"))->metadata()["deletionGracePeriodSeconds"].AsInt() == 30);
  REQUIRE(fixture.Delete("one", Grace(10)).ok());
  CHECK((*fixture.Get("one"))->metadata()["deletionGracePeriodSeconds"].AsInt() == 10);
  CHECK((*fixture.Get("one"))->generation() == 2);
  const auto now = fixture.Delete("one", Grace(0));
  REQUIRE(now.ok());
  CHECK(now->deleted_immediately);
  CHECK(fixture.Get("one").status().reason() == Reason::kNotFound);
}

TEST_CASE("registry: a grace of zero deletes at once", "[registry]") {
  Fixture fixture;
  fixture.strategy->grace = 30;
  fixture.Create("one");
  const auto deleted = fixture.Delete("one", Grace(0));
  REQUIRE(deleted.ok());
  CHECK(deleted->deleted_immediately);
  CHECK(fixture.Get("one").status().reason() == Reason::kNotFound);
}

TEST_CASE("registry: a grace of zero with a precondition on the version deletes too",
          "[registry]") {
  Fixture fixture;
  fixture.strategy->grace = 30;
  const auto created = fixture.Create("one");
  meta::DeleteOptions options = Grace(0);
  options.preconditions.resource_version = std::string(created->resource_version());
  const auto deleted = fixture.Delete("one", options);
  INFO(deleted.status().ToString());
  REQUIRE(deleted.ok());
  CHECK(fixture.Get("one").status().reason() == Reason::kNotFound);
}

TEST_CASE("registry: a graceful deletion of an object with finalizers waits for both",
          "[registry]") {
  Fixture fixture;
  fixture.strategy->grace = 30;
  fixture.Create("one", {"example.com/a"});
  REQUIRE(fixture.Delete("one").ok());
  REQUIRE(
      fixture.Edit("one", [](runtime::Object& object) { object.Erase("metadata", "finalizers"); })
          .ok());
  // The grace has not passed.
  CHECK(fixture.Get("one").ok());
  REQUIRE(fixture.Delete("one", Grace(0)).ok());
  CHECK(fixture.Get("one").status().reason() == Reason::kNotFound);
}

TEST_CASE("registry: a dry run of a delete deletes nothing", "[registry]") {
  Fixture fixture;
  fixture.Create("one");
  fixture.Create("held", {"example.com/a"});
  meta::DeleteOptions options;
  options.dry_run = true;
  const auto plain = fixture.Delete("one", options);
  REQUIRE(plain.ok());
  CHECK(plain->deleted_immediately);
  const auto held = fixture.Delete("held", options);
  REQUIRE(held.ok());
  CHECK(held->object->deleting());
  CHECK((*fixture.Get("one"))->resource_version() == "2");
  CHECK(!(*fixture.Get("held"))->deleting());
}

TEST_CASE("registry: deletecollection deletes what is selected", "[registry]") {
  Fixture fixture;
  fixture.config.delete_collection_workers = 4;
  for (int i = 0; i < 40; ++i) {
    auto object = fixture.New("w" + std::to_string(i));
    object->Edit("metadata", "labels", "odd") = i % 2 == 1 ? "yes" : "no";
    REQUIRE(fixture.TryCreate(std::move(object)).ok());
  }
  meta::ListOptions list;
  list.label_selector = *meta::LabelSelector::Parse("odd=yes");
  const auto deleted = fixture.Store().DeleteCollection(fixture.ctx, nullptr, {}, list);
  REQUIRE(deleted.ok());
  CHECK(deleted->items.size() == 20);
  CHECK(fixture.Store().List(fixture.ctx, {})->items.size() == 20);
}

TEST_CASE("registry: deletecollection of a page deletes no more", "[registry]") {
  Fixture fixture;
  for (int i = 0; i < 5; ++i) fixture.Create("w" + std::to_string(i));
  meta::ListOptions list;
  list.limit = 2;
  const auto deleted = fixture.Store().DeleteCollection(fixture.ctx, nullptr, {}, list);
  REQUIRE(deleted.ok());
  CHECK(deleted->items.size() == 2);
  CHECK(!deleted->continue_token.empty());
  CHECK(fixture.Store().List(fixture.ctx, {})->items.size() == 3);
}

TEST_CASE("registry: deletecollection returns the first refusal", "[registry]") {
  Fixture fixture;
  for (int i = 0; i < 5; ++i) fixture.Create("w" + std::to_string(i));
  const auto refused = fixture.Store().DeleteCollection(
      fixture.ctx,
      [](const Context&, const runtime::Object& object) {
        return object.name() == "w3" ? Status(Reason::kForbidden, "not w3") : Status();
      },
      {}, {});
  CHECK(refused.status() == Status(Reason::kForbidden, "not w3"));
}
