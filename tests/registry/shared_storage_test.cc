// Several stores over one storage: each version of a custom resource has rules of its own.
#include <catch2/catch.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/meta/errors.h"
#include "apiserver/registry/store.h"
#include "apiserver/rest/kind_strategy.h"
#include "apiserver/rest/update.h"
#include "apiserver/storage/memory/engine.h"

namespace apiserver::inline v0::registry {
namespace {

// v1 has a color and a size, and is stored; v2 has no color, and its size has a floor.
constexpr std::string_view kPaints = R"({
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "paints.example.com"},
  "spec": {
    "group": "example.com", "scope": "Namespaced",
    "names": {"plural": "paints", "singular": "paint", "kind": "Paint", "listKind": "PaintList"},
    "versions": [
      {"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
        "type": "object", "properties": {"spec": {"type": "object", "properties": {
          "color": {"type": "string", "default": "red"}, "size": {"type": "integer"}}}}}}},
      {"name": "v2", "served": true, "storage": false, "schema": {"openAPIV3Schema": {
        "type": "object", "properties": {"spec": {"type": "object", "properties": {
          "size": {"type": "integer", "minimum": 3}}}}}}}]}})";

// `hub`: the version that rules work in. Objects are stored in v1 in any case.
runtime::KindPtr PaintKind(std::string_view hub = "v1") {
  runtime::Arena arena;
  runtime::SchemaPool pool;
  auto options =
      codec::KindOptionsFromCrd(codec::ParseJson(arena.Copy(kPaints), arena).value(), pool);
  options->hub_version = hub;
  options->selectable_fields = {"spec.size"};
  return runtime::Kind::New(std::move(*options)).value();
}

std::string JsonOf(const runtime::Value& value) {
  std::string json;
  codec::AppendJson(value, json);
  return json;
}

// The stores of both versions over one storage.
class Paints {
 public:
  explicit Paints(bool watch_cache = true) {
    config.engine = engine.get();
    config.executor = pool.get();
    config.watch_cache = watch_cache;
    ctx.Set(rest::Namespace{"ns"});
    storage = OpenStorage(config, kind).value();
    for (const std::string version : {"v1", "v2"}) {
      StoreOptions options = options_of(version);
      stores[version] = NewStoreOver(storage, config, std::move(options)).value();
    }
  }
  ~Paints() {
    stores.clear();
    storage.reset();
    pool->Stop();
  }

  StoreOptions options_of(std::string_view version) const {
    const runtime::KindPtr seen = PaintKind(version);
    return {.kind = seen, .strategy = rest::NewKindStrategy(seen)};
  }
  std::unique_ptr<runtime::Object> New(std::string_view version, std::string_view spec) const {
    auto object = stores.at(std::string(version))->New();
    object->Edit("metadata", "name") = "one";
    object->Edit("metadata", "namespace") = "ns";
    object->Edit("spec") = codec::ParseJson(object->arena().Copy(spec), object->arena()).value();
    return object;
  }
  Result<runtime::ObjectPtr> Create(const std::string& version, std::string_view spec) {
    return stores.at(version)->Create(ctx, New(version, spec), nullptr, {});
  }
  Result<rest::UpdateResult> Put(const std::string& version, std::string_view spec) {
    auto object = New(version, spec);
    object->Edit("metadata", "resourceVersion") =
        stores.at(version)->Get(ctx, "one", {}).value()->resource_version();
    const auto info = rest::DefaultUpdatedObjectInfo(std::move(object));
    return stores.at(version)->Update(ctx, "one", {*info, nullptr, nullptr, false, {}});
  }

  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::unique_ptr<ThreadPool> pool = NewThreadPool({.threads = 1});
  runtime::KindPtr kind = PaintKind();
  StorageConfig config;
  Context ctx = Context::Child(Context::Background());
  std::shared_ptr<storage::Interface> storage;
  std::map<std::string, std::shared_ptr<Store>> stores;
};

TEST_CASE("registry: an object of one version is read by the store of another", "[registry]") {
  const bool watch_cache = GENERATE(true, false);
  Paints paints(watch_cache);
  const auto created = paints.Create("v2", R"({"size":4})");
  INFO(created.status().ToString());
  REQUIRE(created.ok());
  // It is stored in the storage version, whichever version it came in.
  CHECK((*created)->version() == "v1");
  CHECK((*created)->generation() == 1);
  const auto read = paints.stores["v1"]->Get(paints.ctx, "one", {});
  REQUIRE(read.ok());
  // The default of the stored version is filled in when it is read, as upstream.
  CHECK(JsonOf((**read)["spec"]) == R"({"color":"red","size":4})");
  CHECK(JsonOf((*paints.stores["v2"]->List(paints.ctx, {})).items.at(0)->root()["spec"]["size"]) ==
        "4");
}

