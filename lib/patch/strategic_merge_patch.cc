#include "apiserver/patch/strategic_merge_patch.h"

#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/meta/errors.h"

#include "base/status_macros.h"
#include "patch/go_print.h"
#include "patch/strategic_list.h"
#include "patch/strategic_schema.h"
#include "patch/strategic_strip.h"
#include "patch/tree.h"

namespace apiserver::v0::patch {
namespace {

using runtime::Schema;
using runtime::Value;
using Node = Tree::Node;
using Container = Tree::Container;

constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kSetElementOrder = "$setElementOrder";
constexpr std::string_view kDeleteFromPrimitiveList = "$deleteFromPrimitiveList";

Status BadRetainKeys() { return meta::NewBadRequest("invalid patch format of retainKeys"); }

// Returns the list that a directive's key names. nullopt: it names none.
std::optional<std::string_view> ListOf(std::string_view key, std::string_view prefix) {
  if (key.substr(prefix.size(), 1) != "/") return std::nullopt;
  return key.substr(prefix.size() + 1);
}

// Merges one map into another, and nested maps later: mergeMap of strategicpatch without its
// recursion.
class MapMerger {
 public:
  MapMerger(Tree& tree, const StrategicMergePatchLimits& limits)
      : tree_(tree), limits_(limits), lists_(tree, within_, visits_) {}

  Status Run(Node* document, Node* patch, const Schema& schema) {
    std::vector<MapMerge> left = {{document, patch, {&schema}}};
    while (!left.empty()) {
      const MapMerge task = left.back();
      left.pop_back();
      RETURN_IF_ERROR(Merge(task));
      if (visits_ > limits_.visits_max) {
        return meta::NewRequestEntityTooLarge("the patch merges the same lists too often");
      }
      // Merges within a map run before those of its neighbours, which may change the same element.
      left.insert(left.end(), within_.rbegin(), within_.rend());
      within_.clear();
    }
    return {};
  }

  std::size_t visits() const { return visits_; }

 private:
  // The lists of a $setElementOrder.
  struct OrderedList {
    const Nodes& order;
    Node* original;  // Null: there is none.
    Node* patch;
    PatchMeta meta;
  };

  Status Merge(const MapMerge& task) {
    Container& patch = *tree_.Open(task.patch);
    if (const Node* directive = Tree::Find(patch, kDirectiveMarker)) {
      return Obey(directive->value, task);
    }
    Container& original = *tree_.Open(task.original);
    visits_ += 1 + patch.size();
    RETURN_IF_ERROR(Retain(original, patch));
    // Lists with a given order come first: they are taken out of the patch when they are merged.
    for (std::size_t i = 0; i < patch.nodes.size(); ++i) {
      Node* const member = patch.nodes[i];
      if (member->removed || !member->key.starts_with(kSetElementOrder)) continue;
      RETURN_IF_ERROR(SetElementOrder(original, patch, *member, task.shape));
    }
    for (std::size_t i = 0; i < patch.nodes.size(); ++i) {
      if (patch.nodes[i]->removed) continue;
      RETURN_IF_ERROR(MergeMember(original, patch.nodes[i], task.shape));
    }
    return {};
  }

  Status Obey(const Value& directive, const MapMerge& task) {
    const std::string_view word = directive.is_string() ? directive.AsString() : "";
    if (word == "delete") {
      *task.original = {.key = task.original->key, .value = Value::Map({})};
      return {};
    }
    if (word != "replace") {
      return Plain("unknown patch type: " + PrintGoText(directive) +
                   " in map: " + PrintGo(tree_.ToValue(task.patch).value_or(Value())));
    }
    Tree::Remove(*task.patch->open, kDirectiveMarker);
    Become(*task.original, *task.patch);
    return {};
  }

  static void Become(Node& node, const Node& other) {
    node.value = other.value;
    node.open = other.open;
  }

  // $retainKeys: the original keeps only these keys, and the patch must not have others.
  Status Retain(Container& original, Container& patch) {
    Node* const directive = Tree::Find(patch, kRetainKeys);
    if (directive == nullptr) return {};
    Container* const list = tree_.Open(directive);
    Tree::Remove(patch, kRetainKeys);
    if (list == nullptr || list->map) return BadRetainKeys();
    std::set<std::string_view> retained;
    for (const Node* node : list->nodes) {
      if (!IsScalar(node->value)) return BadRetainKeys();  // A Go server panics.
      if (node->value.is_string()) retained.insert(node->value.AsString());
    }
    for (const Node* member : patch.nodes) {
      const bool about_list = member->key.starts_with(kDeleteFromPrimitiveList) ||
                              member->key.starts_with(kSetElementOrder);
      if (member->removed || member->value.is_null() || about_list) continue;
      if (!retained.contains(member->key)) return BadRetainKeys();
    }
    visits_ += original.nodes.size() + list->nodes.size();
    for (const Node* member : original.nodes) {
      if (!member->removed && !retained.contains(member->key)) Tree::Remove(original, member->key);
    }
    return {};
  }

