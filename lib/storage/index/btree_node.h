#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace apiserver::inline v0::storage::index {

// The nodes of a BTree and the steps that its changes are made of. Counts are intrusive: a node
// with one owner is changed in place, any other is copied first (Own).
template <class Value, class KeyOf>
struct BTreeNode {
  using Key = std::invoke_result_t<KeyOf, const Value&>;

  // The slots of a node. Measured with a snapshot kept after every write: 32 gives 1.6 times the
  // writes of 64, because a path copy is half as long, and scans are as fast.
  static constexpr int kSlots = 32;
  // A node with fewer is filled up from a sibling, or joins it. A quarter, not half: a tree that
  // grows and shrinks by one entry does not split and merge each time.
  static constexpr int kSlotsMin = kSlots / 4;

  struct Leaf;
  struct Inner;

  explicit BTreeNode(bool leaf) : is_leaf(leaf) {}

  std::atomic<std::uint32_t> refs{1};
  std::uint16_t size = 0;
  const bool is_leaf;

  Leaf* leaf() { return static_cast<Leaf*>(this); }
  const Leaf* leaf() const { return static_cast<const Leaf*>(this); }
  Inner* inner() { return static_cast<Inner*>(this); }
  const Inner* inner() const { return static_cast<const Inner*>(this); }

  // Returns the number of values below this node.
  std::size_t Total() const;
  const Value& Min() const { return is_leaf ? leaf()->values[0] : inner()->mins[0]; }
  // For a leaf: returns the first slot whose key is not below `key`; may be `size`.
  int LowerSlot(const Key& key) const;
  // For an inner node: returns the child that holds `key` if any does.
  int ChildSlot(const Key& key) const;

  static void AddRef(BTreeNode* node) { node->refs.fetch_add(1, std::memory_order_relaxed); }
  static void Drop(BTreeNode* node);
  // Returns the same content with the caller as only owner; gives the caller's reference on `node`
  // up.
  static BTreeNode* Own(BTreeNode* node);

  // Makes room for `n` slots at `at`.
  void OpenGap(int at, int n);
  // Closes a gap of `n` slots at `at` whose content was moved away.
  void CloseGap(int at, int n);
  // Moves `n` slots from `from` to the gap at `to` of `other`.
  void MoveSlots(int from, BTreeNode* other, int to, int n);
  // Moves the upper half to a new node and returns it.
  BTreeNode* SplitUpper();
};

template <class Value, class KeyOf>
struct BTreeNode<Value, KeyOf>::Leaf : BTreeNode {
  Leaf() : BTreeNode(true) {}
  Value values[kSlots];
};

template <class Value, class KeyOf>
struct BTreeNode<Value, KeyOf>::Inner : BTreeNode {
  Inner() : BTreeNode(false) {}
  // The least value below each child. It is always exact, so that no erased value is kept alive.
  Value mins[kSlots];
  BTreeNode* children[kSlots] = {};
  std::size_t totals[kSlots] = {};

  // Updates the figures of child `at` after it changed.
  void Refresh(int at) {
    totals[at] = children[at]->Total();
    mins[at] = children[at]->Min();
  }
};

template <class Value, class KeyOf>
std::size_t BTreeNode<Value, KeyOf>::Total() const {
  if (is_leaf) return size;
  std::size_t total = 0;
  for (int i = 0; i < size; ++i) total += inner()->totals[i];
  return total;
}

template <class Value, class KeyOf>
int BTreeNode<Value, KeyOf>::LowerSlot(const Key& key) const {
  const Value* values = leaf()->values;
  const Value* found = std::lower_bound(
      values, values + size, key, [](const Value& v, const Key& k) { return KeyOf()(v) < k; });
  return static_cast<int>(found - values);
}

template <class Value, class KeyOf>
int BTreeNode<Value, KeyOf>::ChildSlot(const Key& key) const {
  const Value* mins = inner()->mins;
  const Value* above = std::upper_bound(
      mins + 1, mins + size, key, [](const Key& k, const Value& v) { return k < KeyOf()(v); });
  return static_cast<int>(above - mins) - 1;
}

template <class Value, class KeyOf>
void BTreeNode<Value, KeyOf>::Drop(BTreeNode* node) {
  if (node == nullptr || node->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (node->is_leaf) {
    delete node->leaf();
    return;
  }
  for (int i = 0; i < node->size; ++i) Drop(node->inner()->children[i]);
  delete node->inner();
}

template <class Value, class KeyOf>
BTreeNode<Value, KeyOf>* BTreeNode<Value, KeyOf>::Own(BTreeNode* node) {
  // Acquire: a reader that dropped its reference has finished reading what is changed next.
  if (node->refs.load(std::memory_order_acquire) == 1) return node;
  BTreeNode* copy = nullptr;
  if (node->is_leaf) {
    auto* leaf = new Leaf;
    std::copy_n(node->leaf()->values, node->size, leaf->values);
    copy = leaf;
  } else {
    auto* inner = new Inner;
    const Inner& from = *node->inner();
    for (int i = 0; i < node->size; ++i) {
      inner->mins[i] = from.mins[i];
      inner->children[i] = from.children[i];
      inner->totals[i] = from.totals[i];
      AddRef(from.children[i]);
    }
    copy = inner;
  }
  copy->size = node->size;
  Drop(node);
  return copy;
}

template <class Value, class KeyOf>
void BTreeNode<Value, KeyOf>::OpenGap(int at, int n) {
  if (is_leaf) {
    std::move_backward(leaf()->values + at, leaf()->values + size, leaf()->values + size + n);
  } else {
    Inner& in = *inner();
    std::move_backward(in.mins + at, in.mins + size, in.mins + size + n);
    std::move_backward(in.children + at, in.children + size, in.children + size + n);
    std::move_backward(in.totals + at, in.totals + size, in.totals + size + n);
  }
  size = static_cast<std::uint16_t>(size + n);
}

template <class Value, class KeyOf>
void BTreeNode<Value, KeyOf>::CloseGap(int at, int n) {
  if (is_leaf) {
    Value* values = leaf()->values;
    std::move(values + at + n, values + size, values + at);
    std::fill(values + size - n, values + size, Value());
  } else {
    Inner& in = *inner();
    std::move(in.mins + at + n, in.mins + size, in.mins + at);
    std::fill(in.mins + size - n, in.mins + size, Value());
    std::move(in.children + at + n, in.children + size, in.children + at);
    std::move(in.totals + at + n, in.totals + size, in.totals + at);
  }
  size = static_cast<std::uint16_t>(size - n);
}

template <class Value, class KeyOf>
void BTreeNode<Value, KeyOf>::MoveSlots(int from, BTreeNode* other, int to, int n) {
  if (is_leaf) {
    std::move(leaf()->values + from, leaf()->values + from + n, other->leaf()->values + to);
    return;
  }
  Inner& in = *inner();
  Inner& out = *other->inner();
  std::move(in.mins + from, in.mins + from + n, out.mins + to);
  std::move(in.children + from, in.children + from + n, out.children + to);
  std::move(in.totals + from, in.totals + from + n, out.totals + to);
}

template <class Value, class KeyOf>
BTreeNode<Value, KeyOf>* BTreeNode<Value, KeyOf>::SplitUpper() {
  BTreeNode* upper = is_leaf ? static_cast<BTreeNode*>(new Leaf) : new Inner;
  const int n = size / 2;
  upper->size = static_cast<std::uint16_t>(n);
  MoveSlots(size - n, upper, 0, n);
  CloseGap(size - n, n);
  return upper;
}

}  // namespace apiserver::inline v0::storage::index
