#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apiserver::inline v0::storage::kv {

// A map from prefixes to values that finds the values of all prefixes of a key: in O(log n) steps
// for n prefixes, one for each prefix found, and one for each level of nesting beside the key.
//
// The prefixes of a key are nested in each other, so each prefix knows its parent: the longest
// other prefix that it begins with. The greatest prefix that is not above a key begins with all
// prefixes of the key, since those lie between it and themselves: so they are it or among its
// ancestors. Keys often come in runs of one prefix: the last one found is tried first unless
// another is nested in it.
template <class Value>
class PrefixMap {
 public:
  // Adds a value. Takes O(log n), and a step for each prefix that begins with a new one.
  void Add(std::string_view prefix, Value value);
  // Removes `value`, which must be there. As much work as Add().
  void Remove(std::string_view prefix, const Value& value);

  // Calls `visit(const Value&)` for the values of all prefixes of `key`.
  template <class Visit>
  void ForPrefixesOf(std::string_view key, Visit visit) {
    if (last_ == nullptr || last_->inner > 0 || !key.starts_with(last_->prefix)) {
      last_ = Longest(key);
    }
    for (const Node* node = last_; node != nullptr; node = node->parent) {
      for (const Value& value : node->values) visit(value);
    }
  }
  // Calls `visit(const Value&)` for all values.
  template <class Visit>
  void ForAll(Visit visit) const {
    for (const auto& [prefix, node] : nodes_) {
      for (const Value& value : node.values) visit(value);
    }
  }
  bool empty() const { return nodes_.empty(); }

 private:
  struct Node {
    std::string_view prefix;  // The node's key.
    Node* parent = nullptr;
    std::size_t inner = 0;  // The number of nodes whose parent this is.
    std::vector<Value> values;
  };
  using Nodes = std::map<std::string, Node, std::less<>>;

  // Returns the node of the longest prefix of `key`. Null: there is none.
  Node* Longest(std::string_view key);
  // The nodes below `self` whose parent is `from` get the parent `to`.
  void Adopt(typename Nodes::iterator self, Node* from, Node* to);
  static void SetParent(Node& node, Node* parent) {
    if (node.parent != nullptr) --node.parent->inner;
    node.parent = parent;
    if (parent != nullptr) ++parent->inner;
  }

  Nodes nodes_;
  const Node* last_ = nullptr;  // The node found last.
};

template <class Value>
auto PrefixMap<Value>::Longest(std::string_view key) -> Node* {
  const auto above = nodes_.upper_bound(key);
  if (above == nodes_.begin()) return nullptr;
  Node* node = &std::prev(above)->second;
  while (node != nullptr && !key.starts_with(node->prefix)) node = node->parent;
  return node;
}

template <class Value>
void PrefixMap<Value>::Adopt(typename Nodes::iterator self, Node* from, Node* to) {
  for (auto next = std::next(self); next != nodes_.end(); ++next) {
    if (!next->first.starts_with(self->first)) break;
    if (next->second.parent == from) SetParent(next->second, to);
  }
}

template <class Value>
void PrefixMap<Value>::Add(std::string_view prefix, Value value) {
  auto found = nodes_.find(prefix);
  if (found == nodes_.end()) {
    Node* parent = Longest(prefix);
    found = nodes_.emplace(std::string(prefix), Node{}).first;
    Node& node = found->second;
    node.prefix = found->first;
    SetParent(node, parent);
    Adopt(found, parent, &node);
  }
  found->second.values.push_back(std::move(value));
}

template <class Value>
void PrefixMap<Value>::Remove(std::string_view prefix, const Value& value) {
  const auto found = nodes_.find(prefix);
  auto& values = found->second.values;
  values.erase(std::find(values.begin(), values.end(), value));
  if (!values.empty()) return;
  Adopt(found, &found->second, found->second.parent);
  SetParent(found->second, nullptr);
  if (last_ == &found->second) last_ = nullptr;
  nodes_.erase(found);
}

}  // namespace apiserver::inline v0::storage::kv
