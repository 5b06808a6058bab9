#include "authn/identity_cache.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace apiserver::inline v0::authn {

using Key = std::shared_ptr<const std::string>;

TEST_CASE("authn: the identity cache finds what was stored for the same object", "[authn]") {
  IdentityCache<std::string, int> cache(10);
  const Key key = std::make_shared<const std::string>("a");
  const Key twin = std::make_shared<const std::string>("a");

  cache.Store(key, 1);

  CHECK(cache.Find(key) == 1);
  CHECK(cache.Find(twin) == std::nullopt);
}

TEST_CASE("authn: the identity cache forgets an object whose address is used again", "[authn]") {
  IdentityCache<std::string, int> cache(10);
  const std::string storage = "x";
  const auto borrowed = [&] { return Key(&storage, [](const std::string*) {}); };
  cache.Store(borrowed(), 1);  // Its owner is gone at once.

  CHECK(cache.Find(borrowed()) == std::nullopt);
}

TEST_CASE("authn: the identity cache stays within its limit", "[authn]") {
  IdentityCache<std::string, int> cache(100);
  std::vector<Key> keys;
  for (int i = 0; i < 250; ++i) {
    keys.push_back(std::make_shared<const std::string>());
    cache.Store(keys.back(), i);
  }

  const auto found = std::count_if(keys.begin(), keys.end(),
                                   [&](const Key& key) { return cache.Find(key).has_value(); });

  CHECK(found <= 100);
  CHECK(cache.Find(keys.back()) == 249);
}

TEST_CASE("authn: the identity cache drops the dead before it drops the living", "[authn]") {
  IdentityCache<std::string, int> cache(100);
  const Key alive = std::make_shared<const std::string>();
  cache.Store(alive, 7);

  for (int i = 0; i < 1000; ++i) cache.Store(std::make_shared<const std::string>(), i);

  CHECK(cache.Find(alive) == 7);
}

}  // namespace apiserver::inline v0::authn
