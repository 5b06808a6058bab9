// The cells of rows, which are kept with the objects.
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/memory_budget.h"
#include "apiserver/codec/json.h"
#include "registry/fixture.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Fixture;

namespace {

constexpr auto kCells = runtime::Format::kCells;

// Time that stands until it is moved.
class StandingClock final : public Clock {
 public:
  Monotonic Now() const override { return RealClock().Now(); }
  Wall WallNow() const override { return Wall(std::chrono::seconds(1'700'000'000) + moved); }

  std::chrono::seconds moved{0};
};

runtime::KindPtr KindWithColumns() {
  const auto spec = runtime::StructBuilder("com.example.v1.ThingSpec")
                        .Field("color", runtime::StringSchema())
                        .Field("size", runtime::IntegerSchema(32))
                        .Build();
  const auto schema = runtime::StructBuilder("com.example.v1.Thing")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("spec", spec)
                          .Build();
  return runtime::Kind::New(
             {.group = "example.com",
              .kind = "Thing",
              .plural = "things",
              .versions = {{.version = "v1",
                            .schema = schema,
                            .columns = {{"Color", "string", ".spec.color"},
                                        {"Size", "integer", ".spec.size"},
                                        {"Age", "date", ".metadata.creationTimestamp"}}}}})
      .value();
}

struct ThingStrategy final : rest::Strategy {
  bool NamespaceScoped() const override { return false; }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }
};

// A store of things, and one thing in it that is bytes alone.
struct Things {
  explicit Things(std::shared_ptr<MemoryBudget> memory)
      : store(registry::NewStore({.engine = engine.get(),
                                  .executor = pool.get(),
                                  .clock = &clock,
                                  .memory = std::move(memory)},
                                 {.kind = kind, .strategy = std::make_shared<ThingStrategy>()})
                  .value()) {
    auto thing = std::make_unique<runtime::Object>(kind, "v1");
    thing->Edit("metadata", "name") = "a";
    thing->Edit("spec", "color") = "red";
    thing->Edit("spec", "size") = 3;
    REQUIRE(store->Create(ctx, std::move(thing), nullptr, {}).ok());
    item = store->List(ctx, {}).value().items.at(0);
  }
  ~Things() {
    store.reset();
    pool->Stop();
  }

  // As JSON, a comma between them.
  std::string Cells() const {
    const auto table = store->ConvertToTable(ctx, {item}, {}).value();
    std::string cells;
    for (const runtime::Value& cell : table.rows.at(0).cells) {
      if (!cells.empty()) cells += ",";
      codec::AppendJson(cell, cells);
    }
    CHECK(table.rows.at(0).object == item);
    return cells;
  }

  StandingClock clock;
  const runtime::KindPtr kind = KindWithColumns();
  const std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  const std::unique_ptr<ThreadPool> pool = NewThreadPool({.name = "cells", .threads = 2});
  const Context ctx = Context::Child(Context::Background());
  std::shared_ptr<registry::Store> store;
  runtime::ObjectPtr item;
};

}  // namespace

TEST_CASE("registry: the cells of a row are kept, and the object stays bytes", "[registry]") {
  Things things(std::make_shared<MemoryBudget>());
  REQUIRE_FALSE(things.item->loaded());
  CHECK(things.Cells() == R"("a","red",3,"0s")");
  CHECK(things.item->FindEncoding("v1", kCells) != nullptr);
  CHECK(things.Cells() == R"("a","red",3,"0s")");
  CHECK_FALSE(things.item->loaded());
}

TEST_CASE("registry: ages are those of the moment, also in kept cells", "[registry]") {
  Things things(std::make_shared<MemoryBudget>());
  CHECK(things.Cells() == R"("a","red",3,"0s")");
  things.clock.moved = std::chrono::minutes(5);
  CHECK(things.Cells() == R"("a","red",3,"5m")");
}

TEST_CASE("registry: cells are kept only where memory counts them, and as long as there is room",
          "[registry]") {
  Things uncounted(nullptr);
  CHECK(uncounted.Cells() == R"("a","red",3,"0s")");
  CHECK(uncounted.item->FindEncoding("v1", kCells) == nullptr);
  CHECK_FALSE(uncounted.item->loaded());

  Things crowded(std::make_shared<MemoryBudget>(MemoryBudget::Limits{.encodings_bytes_max = 1}));
  CHECK(crowded.Cells() == R"("a","red",3,"0s")");
  CHECK(crowded.item->FindEncoding("v1", kCells) == nullptr);
  CHECK(crowded.Cells() == R"("a","red",3,"0s")");
}