  // Null: there is none. An error: it is no list.
  Result<Node*> FindList(Container& map, std::string_view key) {
    Node* const node = Tree::Find(map, key);
    if (node == nullptr) return nullptr;
    tree_.Resolve(node);
    if (!node->value.is_list()) return BadArgType(kGoList, *node);
    tree_.Open(node);
    return node;
  }

  // Follows mergePatchIntoOriginal for one directive.
  Status SetElementOrder(Container& original, Container& patch, Node& directive,
                         const Shape& shape) {
    Tree::Remove(patch, directive.key);
    if (!directive.value.is_list()) return BadArgType(kGoList, directive);
    const Nodes& order = tree_.Open(&directive)->nodes;
    const auto key = ListOf(directive.key, kSetElementOrder);
    if (!key) return meta::NewBadRequest("invalid patch format of setElementOrder list");
    ASSIGN_OR_RETURN(Node* const original_list, FindList(original, *key));
    ASSIGN_OR_RETURN(Node* const patch_list, FindList(patch, *key));
    ASSIGN_OR_RETURN(const PatchMeta meta, LookupPatchMetadataForSlice(shape, *key));
    RETURN_IF_ERROR(CheckOrder({order, original_list, patch_list, meta}));
    if (original_list == nullptr && patch_list == nullptr) return {};
    ASSIGN_OR_RETURN(const Nodes ordered, MergeInOrder({order, original_list, patch_list, meta}));
    Node* result = tree_.NewNode(Value::List({}));
    tree_.Open(result)->nodes = ordered;
    tree_.Set(original, *key, *result);
    Tree::Remove(patch, *key);
    return {};
  }

  Result<Nodes> MergeInOrder(const OrderedList& list) {
    const Nodes none;
    const Nodes& original = list.original == nullptr ? none : list.original->open->nodes;
    const Nodes& patch = list.patch == nullptr ? none : list.patch->open->nodes;
    const std::string_view merge_key = list.meta.merge_key;
    visits_ += original.size() + patch.size() + list.order.size();
    Nodes merged = original;
    Nodes stored = original;
    if (list.original == nullptr) {
      merged = WithoutDirectives(patch);
    } else if (list.patch != nullptr && list.meta.strategy == "merge") {
      ASSIGN_OR_RETURN(merged,
                       lists_.Merge(original, patch, {list.meta.shape, merge_key}, &stored));
    } else if (list.patch != nullptr) {
      merged = patch;
    }
    ASSIGN_OR_RETURN(const ListMerger::Parts parts,
                     lists_.Partition(merged, list.order, merge_key));
    ASSIGN_OR_RETURN(const bool maps, lists_.HoldMaps(original, patch));
    return lists_.Order(parts, {list.order, stored, merge_key, maps});
  }

  Nodes WithoutDirectives(const Nodes& nodes) {
    Nodes kept;
    for (Node* node : nodes) {
      if (Strip(*node, Nulls::kKept)) kept.push_back(node);
    }
    return kept;
  }

  // Checks that the elements of the patch are listed, in their order.
  Status CheckOrder(const OrderedList& list) {
    if (list.order.empty() || list.patch == nullptr) return {};
    const Nodes& patch = list.patch->open->nodes;
    const std::string_view merge_key = list.meta.merge_key;
    visits_ += patch.size() + list.order.size();
    Nodes named;
    for (Node* node : patch) {
      tree_.Resolve(node);
      if (!merge_key.empty() && !node->value.is_map()) return BadArgType(kGoMap, *node);
      if (merge_key.empty() || !IsDeletion(*node)) named.push_back(node);
    }
    std::size_t at = 0;
    for (std::size_t i = 0; at < named.size() && i < list.order.size();) {
      if (MemberOf(*named[at], kDirectiveMarker) != nullptr) {
        ++at;
        continue;
      }
      ASSIGN_OR_RETURN(const bool equal, SameElement(*named[at], *list.order[i], merge_key));
      if (equal) ++at;
      ++i;
    }
    if (at == named.size()) return {};
    return Plain("The order in patch list:\n" + PrintList(tree_, patch) + "\n doesn't match " +
                 std::string(kSetElementOrder) + " list:\n" + PrintList(tree_, list.order) + "\n");
  }

