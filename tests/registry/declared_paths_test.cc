// The paths that a kind declares, before its store is made.
#include <string>
#include <vector>

#include "apiserver/registry/polling_store.h"
#include "apiserver/registry/source_store.h"
#include "registry/fixture.h"

using namespace apiserver;  // NOLINT: a test.

namespace {

struct DeclaringStrategy final : rest::Strategy {
  bool NamespaceScoped() const override { return true; }
  field::ErrorList Validate(const Context&, const runtime::Object&) const override { return {}; }
};

struct NoColumns final : rest::TableConvertor {
  Result<meta::Table> ConvertToTable(const Context&, const std::vector<runtime::ObjectPtr>&,
                                     const meta::TableOptions&) const override {
    return meta::Table();
  }
};

struct NoSource final : registry::Source {
  Result<Objects> List(const Context&) override { return Objects(); }
  Result<std::unique_ptr<runtime::Object>> Get(const Context&, std::string_view,
                                               std::string_view) override {
    return Status(Reason::kNotFound, "");
  }
};

// A thing with a list of conditions, labels, and a field of any shape.
runtime::KindPtr Thing(const std::string& column, std::vector<std::string> selectable = {}) {
  const auto condition = runtime::StructBuilder("")
                             .Field("type", runtime::StringSchema())
                             .Field("status", runtime::StringSchema())
                             .Build();
  const auto status = runtime::StructBuilder("")
                          .Field("conditions", runtime::ListOf(condition))
                          .Field("size", runtime::IntegerSchema(32))
                          .Field("raw", runtime::AnySchema())
                          .Build();
  const auto schema = runtime::StructBuilder("")
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("status", status)
                          .Build();
  return runtime::Kind::New({.group = "example.com",
                             .kind = "Thing",
                             .plural = "things",
                             .versions = {{.version = "v1",
                                           .schema = schema,
                                           .columns = {{"Column", "string", column}}}},
                             .selectable_fields = std::move(selectable)})
      .value();
}

struct PathStores {
  ~PathStores() { pool->Stop(); }
  std::unique_ptr<ThreadPool> pool = NewThreadPool({"paths", 1});
  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();

  std::string Refusal(registry::StoreOptions options) const {
    options.strategy = std::make_shared<DeclaringStrategy>();
    const auto store =
        registry::NewStore({.engine = engine.get(), .executor = pool.get()}, std::move(options));
    if (store.ok()) (*store)->Destroy();
    return std::string(store.status().message());
  }
};

}  // namespace

TEST_CASE("registry: columns that the schema has are taken", "[registry]") {
  const PathStores stores;
  for (const char* path :
       {".status.size", "{.status.size}", ".status.conditions[0].status",
        ".status.conditions[*].type", R"(.status.conditions[?(@.type=="Ready")].status)",
        ".metadata.labels.any", R"(.metadata.labels['a\.b/c'])", ".status.raw.what[3].ever",
        ".metadata.creationTimestamp"}) {
    INFO(path);
    CHECK(stores.Refusal({.kind = Thing(path)}).empty());
  }
}

TEST_CASE("registry: a column that would always be empty is refused", "[registry]") {
  const PathStores stores;
  const auto refusal = [&](const char* path) { return stores.Refusal({.kind = Thing(path)}); };
  const std::string front = R"(kind "Thing": v1: column "Column": )";
  CHECK(refusal(".status.sise") == front + R"(.status.sise: there is no field "sise" (there are )"
                                           "conditions, size, raw)");
  CHECK(refusal(".status.conditions.type") ==
        front + ".status.conditions.type: a value of type array has no members");
  CHECK(refusal(".status.size[0]") ==
        front + ".status.size[0]: a value of type integer has no items");
  CHECK(refusal(R"(.status.conditions[?(@.tpye=="Ready")].status)") ==
        front + R"(.status.conditions[?].tpye: there is no field "tpye" (there are type, status))");
  CHECK(refusal("status.size") == front + "not a JSONPath of the kind columns have");
  // The store does not read it if the host makes the columns itself.
  CHECK(stores
            .Refusal(
                {.kind = Thing(".status.sise"), .table_convertor = std::make_shared<NoColumns>()})
            .empty());
}

TEST_CASE("registry: a selectable field that no object has is refused", "[registry]") {
  const PathStores stores;
  CHECK(stores.Refusal({.kind = Thing(".status.size", {"status.size"})}).empty());
  CHECK(stores.Refusal({.kind = Thing(".status.size", {"status.size", "spec.nodeName"})}) ==
        R"(kind "Thing": v1: selectable field: spec.nodeName: there is no field "spec")"
        " (there are metadata, status)");
  registry::StoreOptions own{.kind = Thing(".status.size", {"spec.host"})};
  own.field_value = [](const runtime::Object&, std::string_view) { return std::string(); };
  CHECK(stores.Refusal(std::move(own)).empty());
}

TEST_CASE("registry: polling and source stores refuse the same", "[registry]") {
  const PathStores stores;
  registry::PollingOptions polling;
  polling.kind = Thing(".status.sise");
  polling.executor = stores.pool.get();
  polling.poll = [](const Context&) -> Result<registry::PollingOptions::Objects> {
    return registry::PollingOptions::Objects();
  };
  const auto polled = registry::NewPollingStore(std::move(polling));
  CHECK(polled.status().message().find("there is no field \"sise\"") != std::string_view::npos);

  registry::SourceOptions source;
  source.store.kind = Thing(".status.sise");
  source.store.strategy = std::make_shared<DeclaringStrategy>();
  const auto made = registry::NewSourceStore({.executor = stores.pool.get()}, std::move(source),
                                             std::make_unique<NoSource>());
  CHECK(made.status().message().find("there is no field \"sise\"") != std::string_view::npos);
}
