#include <map>
#include <random>

#include "storage/backends.h"

// Lists by selector and lists of the past, answered from memory.
using namespace apiserver;  // NOLINT: a test.
using storage::ListOptions;
using testing::Backend;
using testing::Form;
using testing::NamesOf;

namespace {

ListOptions Selecting(std::string_view labels) {
  ListOptions options;
  options.resource_version = "0";
  options.predicate.label = meta::LabelSelector::Parse(labels).value();
  return options;
}

ListOptions Exactly(std::string_view revision, std::string_view labels = "") {
  ListOptions options = Selecting(labels);
  options.resource_version = revision;
  options.match = meta::ResourceVersionMatch::kExact;
  return options;
}

std::string Version(const runtime::ObjectPtr& object) {
  return std::string(object->resource_version());
}

}  // namespace

TEST_CASE("storage.cacher: a selector finds what has been written since it was first asked",
          "[storage.cacher]") {
  Backend backend(Form::kObservingCacher);
  backend.Create("a", "ns", "red");
  backend.Create("b", "ns", "blue");
  CHECK(NamesOf(backend.List(Selecting("color=red"))) == "a");
  backend.Create("c", "ns", "red");
  REQUIRE(backend.Resize("a", 1, "blue").ok());
  CHECK(NamesOf(backend.List(Selecting("color=red"))) == "c");
  CHECK(NamesOf(backend.List(Selecting("color=blue"))) == "a b");
  REQUIRE(backend.Delete("b").ok());
  CHECK(NamesOf(backend.List(Selecting("color=blue"))) == "a");
  CHECK(NamesOf(backend.List(Selecting("color in (blue,red)"))) == "a c");
  CHECK(NamesOf(backend.List(Selecting("color=green"))) == "");
  CHECK(NamesOf(backend.List(Selecting("color!=red"))) == "a");
}

TEST_CASE("storage.cacher: a selective list of many does not look into the others",
          "[storage.cacher]") {
  Backend backend(Form::kObservingCacher);
  for (int i = 0; i < 3000; ++i) backend.Create("o" + std::to_string(i), "ns", "red");
  backend.Create("rare", "ns", "blue");
  const Context loop = backend.ctx.WithMayBlock(false);
  // Too much for a loop as long as there is no index.
  CHECK(backend.storage->GetList(loop, "/", Selecting("color=blue")).status().reason() ==
        Reason::kWouldBlock);
  REQUIRE(backend.List(Selecting("color=blue")).ok());
  const auto list = backend.storage->GetList(loop, "/", Selecting("color=blue"));
  REQUIRE(list.ok());
  REQUIRE(list->items.size() == 1);
  // Not even the one that was found has been parsed.
  CHECK(!list->items[0]->loaded());
  CHECK(NamesOf(list) == "rare");
}

TEST_CASE("storage.cacher: fields are found by value too", "[storage.cacher]") {
  Backend backend(Form::kObservingCacher);
  backend.Create("a", "ns", "red");
  backend.Create("b", "ns", "blue");
  ListOptions options;
  options.predicate.field = meta::FieldSelector::Parse("spec.color=blue").value();
  options.predicate.field_value = [](const runtime::Object& object, std::string_view) {
    return std::string(object["spec"]["color"].AsString());
  };
  CHECK(NamesOf(backend.List(options)) == "b");
  REQUIRE(backend.Resize("a", 1, "blue").ok());
  CHECK(NamesOf(backend.List(options)) == "a b");
}

TEST_CASE("storage.cacher: pages of a selective list stay at their revision", "[storage.cacher]") {
  Backend backend(Form::kObservingCacher);
  for (const char* name : {"a", "b", "c", "d"}) backend.Create(name, "ns", "red");
  ListOptions options = Selecting("color=red");
  options.resource_version.clear();
  options.limit = 2;
  const auto first = backend.List(options);
  CHECK(NamesOf(first) == "a b");
  REQUIRE(backend.Resize("c", 1, "blue").ok());
  REQUIRE(backend.Delete("d").ok());
  backend.Create("e", "ns", "red");
  options.continue_token = first->continue_token;
  const auto second = backend.List(options);
  CHECK(NamesOf(second) == "c d");
  CHECK(second->resource_version == first->resource_version);
}

