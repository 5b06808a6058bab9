#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::patch {

// A value under change. Values are immutable, and many changes of a large list must not copy it
// each time: changed parts are opened into nodes, the rest stays as it is. Nothing here recurses.
class Tree {
 public:
  struct Container;
  // A value, or an opened map or list.
  struct Node {
    std::string_view key;  // In a map.
    runtime::Value value;
    Container* open = nullptr;
    bool removed = false;  // Removed from its map, where the slot stays.
  };
  struct Container {
    bool map = true;
    std::vector<Node*> nodes;
    std::size_t removed = 0;
    std::size_t searches = 0;
    bool indexed = false;                                     // `by_key` has all members.
    std::unordered_map<std::string_view, Node*> by_key = {};  // Made when a map is searched often.

    std::size_t size() const { return nodes.size() - removed; }
  };

  // New nodes and values live in `arena`, which must outlive the tree.
  explicit Tree(runtime::Arena& arena) : arena_(arena) {}

  Node* NewNode(runtime::Value value);
  // Parses raw JSON and converts bytes to text, as a patch sees both as JSON.
  void Resolve(Node* node);
  // Resolves it first. Null: it is a scalar.
  Container* Open(Node* node);

  // Null: there is no such member.
  static Node* Find(Container& map, std::string_view key);
  // Gives the member the content of `node`, shared. `key` is borrowed.
  void Set(Container& map, std::string_view key, const Node& node);
  static bool Remove(Container& map, std::string_view key);

  // The order of the members of opened maps: encoding/json sorts them by key.
  enum class Members : std::uint8_t { kAsTheyAre, kSorted };
  // Returns the value of `node`. nullopt: it has been opened too deeply.
  std::optional<runtime::Value> ToValue(const Node* node, Members members = Members::kAsTheyAre);

  runtime::Arena& arena() { return arena_; }

 private:
  Node* NewMember(Container& map, std::string_view key, runtime::Value value);

  runtime::Arena& arena_;
  std::deque<Node> nodes_;
  std::deque<Container> containers_;
};

}  // namespace apiserver::inline v0::patch