TEST_CASE("registry: each version of a shared storage has its own rules", "[registry]") {
  Paints paints;
  REQUIRE(paints.Create("v1", R"({"color":"blue","size":2})").ok());
  // Valid in v1, but not in v2.
  const auto small = paints.Put("v2", R"({"size":1})");
  REQUIRE_FALSE(small.ok());
  CHECK(small.status().reason() == Reason::kInvalid);
  CHECK(paints.Put("v1", R"({"color":"blue","size":1})").ok());

  // What v2 does not know is lost by a write in v2.
  const auto put = paints.Put("v2", R"({"size":5})");
  INFO(put.status().ToString());
  REQUIRE(put.ok());
  CHECK(put->object->generation() == 3);
  const auto stored = paints.stores["v1"]->Get(paints.ctx, "one", {});
  CHECK(JsonOf((**stored)["spec"]) == R"({"color":"red","size":5})");
}

TEST_CASE("registry: an update in one version sees the old object in that version", "[registry]") {
  Paints paints;
  REQUIRE(paints.Create("v1", R"({"color":"blue","size":7})").ok());
  // The same in v2's eyes: no new generation, although the color is not sent.
  const auto put = paints.Put("v2", R"({"size":7})");
  REQUIRE(put.ok());
  CHECK(put->object->generation() == 1);
}

TEST_CASE("registry: a store over a shared storage leaves it open", "[registry]") {
  Paints paints;
  REQUIRE(paints.Create("v1", R"({"size":7})").ok());
  paints.stores["v1"]->Destroy();
  paints.stores.erase("v1");
  CHECK(paints.stores["v2"]->Get(paints.ctx, "one", {}).ok());
  CHECK(paints.storage->Ready().ok());
}

TEST_CASE("registry: watches of several versions follow one storage", "[registry]") {
  Paints paints;
  auto first = paints.stores["v1"]->Watch(paints.ctx, {}, Clock::Monotonic::max());
  auto second = paints.stores["v2"]->Watch(paints.ctx, {}, Clock::Monotonic::max());
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  REQUIRE(paints.Create("v2", R"({"size":4})").ok());
  for (auto* const stream : {&*first, &*second}) {
    std::vector<watch::Event> events;
    (*stream)->Next(events, 10, Waker());
    REQUIRE(events.size() == 1);
    CHECK(events[0].type == watch::EventType::kAdded);
    CHECK(events[0].object->name() == "one");
  }
}

TEST_CASE("registry: a store without storage, kind or strategy is refused", "[registry]") {
  Paints paints;
  CHECK(NewStoreOver(nullptr, paints.config, paints.options_of("v1")).status().message() ==
        "registry store: storage is required");
  CHECK(NewStoreOver(paints.storage, paints.config, {}).status().message() ==
        "registry store: kind is required");
  CHECK(NewStoreOver(paints.storage, paints.config, {.kind = paints.kind}).status().message() ==
        "registry store: strategy is required");
  CHECK(OpenStorage(paints.config, nullptr).status().message() ==
        "registry store: kind is required");
  CHECK(OpenStorage({}, paints.kind).status().message() == "registry store: engine is required");
}

TEST_CASE("registry: a host refuses creates, also those of updates", "[registry]") {
  Paints paints;
  StoreOptions options = paints.options_of("v1");
  options.strategy = rest::NewKindStrategy(options.kind, {.allow_create_on_update = true});
  options.refuse_create = [](const Context&, const runtime::Object& object) -> Status {
    return meta::NewForbidden({"example.com", "paints"}, object.name(), "not now");
  };
  paints.stores["v1"] = NewStoreOver(paints.storage, paints.config, std::move(options)).value();
  const std::string_view refused = "paints.example.com \"one\" is forbidden: not now";
  CHECK(paints.Create("v1", "{}").status().message() == refused);
  const auto info = rest::DefaultUpdatedObjectInfo(paints.New("v1", "{}"));
  const auto put =
      paints.stores["v1"]->Update(paints.ctx, "one", {*info, nullptr, nullptr, false, {}});
  CHECK(put.status().message() == refused);
  // What exists is updated.
  REQUIRE(paints.Create("v2", R"({"size":4})").ok());
  CHECK(paints.Put("v1", R"({"size":1})").ok());
}

