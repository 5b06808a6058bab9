// The stores that let small writes begin on an event loop.
#include <functional>

#include "apiserver/rest/kind_strategy.h"
#include "apiserver/runtime/schema.h"
#include "registry/fixture.h"

namespace apiserver::inline v0::testing {
namespace {

// Makes a kind whose spec.size must not be negative, by a rule in CEL.
runtime::KindPtr KindWithRule() {
  const runtime::SchemaPtr spec =
      runtime::StructBuilder("test.RuledSpec")
          .Field("size", runtime::IntegerSchema(64))
          .Rule({.rule = "!has(self.size) || self.size >= 0", .message = "must not be negative"})
          .Build();
  runtime::KindOptions options;
  options.group = "test.example.com";
  options.kind = "Ruled";
  options.plural = "ruleds";
  runtime::KindVersion version;
  version.version = "v1";
  version.schema = runtime::StructBuilder("test.Ruled")
                       .Field("metadata", runtime::ObjectMetaSchema())
                       .Field("spec", spec)
                       .Build();
  options.versions = {version};
  return *runtime::Kind::New(std::move(options));
}

}  // namespace

TEST_CASE("registry: writes begin on a loop unless something on their way may block",
          "[registry]") {
  Fixture fixture;
  using Change = std::function<void(registry::StorageConfig&, registry::StoreOptions&)>;
  const auto writes_inline = [&](const Change& change) {
    registry::StorageConfig config = fixture.config;
    registry::StoreOptions options{.kind = fixture.kind,
                                   .strategy = rest::NewKindStrategy(fixture.kind),
                                   .functions_inline = true};
    change(config, options);
    return (*registry::NewStore(config, options))->WritesInline();
  };
  CHECK(writes_inline([](auto&, auto&) {}));

  CHECK_FALSE(writes_inline([&](auto&, auto& options) { options.strategy = fixture.strategy; }));
  CHECK_FALSE(writes_inline([](auto& config, auto&) { config.watch_cache = false; }));
  CHECK_FALSE(writes_inline(
      [](auto& config, auto&) { config.transformer_for = [](const auto&) { return nullptr; }; }));
  CHECK_FALSE(writes_inline([](auto&, auto& options) {
    options.kind = KindWithRule();
    options.strategy = rest::NewKindStrategy(options.kind);
  }));
  CHECK_FALSE(writes_inline([](auto&, auto& options) { options.after_write = [] {}; }));
  CHECK_FALSE(writes_inline(
      [](auto&, auto& options) { options.after_create = [](const runtime::Object&) {}; }));
  CHECK_FALSE(writes_inline(
      [](auto&, auto& options) { options.after_update = [](const runtime::Object&) {}; }));
  CHECK_FALSE(writes_inline([](auto&, auto& options) {
    options.stays_deleted = [](const runtime::Object&) { return false; };
  }));
  CHECK_FALSE(writes_inline([](auto&, auto& options) {
    options.ttl = [](const runtime::Object&, bool) { return std::nullopt; };
  }));
  CHECK_FALSE(writes_inline([](auto&, auto& options) {
    options.refuse_create = [](const Context&, const runtime::Object&) { return Status(); };
  }));
}

}  // namespace apiserver::inline v0::testing