  Result<bool> SameElement(const Node& patched, const Node& ordered, std::string_view merge_key) {
    const Value* left = &patched.value;
    const Value* right = &ordered.value;
    if (!merge_key.empty()) {
      if (!ordered.value.is_map()) return BadArgType(kGoMap, ordered);
      left = MemberOf(patched, merge_key);
      right = MemberOf(ordered, merge_key);
      if (left == nullptr) return NoMergeKey(tree_, patched, merge_key);
      if (right == nullptr) return NoMergeKey(tree_, ordered, merge_key);
    }
    if (left->type() != right->type()) return false;
    // A Go server panics.
    if (!IsScalar(*left)) {
      return meta::NewBadRequest("invalid patch format of setElementOrder list");
    }
    return KeyOfScalar(*left) == KeyOfScalar(*right);
  }

  Status MergeMember(Container& original, Node* patch, const Shape& shape) {
    std::string_view key = patch->key;
    const bool deletions = key.starts_with(kDeleteFromPrimitiveList);
    if (deletions) {
      const auto list = ListOf(key, kDeleteFromPrimitiveList);
      if (!list) return meta::NewBadRequest("invalid patch format of primitive list");
      if (!list->empty()) key = *list;
    }
    if (patch->value.is_null()) {
      Tree::Remove(original, key);
      return {};
    }
    Node* const stored = Tree::Find(original, key);
    if (stored != nullptr) tree_.Resolve(stored);
    tree_.Resolve(patch);
    if (stored == nullptr || stored->value.type() != patch->value.type()) {
      if (!deletions) Replace(original, key, *patch);
      return {};
    }
    if (patch->value.is_map()) return MergeMaps(stored, patch, key, shape);
    if (patch->value.is_list()) return MergeLists(stored, patch, key, shape, deletions);
    Become(*stored, *patch);
    return {};
  }

  // Puts a patch that has no original to be merged with.
  void Replace(Container& original, std::string_view key, Node& patch) {
    if (Strip(patch, Nulls::kDropped)) {
      tree_.Set(original, key, patch);
    } else {
      Tree::Remove(original, key);
    }
  }

  // Follows mergeMapHandler.
  Status MergeMaps(Node* stored, Node* patch, std::string_view key, const Shape& shape) {
    ASSIGN_OR_RETURN(const PatchMeta meta, LookupPatchMetadataForStruct(shape, key));
    if (meta.strategy == "replace") {
      Become(*stored, *patch);
    } else {
      within_.push_back({stored, patch, meta.shape});
    }
    return {};
  }

  // Follows mergeSliceHandler.
  Status MergeLists(Node* stored, Node* patch, std::string_view key, const Shape& shape,
                    bool deletions) {
    ASSIGN_OR_RETURN(const PatchMeta meta, LookupPatchMetadataForSlice(shape, key));
    if (meta.strategy != "merge" && !deletions) {
      Become(*stored, *patch);
      return {};
    }
    Container& into = *tree_.Open(stored);
    ASSIGN_OR_RETURN(into.nodes, lists_.Merge(into.nodes, tree_.Open(patch)->nodes,
                                              {meta.shape, meta.merge_key, deletions}));
    return {};
  }

  // Removes directives and, unless they are kept, nulls. False: `node` is a directive itself.
  bool Strip(Node& node, Nulls nulls) {
    const std::optional<Value> value = StripValue(*tree_.ToValue(&node), nulls, tree_.arena());
    if (!value) return false;
    node.value = *value;
    node.open = nullptr;
    return true;
  }

  Tree& tree_;
  const StrategicMergePatchLimits& limits_;
  std::vector<MapMerge> within_;  // Merges within the map that is being merged.
  std::size_t visits_ = 0;
  ListMerger lists_;
};

}  // namespace

Result<StrategicMerge> ApplyStrategicMergePatch(Value document, Value patch, const Schema& schema,
                                                runtime::Arena& arena,
                                                const StrategicMergePatchLimits& limits) {
  if (!document.is_map() || !patch.is_map()) return meta::NewBadRequest("invalid JSON document");
  Tree tree(arena);
  Node* const root = tree.NewNode(document);
  Node* const left = tree.NewNode(patch);
  MapMerger merger(tree, limits);
  RETURN_IF_ERROR(merger.Run(root, left, schema));
  const std::optional<Value> object = tree.ToValue(root);
  const std::optional<Value> rest = tree.ToValue(left);
  if (!object || !rest) return meta::NewBadRequest("invalid JSON document");
  return StrategicMerge{.object = *object, .patch = *rest, .visits = merger.visits()};
}

}  // namespace apiserver::v0::patch