TEST_CASE("registry: a host marks what is to be deleted", "[registry]") {
  Paints paints;
  int marked = 0;
  StoreOptions options = paints.options_of("v1");
  options.mark_deleted = [&marked](runtime::Object& object, const meta::DeleteOptions&) {
    ++marked;
    runtime::ListBuilder finalizers(object.arena());
    finalizers.Add(runtime::Value::String("example.com/cleanup"));
    object.Edit("metadata", "finalizers") = finalizers.Build();
    object.Edit("spec", "color") = "grey";
  };
  paints.stores["v1"] = NewStoreOver(paints.storage, paints.config, std::move(options)).value();
  Store& store = *paints.stores["v1"];
  REQUIRE(paints.Create("v1", R"({"size":7})").ok());

  const auto first = store.Delete(paints.ctx, "one", nullptr, {});
  INFO(first.status().ToString());
  REQUIRE(first.ok());
  CHECK_FALSE(first->deleted_immediately);
  REQUIRE(first->object != nullptr);
  CHECK(first->object->deleting());
  // The generation is left to the host, unlike that of an object which Kubernetes marks.
  CHECK(first->object->generation() == 1);
  CHECK(JsonOf((*first->object)["spec"]["color"]) == R"("grey")");
  // Only the first delete marks it.
  REQUIRE(store.Delete(paints.ctx, "one", nullptr, {}).ok());
  CHECK(marked == 1);

  // It goes with its last finalizer.
  auto object = store.Get(paints.ctx, "one", {}).value()->Clone();
  object->Erase("metadata", "finalizers");
  const auto info = rest::DefaultUpdatedObjectInfo(std::move(object));
  REQUIRE(store.Update(paints.ctx, "one", {*info, nullptr, nullptr, false, {}}).ok());
  CHECK(store.Get(paints.ctx, "one", {}).status().reason() == Reason::kNotFound);
}

TEST_CASE("registry: a host keeps what is deleted until nothing holds it", "[registry]") {
  Paints paints;
  StoreOptions options = paints.options_of("v1");
  options.delete_collection = false;
  options.mark_deleted = [](runtime::Object&, const meta::DeleteOptions&) {};
  options.stays_deleted = [](const runtime::Object& object) {
    return JsonOf(object["spec"]["color"]) == R"("wet")";
  };
  paints.stores["v1"] = NewStoreOver(paints.storage, paints.config, std::move(options)).value();
  Store& store = *paints.stores["v1"];
  CHECK(rest::Capabilities::Of(store).collection_deleter == nullptr);
  REQUIRE(paints.Create("v1", R"({"size":7})").ok());
  const auto paint = [&](const char* color) {
    auto object = store.Get(paints.ctx, "one", {}).value()->Clone();
    object->Edit("spec", "color") = color;
    const auto info = rest::DefaultUpdatedObjectInfo(std::move(object));
    return store.Update(paints.ctx, "one", {*info, nullptr, nullptr, false, {}}).ok();
  };
  REQUIRE(paint("wet"));
  // It stays, however often it is deleted.
  for (int i = 0; i < 2; ++i) {
    REQUIRE(store.Delete(paints.ctx, "one", nullptr, {}).ok());
    CHECK(store.Get(paints.ctx, "one", {}).value()->deleting());
  }
  SECTION("an update lets it go") {
    REQUIRE(paint("dry"));
    CHECK(store.Get(paints.ctx, "one", {}).status().reason() == Reason::kNotFound);
  }
  SECTION("preconditions hold all the same") {
    const meta::DeleteOptions other{.preconditions = {.uid = "other"}};
    const std::string uid(store.Get(paints.ctx, "one", {}).value()->uid());
    CHECK(
        store.Delete(paints.ctx, "one", nullptr, other).status().message() ==
        "Operation cannot be fulfilled on paints.example.com \"one\": Precondition failed: UID in "
        "precondition: other, UID in object meta: " +
            uid);
  }
}

TEST_CASE("registry: the first delete of what nothing holds only marks it", "[registry]") {
  Paints paints;
  StoreOptions options = paints.options_of("v1");
  options.mark_deleted = [](runtime::Object&, const meta::DeleteOptions&) {};
  options.stays_deleted = [](const runtime::Object&) { return false; };
  paints.stores["v1"] = NewStoreOver(paints.storage, paints.config, std::move(options)).value();
  Store& store = *paints.stores["v1"];
  REQUIRE(paints.Create("v1", R"({"size":7})").ok());
  REQUIRE(store.Delete(paints.ctx, "one", nullptr, {}).ok());
  CHECK(store.Get(paints.ctx, "one", {}).value()->deleting());
  REQUIRE(store.Delete(paints.ctx, "one", nullptr, {}).ok());
  CHECK(store.Get(paints.ctx, "one", {}).status().reason() == Reason::kNotFound);
}

TEST_CASE("registry: a deleted collection is marked by the host, too", "[registry]") {
  Paints paints;
  StoreOptions options = paints.options_of("v1");
  options.mark_deleted = [](runtime::Object& object, const meta::DeleteOptions&) {
    runtime::ListBuilder finalizers(object.arena());
    finalizers.Add(runtime::Value::String("example.com/cleanup"));
    object.Edit("metadata", "finalizers") = finalizers.Build();
  };
  paints.stores["v1"] = NewStoreOver(paints.storage, paints.config, std::move(options)).value();
  REQUIRE(paints.Create("v1", R"({"size":7})").ok());
  REQUIRE(paints.stores["v1"]->DeleteCollection(paints.ctx, nullptr, {}, {}).ok());
  CHECK(paints.stores["v1"]->Get(paints.ctx, "one", {}).value()->deleting());
}

}  // namespace
}  // namespace apiserver::inline v0::registry
