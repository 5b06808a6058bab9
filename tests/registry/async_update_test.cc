#include <functional>
#include <thread>

#include "registry/fixture.h"
#include "storage/held_engine.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Edited;
using testing::Fixture;

namespace {

// Updates without a thread to wait on, as a handler does.
struct AsyncUpdate {
  AsyncUpdate(Fixture& fixture, std::string name_of, Edited::Edit edit, bool dry_run = false)
      : name(std::move(name_of)), info(std::move(edit)) {
    rest::UpdateRequest request{info, create, update, false, {}};
    request.options.dry_run = dry_run;
    fixture.Store().UpdateAsync(fixture.ctx, name, request,
                                [this](rest::AsyncUpdater::UpdateOutcome outcome) {
                                  got = std::move(outcome);
                                  told.Notify();
                                });
  }

  Result<rest::UpdateResult> Wait() {
    REQUIRE(told.WaitFor(std::chrono::seconds(60)));
    if (got.result.object) return got.result;
    return got.rest(Context::Background());
  }

  const std::string name;
  const Edited info;
  const rest::ValidateObject create;
  const rest::ValidateObjectUpdate update;
  rest::AsyncUpdater::UpdateOutcome got;
  Notification told;
};

void Grow(runtime::Object& object) {
  object.Edit("spec", "size") = object["spec"]["size"].AsInt() + 1;
}

}  // namespace

TEST_CASE("registry: an asynchronous update ends as one that waits does", "[registry]") {
  const bool watch_cache = GENERATE(true, false);
  Fixture waits(watch_cache);
  Fixture async(watch_cache);
  for (Fixture* fixture : {&waits, &async}) {
    fixture->strategy->unconditional = false;
    fixture->Create("one");
    fixture->Create("going", {"example.com/hold"});
    REQUIRE(fixture->Delete("going").ok());
  }
  const auto same = [&](const std::string& name, const Edited::Edit& edit, bool dry_run = false) {
    INFO(name);
    const auto expected = waits.Update(name, Edited(edit), dry_run);
    const auto got = AsyncUpdate(async, name, edit, dry_run).Wait();
    REQUIRE(expected.status() == got.status());
    CHECK(waits.warnings->Take() == async.warnings->Take());
    CHECK(waits.Get(name).status() == async.Get(name).status());
    if (!expected.ok()) return;
    CHECK(expected->created == got->created);
    CHECK(expected->object->resource_version() == got->object->resource_version());
    CHECK((*expected->object)["spec"] == (*got->object)["spec"]);
  };
  same("one", Grow);
  same("one", [](runtime::Object&) {});
  same("one", Grow, /*dry_run=*/true);
  same("one", [](runtime::Object& object) { object.Edit("spec", "size") = -3; });
  same("one", [](runtime::Object& object) { object.Edit("metadata", "resourceVersion") = "1"; });
  same("one", [](runtime::Object& object) { object.Erase("metadata", "resourceVersion"); });
  same("none", Grow);
  same("a%b", Grow);
  same("going", [](runtime::Object& object) { object.Erase("metadata", "finalizers"); });
  same("going", Grow);
}

TEST_CASE("registry: a hook runs after an asynchronous update, too", "[registry]") {
  Fixture fixture;
  std::string seen;
  fixture.options.after_update = [&](const runtime::Object& object) { seen = object.name(); };
  fixture.Create("one");
  REQUIRE(AsyncUpdate(fixture, "one", Grow).Wait().ok());
  CHECK(seen == "one");
}

TEST_CASE("registry: asynchronous updates that race all happen", "[registry]") {
  Fixture fixture;
  testing::HeldEngine held(*fixture.engine);
  fixture.config.engine = &held;
  const auto before = (*fixture.Create("one"))["spec"]["size"].AsInt();

  held.Hold();
  AsyncUpdate first(fixture, "one", Grow);
  AsyncUpdate second(fixture, "one", Grow);
  REQUIRE(held.WaitFor(2));
  CHECK_FALSE(first.told.HasBeenNotified());
  std::thread engine([&] { held.Release(); });
  const auto won = first.Wait();
  const auto lost = second.Wait();
  engine.join();

  REQUIRE(won.ok());
  REQUIRE(lost.ok());
  CHECK(second.got.result.object == nullptr);
  CHECK((*won->object)["spec"]["size"].AsInt() == before + 1);
  CHECK((*lost->object)["spec"]["size"].AsInt() == before + 2);
  CHECK((**fixture.Get("one"))["spec"]["size"].AsInt() == before + 2);
  fixture.store.reset();
}

TEST_CASE("registry: an asynchronous update of a status leaves the rest alone", "[registry]") {
  Fixture fixture;
  fixture.Create("one");
  const auto status = registry::NewStatusStore(
      std::shared_ptr<registry::Store>(&fixture.Store(), [](registry::Store*) {}),
      std::make_shared<testing::StatusStrategy>());
  REQUIRE(status.ok());
  auto* const updater = rest::Capabilities::Of(**status).async_updater;
  REQUIRE(updater != nullptr);
  const Edited info([](runtime::Object& object) {
    object.Edit("spec", "size") = 9;
    object.Edit("metadata", "labels", "seen") = "yes";
  });
  const rest::ValidateObject create;
  const rest::ValidateObjectUpdate update;
  rest::AsyncUpdater::UpdateOutcome got;
  // It may not create.
  const rest::UpdateRequest request{info, create, update, true, {}};
  const auto done = [&](rest::AsyncUpdater::UpdateOutcome outcome) { got = std::move(outcome); };
  const auto before = (**fixture.Get("one"))["spec"]["size"].AsInt();
  updater->UpdateAsync(fixture.ctx, "one", request, done);
  REQUIRE(got.result.object != nullptr);
  CHECK((*got.result.object)["spec"]["size"].AsInt() == before);
  CHECK((*got.result.object)["metadata"]["labels"]["seen"].AsString() == "yes");
  updater->UpdateAsync(fixture.ctx, "none", request, done);
  REQUIRE(got.result.object == nullptr);
  CHECK(got.rest(Context::Background()).status().reason() == Reason::kNotFound);
}
