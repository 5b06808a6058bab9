#include "storage/kv/prefix_map.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/random.h"

// Which prefixes a key has.
namespace apiserver::inline v0::storage::kv {
namespace {

std::multiset<int> Found(PrefixMap<int>& map, const std::string& key) {
  std::multiset<int> found;
  map.ForPrefixesOf(key, [&found](int value) { found.insert(value); });
  return found;
}

// Of the letters a and b, up to `letters_max` of them.
std::string RandomWord(Random& random, std::size_t letters_max) {
  std::string word(random.Below(letters_max + 1), 'a');
  for (char& letter : word) letter = random.Below(2) == 0 ? 'a' : 'b';
  return word;
}

}  // namespace

TEST_CASE("storage.kv: a map of prefixes finds those of a key, whatever came and went",
          "[storage.kv]") {
  const auto random = NewSeededRandom(20261123);
  PrefixMap<int> map;
  std::vector<std::pair<std::string, int>> model;
  std::size_t found = 0;
  for (int i = 0; i < 5000; ++i) {
    // About forty at a time.
    if (model.size() < 20 || (model.size() < 60 && random->Below(2) == 0)) {
      model.emplace_back(RandomWord(*random, 6), i);
      map.Add(model.back().first, i);
    } else {
      const auto gone = model.begin() + static_cast<std::ptrdiff_t>(random->Below(model.size()));
      map.Remove(gone->first, gone->second);
      model.erase(gone);
    }
    const std::string key = RandomWord(*random, 8);
    std::multiset<int> expected;
    for (const auto& [prefix, value] : model) {
      if (key.starts_with(prefix)) expected.insert(value);
    }
    found += expected.size();
    REQUIRE(Found(map, key) == expected);
    REQUIRE(map.empty() == model.empty());
  }
  CHECK(found > 5000);
}

TEST_CASE("storage.kv: an empty map of prefixes finds nothing", "[storage.kv]") {
  PrefixMap<int> map;
  CHECK(Found(map, "").empty());
  CHECK(map.empty());
  map.Add("", 1);
  CHECK(Found(map, "") == std::multiset<int>{1});
  CHECK(Found(map, "a") == std::multiset<int>{1});
  CHECK_FALSE(map.empty());
  map.Remove("", 1);
  CHECK(map.empty());
  CHECK(Found(map, "a").empty());
}

}  // namespace apiserver::inline v0::storage::kv
