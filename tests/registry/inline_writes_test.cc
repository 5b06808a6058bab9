// The stores that let small writes begin on an event loop.
#include <functional>

#include "apiserver/rest/kind_strategy.h"
#include "registry/fixture.h"

namespace apiserver::inline v0::testing {

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
  CHECK_FALSE(writes_inline([](auto&, auto& options) { options.after_write = [] {}; }));
  CHECK_FALSE(writes_inline(
      [](auto&, auto& options) { options.after_update = [](const runtime::Object&) {}; }));
  CHECK_FALSE(writes_inline([](auto&, auto& options) {
    options.ttl = [](const runtime::Object&, bool) { return std::nullopt; };
  }));
  CHECK_FALSE(writes_inline([](auto&, auto& options) {
    options.refuse_create = [](const Context&, const runtime::Object&) { return Status(); };
  }));
}

}  // namespace apiserver::inline v0::testing
