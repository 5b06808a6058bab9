#include <map>
#include <vector>

#include "apiserver/base/random.h"
#include "storage/backends.h"

// Random writes from several threads while watches come and go: what a watch tells must rebuild
// the state, without loss, without repetition, in order, from wherever it is resumed.
using namespace apiserver;  // NOLINT: a test.
using testing::Backend;

namespace {

using Model = std::map<std::string, std::string>;  // Name -> resourceVersion of the object.

void Write(Backend& backend, std::uint64_t seed, int operations) {
  const auto random = NewSeededRandom(seed);
  for (int i = 0; i < operations; ++i) {
    const std::string name = "w" + std::to_string(random->Below(12));
    switch (random->Below(3)) {
      case 0:
        (void)backend.storage->Create(backend.ctx, Backend::KeyOf(name),
                                      *testing::NewWidget(backend.kind, name), {});
        break;
      case 1:
        (void)backend.Resize(name, static_cast<int>(random->Below(1000)));
        break;
      default:
        (void)backend.Delete(name);
    }
  }
}

// Whether `event` may follow on `model`; applies it.
void Apply(Model& model, const watch::Event& event, std::int64_t& last) {
  const std::int64_t revision = std::stoll(event.resource_version);
  REQUIRE(revision > last);
  last = revision;
  const std::string name(event.object->name());
  switch (event.type) {
    case watch::EventType::kAdded:
      REQUIRE(model.count(name) == 0);
      model[name] = event.resource_version;
      break;
    case watch::EventType::kModified:
      REQUIRE(model.count(name) == 1);
      model[name] = event.resource_version;
      break;
    case watch::EventType::kDeleted:
      REQUIRE(model.count(name) == 1);
      // The last state, under the revision of its end.
      REQUIRE(event.object->resource_version() == model[name]);
      model.erase(name);
      break;
    default:
      FAIL("an event that cannot be");
  }
}

Model ModelOf(const runtime::List& list) {
  Model model;
  for (const auto& item : list.items) {
    model[std::string(item->name())] = std::string(item->resource_version());
  }
  return model;
}

}  // namespace

TEST_CASE("storage.Interface: watches rebuild the state from wherever they resume",
          "[storage][slow]") {
  FOR_EVERY_FORM();
  const auto random = NewSeededRandom(7);
  std::vector<Thread> writers;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    writers.emplace_back("writer", [&backend, seed] { Write(backend, seed, 250); });
  }
  auto list = backend.List();
  REQUIRE(list.ok());
  Model model = ModelOf(*list);
  std::int64_t last = std::stoll(list->resource_version);
  for (int resumed = 0; resumed < 10; ++resumed) {
    auto watch = backend.WatchFrom(std::to_string(last));
    const std::uint64_t count = random->Below(20);
    for (std::uint64_t i = 0; i < count; ++i) {
      for (const auto& event : watch.Ready()) Apply(model, event, last);
    }
  }
  writers.clear();  // Joins.
  list = backend.List();
  REQUIRE(list.ok());
  const std::int64_t end = *backend.engine->CurrentRevision(backend.ctx);
  std::int64_t newest = last;
  for (const auto& item : list->items) {
    newest = std::max<std::int64_t>(newest, std::stoll(std::string(item->resource_version())));
  }
  backend.Create("sentinel");
  auto watch = backend.WatchFrom(std::to_string(last));
  for (;;) {
    const auto event = watch.Next();
    REQUIRE(event);
    if (event->object->name() == "sentinel") break;
    Apply(model, *event, last);
  }
  CHECK(last >= newest);
  CHECK(last <= end);
  CHECK(model == ModelOf(*list));
}

TEST_CASE("storage.Interface: an exact list equals what a watch had told by then",
          "[storage][slow]") {
  FOR_EVERY_FORM();
  auto watch = backend.WatchFrom("1");
  Write(backend, 11, 200);
  backend.Create("sentinel");
  Model model;
  std::int64_t last = 1;
  for (;;) {
    const auto event = watch.Next();
    REQUIRE(event);
    if (event->object->name() == "sentinel") break;
    Apply(model, *event, last);
    storage::ListOptions options;
    options.resource_version = event->resource_version;
    options.match = meta::ResourceVersionMatch::kExact;
    const auto list = backend.List(options);
    REQUIRE(list.ok());
    REQUIRE(ModelOf(*list) == model);
  }
}
