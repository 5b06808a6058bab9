#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "patch/tree.h"

// The positions of elements in merged lists.
namespace apiserver::inline v0::patch {

using Nodes = std::vector<Tree::Node*>;

// A scalar that identifies elements, compared as Go compares two interface{}: 1 and 1.0 differ.
// Looked up by order and not by hash, because clients choose keys.
struct ScalarKey {
  runtime::Value::Type type = runtime::Value::Type::kNull;
  std::string_view text;
  double number = 0;
  std::int64_t whole = 0;

  friend bool operator==(const ScalarKey&, const ScalarKey&) = default;
  friend bool operator<(const ScalarKey& a, const ScalarKey& b) {
    return std::tie(a.type, a.whole, a.number, a.text) <
           std::tie(b.type, b.whole, b.number, b.text);
  }
};
template <class T>
using ByKey = std::map<ScalarKey, T>;

// The first place of each key in a list.
class Ranks {
 public:
  explicit Ranks(const std::vector<ScalarKey>& keys_in_order);

  // -1: nowhere.
  std::ptrdiff_t Of(const ScalarKey& key) const;

 private:
  struct Place {
    ScalarKey key;
    std::ptrdiff_t rank;
  };
  std::vector<Place> places_;  // Sorted by key, then rank.
};

// True if Go could compare it: no map and no list.
bool IsScalar(const runtime::Value& value);
ScalarKey KeyOfScalar(const runtime::Value& value);

// An element and its ranks in the two lists that define the order; -1: it is in neither.
struct Ranked {
  Tree::Node* node = nullptr;
  std::ptrdiff_t own_rank = -1;     // In the list that it is sorted by.
  std::ptrdiff_t server_rank = -1;  // In the stored list.
};

// Sorts as sort.SliceStable by own_rank. Go's comparison calls an element without rank the lesser
// one, even of two, so that its algorithm has to be followed step by step to get its order.
void SortByRank(std::vector<Ranked>& elements);

// Merges both lists, each in its order. An element of `server_only` goes before one of the patch
// only if the stored list has both in this order.
Nodes MergeSorted(std::span<const Ranked> server_only, std::span<const Ranked> patch);

}  // namespace apiserver::inline v0::patch
