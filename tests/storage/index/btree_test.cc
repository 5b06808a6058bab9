#include "storage/index/btree.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/random.h"
#include "apiserver/base/sync.h"
#include "storage/index/ref.h"

namespace apiserver::inline v0::storage::index {
namespace {

struct Entry : RefCounted {
  Entry(std::string k, int v) : key(std::move(k)), value(v) {}
  std::string key;
  int value;
};
struct EntryKey {
  std::string_view operator()(const Ref<const Entry>& entry) const { return entry->key; }
};
using Tree = BTree<Ref<const Entry>, EntryKey>;
using Model = std::map<std::string, int>;

Ref<const Entry> New(std::string key, int value) {
  return MakeRef<const Entry>(std::move(key), value);
}

Model Contents(const Tree& tree) {
  Model model;
  for (auto it = tree.Begin(); it.Valid(); it.Next()) {
    model[it.value()->key] = it.value()->value;
  }
  return model;
}

std::string RandomKey(Random& random, std::uint64_t keys) {
  return "/registry/" + std::to_string(random.Below(keys));
}

// One random change of both.
void Change(Random& random, std::uint64_t keys, Tree& tree, Model& model) {
  const std::string key = RandomKey(random, keys);
  if (random.Below(100) < 55) {
    const int value = static_cast<int>(random.Below(1 << 30));
    auto old = tree.Put(New(key, value));
    auto found = model.find(key);
    REQUIRE(static_cast<bool>(old) == (found != model.end()));
    if (old) REQUIRE(old->value == found->second);
    model[key] = value;
  } else {
    auto old = tree.Erase(key);
    REQUIRE(static_cast<bool>(old) == (model.erase(key) == 1));
  }
}

TEST_CASE("storage.index: an empty tree finds nothing", "[storage.index]") {
  Tree tree;
  CHECK(tree.Find("a") == nullptr);
  CHECK_FALSE(tree.Erase("a"));
  CHECK_FALSE(tree.Begin().Valid());
  CHECK_FALSE(tree.LowerBound("a").Valid());
  CHECK(tree.Count("a", "b") == 0);
  CHECK(tree.Valid());
}

TEST_CASE("storage.index: random changes leave what a std::map holds", "[storage.index]") {
  for (std::uint64_t keys : {40U, 500U, 5000U}) {
    auto random = NewSeededRandom(keys);
    Tree tree;
    Model model;
    for (int i = 0; i < 20000; ++i) Change(*random, keys, tree, model);
    CHECK(tree.Valid());
    CHECK(tree.size() == model.size());
    CHECK(Contents(tree) == model);
  }
}

TEST_CASE("storage.index: the structure holds after every change", "[storage.index]") {
  auto random = NewSeededRandom(7);
  Tree tree;
  Model model;
  for (int i = 0; i < 4000; ++i) {
    Change(*random, 300, tree, model);
    REQUIRE(tree.Valid());
  }
}

TEST_CASE("storage.index: growing and emptying in order keeps the structure", "[storage.index]") {
  Tree tree;
  auto key = [](int i) { return std::to_string(100000 + i); };
  for (int i = 0; i < 3000; ++i) tree.Put(New(key(i), i));
  CHECK(tree.Valid());
  for (int i = 0; i < 1500; ++i) {
    REQUIRE(tree.Erase(key(i)));
    REQUIRE(tree.Erase(key(2999 - i)));
    if (i % 50 == 0) REQUIRE(tree.Valid());
  }
  CHECK(tree.empty());
  CHECK(tree.Valid());
}

TEST_CASE("storage.index: a snapshot keeps what it was taken of", "[storage.index]") {
  auto random = NewSeededRandom(11);
  Tree tree;
  Model model;
  std::vector<std::pair<Tree, Model>> snapshots;
  for (int i = 0; i < 12000; ++i) {
    Change(*random, 800, tree, model);
    if (i % 400 == 0) snapshots.emplace_back(tree, model);
  }
  for (const auto& [snapshot, then] : snapshots) {
    REQUIRE(snapshot.Valid());
    REQUIRE(Contents(snapshot) == then);
  }
  CHECK(Contents(tree) == model);
}

TEST_CASE("storage.index: a snapshot may be changed apart from its origin", "[storage.index]") {
  Tree tree;
  for (int i = 0; i < 200; ++i) tree.Put(New(std::to_string(i), i));
  Tree copy = tree;
  copy.Erase("7");
  copy.Put(New("8", -8));
  CHECK((*tree.Find("7"))->value == 7);
  CHECK((*tree.Find("8"))->value == 8);
  CHECK((*copy.Find("8"))->value == -8);
  CHECK(copy.size() == 199);
}

TEST_CASE("storage.index: ranks, counts and places agree with the order", "[storage.index]") {
  auto random = NewSeededRandom(13);
  Tree tree;
  Model model;
  for (int i = 0; i < 8000; ++i) Change(*random, 3000, tree, model);
  std::size_t rank = 0;
  for (const auto& [key, value] : model) {
    REQUIRE(tree.Rank(key) == rank);
    REQUIRE(tree.At(rank)->key == key);
    ++rank;
  }
  for (int i = 0; i < 300; ++i) {
    const std::string a = RandomKey(*random, 3000);
    const std::string b = RandomKey(*random, 3000);
    const auto expected = a < b ? std::distance(model.lower_bound(a), model.lower_bound(b)) : 0;
    REQUIRE(tree.Count(a, b) == static_cast<std::size_t>(expected));
  }
}

TEST_CASE("storage.index: iteration begins at the first key not below", "[storage.index]") {
  auto random = NewSeededRandom(17);
  Tree tree;
  Model model;
  for (int i = 0; i < 6000; ++i) Change(*random, 2000, tree, model);
  for (int i = 0; i < 500; ++i) {
    const std::string from = RandomKey(*random, 4000);
    auto expected = model.lower_bound(from);
    auto it = tree.LowerBound(from);
    for (int n = 0; n < 40 && expected != model.end(); ++n, ++expected, it.Next()) {
      REQUIRE(it.Valid());
      REQUIRE(it.key() == expected->first);
    }
    if (expected == model.end()) REQUIRE_FALSE(it.Valid());
  }
}

TEST_CASE("storage.index: what is erased or replaced is freed at once", "[storage.index]") {
  Tree tree;
  std::vector<Ref<const Entry>> held;
  for (int i = 0; i < 1000; ++i) {
    held.push_back(New(std::to_string(i), i));
    tree.Put(held.back());
  }
  for (int i = 0; i < 1000; i += 2) tree.Erase(std::to_string(i));
  for (int i = 1; i < 1000; i += 2) tree.Put(New(std::to_string(i), -i));
  for (const auto& entry : held) REQUIRE(entry->unique());
}

TEST_CASE("storage.index: snapshots are read while the tree changes", "[storage.index]") {
  constexpr int kKeys = 2000;
  Guarded<Tree> shared;
  Notification written;
  for (int i = 0; i < kKeys; ++i) shared.Lock()->Put(New(std::to_string(i), 0));
  // The writer puts one generation after the other, in order of keys: a snapshot holds at most two.
  Thread writer("writer", [&] {
    for (int generation = 1; generation <= 20; ++generation) {
      for (int i = 0; i < kKeys; ++i) shared.Lock()->Put(New(std::to_string(i), generation));
    }
    written.Notify();
  });
  std::atomic<int> torn = 0;
  auto read = [&] {
    do {
      const Tree snapshot = *shared.Lock();
      int high = 0;
      int low = 1 << 20;
      for (auto it = snapshot.Begin(); it.Valid(); it.Next()) {
        high = std::max(high, it.value()->value);
        low = std::min(low, it.value()->value);
      }
      if (high - low > 1 || snapshot.size() != kKeys) ++torn;
    } while (!written.HasBeenNotified());
  };
  Thread one("reader", read);
  Thread two("reader", read);
  writer.Join();
  one.Join();
  two.Join();
  CHECK(torn == 0);
}

}  // namespace
}  // namespace apiserver::inline v0::storage::index
