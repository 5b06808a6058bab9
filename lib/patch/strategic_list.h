#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "patch/strategic_order.h"
#include "patch/strategic_schema.h"
#include "patch/tree.h"

namespace apiserver::inline v0::patch {

// Returns an error without a code, for which servers answer 500.
Status Plain(std::string message);

// A map that is still to be merged into another one.
struct MapMerge {
  Tree::Node* original;
  Tree::Node* patch;
  Shape shape;
};

// The rule by which two lists are merged.
struct ListRule {
  Shape shape;  // The shape of the elements.
  std::string_view merge_key;
  bool deletions = false;  // The patch lists scalars to be deleted.
};

// Merges lists by the merge keys of their elements: mergeSlice of k8s.io/apimachinery's
// strategicpatch and its helpers. Linear, while those search whole lists for each element. Errors
// with the code 500 are Go's habit.
class ListMerger {
 public:
  // Elements found in both lists go to `tasks`; `visits` counts the elements that are read.
  ListMerger(Tree& tree, std::vector<MapMerge>& tasks, std::size_t& visits)
      : tree_(tree), tasks_(tasks), visits_(visits) {}

  // `stored`, if not null, becomes the content of a Go server's array of the stored list after the
  // merge.
  Result<Nodes> Merge(const Nodes& original, const Nodes& patch, const ListRule& rule,
                      Nodes* stored = nullptr);

  struct Parts {
    std::vector<Ranked> listed;  // Their own rank is the position in `listed`.
    Nodes others;
  };
  // Splits elements into those whose merge key (or value, for scalars) is in `listed`, and the
  // others.
  Result<Parts> Partition(const Nodes& elements, const Nodes& listed, std::string_view merge_key);

  struct Orders {
    const Nodes& patch;
    const Nodes& stored;
    std::string_view merge_key;
    bool maps;
  };
  // Merges the listed elements, in the order of the patch, with the others, in the order of the
  // stored list.
  Result<Nodes> Order(const Parts& parts, const Orders& orders);

  // Returns whether both lists hold maps. Otherwise they hold scalars of one type; all else is an
  // error.
  Result<bool> HoldMaps(const Nodes& original, const Nodes& patch);

 private:
  // The lists once the directives among the patch's elements have been obeyed.
  struct Cleared {
    Nodes original;
    Nodes patch;
    Nodes stored;
    bool replaced = false;
  };
  Result<Cleared> ObeyDirectives(const Nodes& original, const Nodes& patch,
                                 std::string_view merge_key);
  Result<Nodes> MergeMaps(Cleared& lists, const ListRule& rule);
  static Nodes MergeScalars(const Nodes& original, const Nodes& patch);

  // Checks that all are maps with the merge key.
  Status CheckMergeKeys(const Nodes& elements, std::string_view merge_key);

  Tree& tree_;
  std::vector<MapMerge>& tasks_;
  std::size_t& visits_;
};

// `map: %v does not contain declared merge key: %s`.
Status NoMergeKey(Tree& tree, const Tree::Node& node, std::string_view merge_key);
// `expected a %s, but received a %s`.
Status BadArgType(std::string_view expected, const Tree::Node& node);
constexpr std::string_view kGoMap = "map[string]interface {}";
constexpr std::string_view kGoList = "[]interface {}";
// Null: `node` is no map, or has no such member. The value of an opened member is stale.
const runtime::Value* MemberOf(const Tree::Node& node, std::string_view key);
// Prints the list as a Go server does.
std::string PrintList(Tree& tree, const Nodes& nodes);
bool IsDeletion(const Tree::Node& node);

constexpr std::string_view kDirectiveMarker = "$patch";

}  // namespace apiserver::inline v0::patch