TEST_CASE("storage.cacher: the past is answered from memory", "[storage.cacher]") {
  Backend backend(Form::kFollowingCacher);
  REQUIRE(backend.List().ok());  // The cache is ready.
  const auto a = backend.Create("a", "ns", "red");
  const auto b = backend.Create("b", "ns", "red");
  const auto changed = *backend.Resize("a", 1, "blue");
  REQUIRE(backend.Delete("b").ok());
  REQUIRE(backend.List().ok());  // The cache has seen all of it.
  // The engine would have to be waited for.
  const Context loop = backend.ctx.WithMayBlock(false);
  const auto names = [&](const runtime::ObjectPtr& at, std::string_view labels) {
    return NamesOf(backend.storage->GetList(loop, "/", Exactly(Version(at), labels)));
  };
  CHECK(names(a, "") == "a");
  CHECK(names(b, "") == "a b");
  CHECK(names(b, "color=red") == "a b");
  CHECK(names(changed, "color=red") == "b");
  CHECK(names(changed, "color=blue") == "a");
}

TEST_CASE("storage.cacher: what the cache has forgotten is read from the engine",
          "[storage.cacher]") {
  Backend backend(Form::kObservingCacher, /*history_max=*/1000);
  const auto first = backend.Create("a");
  for (int i = 0; i < 3000; ++i) REQUIRE(backend.Resize("a", i + 1).ok());
  const auto list = backend.List(Exactly(Version(first)));
  REQUIRE(NamesOf(list) == "a");
  CHECK(list->items[0]->resource_version() == Version(first));
}

TEST_CASE("storage.cacher: history is given up when its share of memory is used up",
          "[storage.cacher]") {
  const auto memory =
      std::make_shared<MemoryBudget>(MemoryBudget::Limits{.history_bytes_max = 2'000'000});
  {
    const auto pool = NewThreadPool({"cacher", 1});
    const auto engine = storage::memory::NewEngine();
    storage::cacher::Options options;
    options.store.engine = engine.get();
    options.store.kind = testing::NewWidgetKind();
    options.store.prefix = "/p";
    options.executor = pool.get();
    options.memory = memory;
    const auto cacher = storage::cacher::New(options);
    const Context ctx = Context::Background();
    auto object = testing::NewWidget(options.store.kind, "a", "ns");
    REQUIRE(cacher->Create(ctx, "/ns/a", *object, {}).ok());
    for (int i = 0; i < 5000; ++i) {
      REQUIRE(cacher
                  ->GuaranteedUpdate(ctx, "/ns/a", {},
                                     [i](const runtime::ObjectPtr& current) {
                                       storage::Update update;
                                       update.object = current->Clone();
                                       update.object->Edit("spec", "size") = i + 1;
                                       return Result<storage::Update>(std::move(update));
                                     })
                  .ok());
    }
    CHECK(memory->history.used() > 500'000);
    CHECK(memory->history.used() < 2'200'000);
    cacher->Stop();
    pool->Stop();
  }
  CHECK(memory->history.used() == 0);
}

// Any selector at any revision gives what looking at every object of that revision gives.
TEST_CASE("storage.cacher: indexes agree with looking at every object", "[storage.cacher]") {
  Backend backend(Form::kObservingCacher);
  std::mt19937 random(4711);  // NOLINT: the same every time.
  const char* colors[] = {"red", "blue", "green", ""};
  std::map<std::string, std::string> state;                      // Name -> color.
  std::map<std::string, std::map<std::string, std::string>> at;  // Revision -> state.
  std::vector<std::string> revisions;
  for (int step = 0; step < 400; ++step) {
    const std::string name = "o" + std::to_string(random() % 20);
    const std::string color = colors[random() % 4];
    runtime::ObjectPtr changed;
    if (!state.contains(name)) {
      changed = backend.Create(name, "ns", color);
      state[name] = color;
    } else if (random() % 3 == 0) {
      changed = *backend.Delete(name);
      state.erase(name);
    } else {
      changed = *backend.Resize(name, step + 1, color);
      if (!color.empty()) state[name] = color;
    }
    revisions.push_back(Version(changed));
    at[revisions.back()] = state;
    const std::string wanted = colors[random() % 3];
    const bool past = random() % 2 == 0;
    const std::string& revision = past ? revisions[random() % revisions.size()] : revisions.back();
    std::string names;
    for (const auto& [key, value] : at[revision]) {
      if (value == wanted) names += (names.empty() ? "" : " ") + key;
    }
    INFO(step << " " << wanted << " at " << revision);
    const auto list =
        backend.List(past ? Exactly(revision, "color=" + wanted) : Selecting("color=" + wanted));
    CHECK(NamesOf(list) == names);
  }
}
