#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/runtime/value.h"
#include "patch/tree.h"

namespace apiserver::inline v0::patch {

// A document to which a JSON patch is applied.
class Document {
 public:
  using Node = Tree::Node;
  using Container = Tree::Container;

  // The target of a JSON pointer: the container that has (or may get) the last step.
  struct Place {
    Container* container = nullptr;  // Null: there is none.
    std::string key;
  };

  // `root` is a map or list.
  Document(runtime::Value root, runtime::Arena& arena);

  Place Find(std::string_view pointer);
  // Returns the child of `place`; null: there is none. nullopt: the key is no index.
  std::optional<Node*> Get(const Place& place);
  // Adds `node`. False: the key is no index of the list.
  bool Add(const Place& place, Node* node);
  bool Set(const Place& place, Node* node);
  bool Remove(const Place& place);
  // Returns why there is nothing at `place`, in json-patch's words: the key is no member, no number
  // (then the text begins with "strconv."), or no index.
  static std::string NotThere(const Place& place);

  Node* NewNode(runtime::Value value) { return tree_.NewNode(value); }
  Node* root() { return root_; }
  void SetRoot(Node* node) { root_ = node; }

  bool Equal(Node* node, const runtime::Value& value);
  // Returns the tree of `node` as a Value. nullopt: it has been opened too deeply.
  std::optional<runtime::Value> ToValue(const Node* node) {
    return tree_.ToValue(node, Tree::Members::kSorted);
  }
  // Returns the whole document. nullopt: it is nested more deeply than JSON may be.
  std::optional<runtime::Value> Whole();
  // True if the patch has shifted more list items than it may.
  bool exhausted() const { return shifted_ > kShiftedMax; }

 private:
  // The most items that inserting and removing may move.
  static constexpr std::size_t kShiftedMax = 1'000'000'000;

  // Returns the index that `key` is in a list of `size`. nullopt: none.
  static std::optional<std::size_t> IndexOf(std::string_view key, std::size_t size);

  Tree tree_;
  Node* root_ = nullptr;
  std::size_t shifted_ = 0;
};

}  // namespace apiserver::inline v0::patch
