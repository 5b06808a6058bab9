#pragma once  // Library-internal: other rooms include this header.

#include <cassert>
#include <cstddef>
#include <utility>

#include "storage/index/btree_node.h"

namespace apiserver::inline v0::storage::index {

// An ordered set of handles that is cheap to copy: a copy costs one atomic increment and is a
// snapshot, and later changes of either copy whatever nodes both share. `Value` is a cheap handle
// (Ref, shared_ptr) whose default is null; `KeyOf()(value)` gives its key, which must be ordered by
// `<`, cheap to copy and the same for as long as the value is in a tree.
//
// One BTree object belongs to one thread at a time, as a std::map does; snapshots of one tree may
// be read, changed and destroyed by different threads at once. Nodes are freed by the thread that
// drops them last.
template <class Value, class KeyOf>
class BTree {
  using Node = BTreeNode<Value, KeyOf>;

 public:
  using Key = typename Node::Key;
  class Iterator;

  BTree() = default;
  BTree(const BTree& other) : root_(other.root_), size_(other.size_) {
    if (root_ != nullptr) Node::AddRef(root_);
  }
  BTree(BTree&& other) noexcept
      : root_(std::exchange(other.root_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  BTree& operator=(BTree other) noexcept {
    std::swap(root_, other.root_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~BTree() { Node::Drop(root_); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // Returns the value with that key. Null: there is none.
  const Value* Find(const Key& key) const;
  // Inserts, or replaces the value with the same key; returns the one replaced, or null.
  Value Put(Value value);
  // Returns the erased value, or null.
  Value Erase(const Key& key);

  // Returns the number of values with keys below `key`. O(log n), as Count and At.
  std::size_t Rank(const Key& key) const;
  // Returns the number of values with keys in [begin, end).
  std::size_t Count(const Key& begin, const Key& end) const {
    return begin < end ? Rank(end) - Rank(begin) : 0;
  }
  // Returns the value with that rank; rank < size().
  const Value& At(std::size_t rank) const;

  // Iterators read this tree and are invalid once it changes; keep a copy to read on.
  Iterator Begin() const;
  // Returns an iterator at the first value whose key is not below `key`.
  Iterator LowerBound(const Key& key) const;

  // True if all promises of the structure hold; for tests.
  bool Valid() const {
    return root_ == nullptr ? size_ == 0 : (root_->Total() == size_ && ValidBelow(*root_, true));
  }

 private:
  struct Change {
    Value old;
    Node* upper = nullptr;     // The upper half, if the node was split.
    bool min_changed = false;  // True if the least value below has changed.
  };

  static Change PutBelow(Node*& slot, Value value);
  static Change PutInLeaf(Node* leaf, Value value);
  static Change EraseBelow(Node*& slot, const Key& key);
  static void InsertChild(Node* parent, int at, Node* child);
  static void Refill(Node* parent, int at);
  static void Even(Node* left, Node* right);
  static bool ValidBelow(const Node& node, bool root);

  Node* root_ = nullptr;
  std::size_t size_ = 0;
};

// A position in a tree. Valid() tells if there is a value; Next() moves to the following one.
template <class Value, class KeyOf>
class BTree<Value, KeyOf>::Iterator {
 public:
  bool Valid() const { return leaf_ != nullptr; }
  const Value& value() const { return leaf_->leaf()->values[slot_]; }
  Key key() const { return KeyOf()(value()); }
  void Next() {
    if (++slot_ == leaf_->size) Climb();
  }

 private:
  friend class BTree;
  // More than the depth of any tree that fits an address space: each level has at least kSlotsMin
  // children.
  static constexpr int kDepthMax = 12;

  void Descend(const Node* node) {
    while (!node->is_leaf) {
      path_[depth_++] = {node, 0};
      node = node->inner()->children[0];
    }
    leaf_ = node;
    slot_ = 0;
  }
  void Climb() {
    leaf_ = nullptr;
    while (depth_ > 0) {
      auto& [node, slot] = path_[depth_ - 1];
      if (++slot < node->size) return Descend(node->inner()->children[slot]);
      --depth_;
    }
  }

  struct Step {
    const Node* node;
    int slot;
  };
  const Node* leaf_ = nullptr;
  int slot_ = 0;
  int depth_ = 0;
  Step path_[kDepthMax] = {};
};

template <class Value, class KeyOf>
const Value* BTree<Value, KeyOf>::Find(const Key& key) const {
  const Node* node = root_;
  if (node == nullptr) return nullptr;
  while (!node->is_leaf) node = node->inner()->children[node->ChildSlot(key)];
  const int slot = node->LowerSlot(key);
  if (slot == node->size || key < KeyOf()(node->leaf()->values[slot])) return nullptr;
  return &node->leaf()->values[slot];
}

template <class Value, class KeyOf>
Value BTree<Value, KeyOf>::Put(Value value) {
  if (root_ == nullptr) root_ = new typename Node::Leaf;
  Change change = PutBelow(root_, std::move(value));
  if (change.upper != nullptr) {
    Node* lower = root_;
    root_ = new typename Node::Inner;
    InsertChild(root_, 0, lower);
    InsertChild(root_, 1, change.upper);
  }
  if (!change.old) ++size_;
  return std::move(change.old);
}

template <class Value, class KeyOf>
auto BTree<Value, KeyOf>::PutBelow(Node*& slot, Value value) -> Change {
  Node* node = slot = Node::Own(slot);
  if (node->is_leaf) return PutInLeaf(node, std::move(value));

  const int at = node->ChildSlot(KeyOf()(value));
  auto& inner = *node->inner();
  Change change = PutBelow(inner.children[at], std::move(value));
  if (change.min_changed) inner.mins[at] = inner.children[at]->Min();
  change.min_changed = change.min_changed && at == 0;
  if (!change.old) ++inner.totals[at];
  Node* upper = std::exchange(change.upper, nullptr);
  if (upper == nullptr) return change;

  inner.totals[at] = inner.children[at]->Total();
  Node* target = node;
  int where = at + 1;
  if (node->size == Node::kSlots) {
    change.upper = node->SplitUpper();
    if (where > node->size) {
      where -= node->size;
      target = change.upper;
    }
  }
  InsertChild(target, where, upper);
  return change;
}

template <class Value, class KeyOf>
auto BTree<Value, KeyOf>::PutInLeaf(Node* leaf, Value value) -> Change {
  Change change;
  const Key key = KeyOf()(value);
  int at = leaf->LowerSlot(key);
  change.min_changed = at == 0;
  if (at < leaf->size && !(key < KeyOf()(leaf->leaf()->values[at]))) {
    change.old = std::exchange(leaf->leaf()->values[at], std::move(value));
    return change;
  }
  Node* target = leaf;
  if (leaf->size == Node::kSlots) {
    change.upper = leaf->SplitUpper();
    if (at > leaf->size) {
      at -= leaf->size;
      target = change.upper;
    }
  }
  target->OpenGap(at, 1);
  target->leaf()->values[at] = std::move(value);
  return change;
}

template <class Value, class KeyOf>
void BTree<Value, KeyOf>::InsertChild(Node* parent, int at, Node* child) {
  parent->OpenGap(at, 1);
  parent->inner()->children[at] = child;
  parent->inner()->Refresh(at);
}

template <class Value, class KeyOf>
Value BTree<Value, KeyOf>::Erase(const Key& key) {
  // The key is looked for first, so that a path is copied only if it will change.
  if (Find(key) == nullptr) return Value();
  Change change = EraseBelow(root_, key);
  if (--size_ == 0) {
    Node::Drop(std::exchange(root_, nullptr));
  } else if (!root_->is_leaf && root_->size == 1) {
    Node* child = root_->inner()->children[0];
    Node::AddRef(child);
    Node::Drop(std::exchange(root_, child));
  }
  return std::move(change.old);
}

template <class Value, class KeyOf>
auto BTree<Value, KeyOf>::EraseBelow(Node*& slot, const Key& key) -> Change {
  Node* node = slot = Node::Own(slot);
  Change change;
  if (node->is_leaf) {
    const int at = node->LowerSlot(key);
    change.old = std::move(node->leaf()->values[at]);
    change.min_changed = at == 0;
    node->CloseGap(at, 1);
    return change;
  }
  const int at = node->ChildSlot(key);
  auto& inner = *node->inner();
  change = EraseBelow(inner.children[at], key);
  --inner.totals[at];
  // The child is never empty here: it had at least kSlotsMin.
  if (change.min_changed) inner.mins[at] = inner.children[at]->Min();
  if (inner.children[at]->size < Node::kSlotsMin) Refill(node, at);
  change.min_changed = change.min_changed && at == 0;
  return change;
}

template <class Value, class KeyOf>
void BTree<Value, KeyOf>::Refill(Node* parent, int at) {
  auto& inner = *parent->inner();
  const int l = at > 0 ? at - 1 : at;
  const int r = l + 1;
  if (r == parent->size) return;  // A root with one child; Erase() removes it.
  Node* left = inner.children[l] = Node::Own(inner.children[l]);
  Node* right = inner.children[r] = Node::Own(inner.children[r]);
  if (left->size + right->size <= Node::kSlots) {
    const int n = right->size;
    const int end = left->size;
    left->OpenGap(end, n);
    right->MoveSlots(0, left, end, n);
    right->CloseGap(0, n);
    Node::Drop(right);
    parent->CloseGap(r, 1);
  } else {
    Even(left, right);
    inner.Refresh(r);
  }
  inner.Refresh(l);
}

template <class Value, class KeyOf>
void BTree<Value, KeyOf>::Even(Node* left, Node* right) {
  const int half = (left->size + right->size) / 2;
  if (left->size < half) {
    const int n = half - left->size;
    const int end = left->size;
    left->OpenGap(end, n);
    right->MoveSlots(0, left, end, n);
    right->CloseGap(0, n);
  } else if (const int n = left->size - half; n > 0) {
    right->OpenGap(0, n);
    left->MoveSlots(half, right, 0, n);
    left->CloseGap(half, n);
  }
}

template <class Value, class KeyOf>
std::size_t BTree<Value, KeyOf>::Rank(const Key& key) const {
  const Node* node = root_;
  if (node == nullptr) return 0;
  std::size_t rank = 0;
  while (!node->is_leaf) {
    const int at = node->ChildSlot(key);
    for (int i = 0; i < at; ++i) rank += node->inner()->totals[i];
    node = node->inner()->children[at];
  }
  return rank + static_cast<std::size_t>(node->LowerSlot(key));
}

template <class Value, class KeyOf>
const Value& BTree<Value, KeyOf>::At(std::size_t rank) const {
  assert(rank < size_);
  const Node* node = root_;
  while (!node->is_leaf) {
    int at = 0;
    while (rank >= node->inner()->totals[at]) rank -= node->inner()->totals[at++];
    node = node->inner()->children[at];
  }
  return node->leaf()->values[rank];
}

template <class Value, class KeyOf>
auto BTree<Value, KeyOf>::Begin() const -> Iterator {
  Iterator it;
  if (root_ != nullptr) it.Descend(root_);
  return it;
}

template <class Value, class KeyOf>
auto BTree<Value, KeyOf>::LowerBound(const Key& key) const -> Iterator {
  Iterator it;
  const Node* node = root_;
  if (node == nullptr) return it;
  while (!node->is_leaf) {
    const int at = node->ChildSlot(key);
    it.path_[it.depth_++] = {node, at};
    node = node->inner()->children[at];
  }
  it.leaf_ = node;
  it.slot_ = node->LowerSlot(key);
  if (it.slot_ == node->size) it.Climb();
  return it;
}

template <class Value, class KeyOf>
bool BTree<Value, KeyOf>::ValidBelow(const Node& node, bool root) {
  if (node.size == 0 || (!root && node.size < Node::kSlotsMin)) return false;
  if (node.is_leaf) {
    for (int i = 0; i + 1 < node.size; ++i) {
      if (!(KeyOf()(node.leaf()->values[i]) < KeyOf()(node.leaf()->values[i + 1]))) return false;
    }
    return true;
  }
  for (int i = 0; i < node.size; ++i) {
    const Node& child = *node.inner()->children[i];
    if (!ValidBelow(child, false) || child.Total() != node.inner()->totals[i]) return false;
    if (!(child.Min() == node.inner()->mins[i])) return false;
    if (child.is_leaf != node.inner()->children[0]->is_leaf) return false;
    if (i > 0 && !(KeyOf()(node.inner()->mins[i - 1]) < KeyOf()(child.Min()))) return false;
  }
  return true;
}

}  // namespace apiserver::inline v0::storage::index
