#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::patch {

// A document under change. Values are immutable, and thousands of operations on one large list must
// not copy it thousands of times: what an operation touches is opened into nodes, the rest stays as
// it is. Nothing here recurses.
class Document {
 public:
  struct Container;
  // A value, or an opened map or list.
  struct Node {
    std::string_view key;  // In a map.
    runtime::Value value;
    Container* open = nullptr;
    bool removed = false;  // From its map; the place is left.
  };
  struct Container {
    bool map = true;
    std::vector<Node*> nodes;
    std::size_t removed = 0;
    std::unordered_map<std::string_view, Node*> by_key;

    std::size_t size() const { return nodes.size() - removed; }
  };

  // Where a JSON pointer leads: the container that has (or may get) the last step.
  struct Place {
    Container* container = nullptr;  // Null: there is none.
    std::string key;
  };

  // `root` is a map or list.
  Document(runtime::Value root, runtime::Arena& arena);

  Place Find(std::string_view pointer);
  // The child of `place`; null: nothing there. kBad index: nullopt.
  std::optional<Node*> Get(const Place& place);
  // False: the key is no index of the list.
  bool Add(const Place& place, Node* node);
  bool Set(const Place& place, Node* node);
  bool Remove(const Place& place);

  Node* NewNode(runtime::Value value);
  Node* root() { return root_; }
  void SetRoot(Node* node) { root_ = node; }

  bool Equal(Node* node, const runtime::Value& value);
  // The tree of `node` as a Value; nullopt: it has been opened too deeply.
  std::optional<runtime::Value> ToValue(const Node* node);
  // All of it; nullopt: nested more deeply than JSON may be.
  std::optional<runtime::Value> Whole();
  // Whether lists have been shifted more than a patch may cost.
  bool exhausted() const { return shifted_ > kShiftedMax; }

 private:
  // Items that inserting and removing may move in all.
  static constexpr std::size_t kShiftedMax = 1'000'000'000;

  // Null: a scalar.
  Container* Open(Node* node);
  // The index that `key` is of `size` places; nullopt: none.
  static std::optional<std::size_t> IndexOf(std::string_view key, std::size_t size);
  Node* NewMember(Container& map, std::string_view key, runtime::Value value);

  runtime::Arena& arena_;
  std::deque<Node> nodes_;
  std::deque<Container> containers_;
  Node* root_ = nullptr;
  std::size_t shifted_ = 0;
};

}  // namespace apiserver::inline v0::patch
