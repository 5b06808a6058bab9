#include "apiserver/storage/store/rewriter.h"

#include "apiserver/storage/value/transformer.h"
#include "registry/fixture.h"

// Stores whose values are made anew with the present key.
namespace apiserver::inline v0 {
namespace {

using storage::store::RewriteCounts;
using testing::Fixture;
namespace value = storage::value;

// Reads what is plain, and writes with a key.
value::TransformerPtr Encrypting() {
  return value::NewPrefixTransformers(
      "none", {{"k8s:enc:secretbox:v1:k:", *value::NewSecretbox(std::string(32, 'k'))},
               {"", value::NewIdentity()}});
}

// The number of values under `prefix` that are encrypted.
std::size_t Encrypted(Fixture& fixture, const std::string& prefix) {
  const auto all =
      fixture.engine->Range(fixture.ctx, {.key = prefix, .end = storage::kv::PrefixEnd(prefix)});
  REQUIRE(all.ok());
  std::size_t encrypted = 0;
  for (const auto& kv : all->kvs) {
    if (kv.value->starts_with("k8s:enc:secretbox:v1:k:")) ++encrypted;
  }
  return encrypted;
}

TEST_CASE("registry: a store lets the rewriter look at its values until it ends", "[registry]") {
  const bool watch_cache = GENERATE(true, false);
  Fixture plain(watch_cache);
  plain.config.resource_prefix = [](const runtime::GroupResource&) { return "widgets/specs"; };
  plain.Create("one");
  plain.Create("two");
  plain.store->Destroy();

  Fixture fixture(watch_cache);
  fixture.config = plain.config;
  fixture.config.executor = fixture.pool.get();
  fixture.config.transformer_for = [](const runtime::GroupResource&) { return Encrypting(); };
  fixture.config.rewriter = storage::store::NewRewriter({});
  RewriteCounts counts;
  (void)fixture.Store();
  REQUIRE(fixture.config.rewriter->Run(fixture.ctx, counts).ok());

  CHECK(counts == RewriteCounts{.looked_at = 4, .rewritten = 2});
  CHECK(Encrypted(plain, "/registry/widgets/specs/") == 2);
  CHECK(fixture.Get("one").ok());
  fixture.store->Destroy();
  REQUIRE(fixture.config.rewriter->Run(fixture.ctx, counts).ok());
  CHECK(counts == RewriteCounts{});
  fixture.store.reset();
}

TEST_CASE("registry: the rewriter looks once at a storage of several stores", "[registry]") {
  Fixture fixture;
  fixture.config.rewriter = storage::store::NewRewriter({});
  auto storage = registry::OpenStorage(fixture.config, fixture.kind).value();
  fixture.options.kind = fixture.kind;
  fixture.options.strategy = fixture.strategy;
  fixture.store = registry::NewStoreOver(storage, fixture.config, fixture.options).value();
  fixture.Create("one");
  RewriteCounts counts;

  REQUIRE(fixture.config.rewriter->Run(fixture.ctx, counts).ok());
  CHECK(counts == RewriteCounts{.looked_at = 1});
  fixture.store.reset();
  storage.reset();
  REQUIRE(fixture.config.rewriter->Run(fixture.ctx, counts).ok());
  CHECK(counts == RewriteCounts{});
}

}  // namespace
}  // namespace apiserver::inline v0
