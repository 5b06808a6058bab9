#include "flowcontrol/tournament.h"

#include <algorithm>
#include <bit>

namespace apiserver::v0::flowcontrol {

void Tournament::Resize(std::size_t size) {
  size_ = size;
  leaves_ = std::bit_ceil(std::max<std::size_t>(size, 1));
  tree_.assign(2 * leaves_, kNone);
}

// O(log n): stops at the first ancestor that does not change.
void Tournament::Set(std::size_t index, std::uint64_t value) {
  std::size_t node = leaves_ + index;
  tree_[node] = value;
  while (node > 1) {
    node /= 2;
    const std::uint64_t smaller = std::min(tree_[2 * node], tree_[2 * node + 1]);
    if (tree_[node] == smaller) return;
    tree_[node] = smaller;
  }
}

// O(log n). Begins the search at `from`, so that equal queues take turns.
std::size_t Tournament::FirstMin(std::size_t from) const {
  const std::uint64_t wanted = min();
  // Goes up from the leaf to the first subtree on the right that has the value, then down its left
  // side.
  std::size_t node = leaves_ + from % size_;
  if (tree_[node] != wanted) {
    while (node > 1 && (node % 2 == 1 || tree_[node + 1] != wanted)) node /= 2;
    // There is none on the right: the first of all.
    node = node <= 1 ? 1 : node + 1;
  }
  while (node < leaves_) node = tree_[2 * node] == wanted ? 2 * node : 2 * node + 1;
  return node - leaves_;
}

}  // namespace apiserver::v0::flowcontrol
