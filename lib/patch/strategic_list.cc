#include "patch/strategic_list.h"

#include <optional>
#include <string>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/meta/errors.h"

#include "base/status_macros.h"
#include "patch/go_print.h"
#include "runtime/scalar.h"

namespace apiserver::v0::patch {

using runtime::Value;
using Node = Tree::Node;

namespace {

// Returns the key by which Go's index() compares. nullopt: it is no scalar.
std::optional<ScalarKey> KeyOf(const Node& node, std::string_view merge_key, bool maps) {
  const Value* value = &node.value;
  static constexpr ScalarKey kNull;
  if (maps) value = MemberOf(node, merge_key);
  if (value == nullptr) return kNull;
  if (!IsScalar(*value)) return std::nullopt;
  return KeyOfScalar(*value);
}

Ranks RanksIn(const Nodes& order, std::string_view merge_key, bool maps) {
  // Stands for a value that is no scalar, which no key finds.
  constexpr ScalarKey kNobody = {.type = Value::Type::kMap, .text = ""};
  std::vector<ScalarKey> keys;
  keys.reserve(order.size());
  for (const Node* node : order) keys.push_back(KeyOf(*node, merge_key, maps).value_or(kNobody));
  return Ranks(keys);
}

std::ptrdiff_t RankOf(const Ranks& ranks, const std::optional<ScalarKey>& key) {
  return key ? ranks.Of(*key) : -1;
}

// Sorts by rank; elements to be deleted come last.
std::vector<Ranked> Sorted(const std::vector<Ranked>& elements, bool maps) {
  std::vector<Ranked> sorted;
  std::vector<Ranked> deletions;
  sorted.reserve(elements.size());
  for (const Ranked& each : elements) {
    (maps && IsDeletion(*each.node) ? deletions : sorted).push_back(each);
  }
  SortByRank(sorted);
  sorted.insert(sorted.end(), deletions.begin(), deletions.end());
  return sorted;
}

// The stored elements, which are removed by key, and the array that Go is left with.
class Removals {
 public:
  Removals(const Nodes& original, std::string_view merge_key)
      : original_(original), alive_(original.size(), true), last_(original.size()) {
    for (std::size_t i = 0; i < original.size(); ++i) {
      const Value* const value = MemberOf(*original[i], merge_key);
      if (value != nullptr && IsScalar(*value)) places_[KeyOfScalar(*value)].push_back(i);
    }
  }

  void Remove(const ScalarKey& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return;
    for (const std::size_t place : found->second) {
      while (!alive_[last_ - 1]) --last_;
      // Go moves the elements behind up by one, so that the last one is there twice.
      freed_.push_back(original_[last_ - 1]);
      alive_[place] = false;
    }
    places_.erase(found);
  }

  Nodes Left() const {
    Nodes left;
    for (std::size_t i = 0; i < original_.size(); ++i) {
      if (alive_[i]) left.push_back(original_[i]);
    }
    return left;
  }
  // The nodes behind the elements that are left.
  Nodes Freed() const { return {freed_.rbegin(), freed_.rend()}; }

 private:
  const Nodes& original_;
  std::vector<bool> alive_;
  std::size_t last_;
  ByKey<std::vector<std::size_t>> places_;
  Nodes freed_;
};

Status BadPatchType(Tree& tree, const Node& node, const Value& directive) {
  return Plain("unknown patch type: " + PrintGoText(directive) +
               " in map: " + PrintGo(tree.ToValue(&node).value_or(Value())));
}

}  // namespace

Status Plain(std::string message) { return {Reason::kUnknown, std::move(message)}; }

const Value* MemberOf(const Node& node, std::string_view key) {
  if (node.open == nullptr) return node.value.Find(key);
  if (!node.open->map) return nullptr;
  const Node* const member = Tree::Find(*node.open, key);
  return member == nullptr ? nullptr : &member->value;
}

bool IsDeletion(const Node& node) {
  const Value* const directive = MemberOf(node, kDirectiveMarker);
  return directive != nullptr && directive->is_string() && directive->AsString() == "delete";
}

Status NoMergeKey(Tree& tree, const Node& node, std::string_view merge_key) {
  return Plain("map: " + PrintGo(tree.ToValue(&node).value_or(Value())) +
               " does not contain declared merge key: " + std::string(merge_key));
}

Status BadArgType(std::string_view expected, const Node& node) {
  const Value& value = node.value;
  const std::string_view received = value.is_null() ? "%!s(<nil>)" : runtime::GoTypeOf(value);
  return Plain("expected a " + std::string(expected) + ", but received a " + std::string(received));
}

std::string PrintList(Tree& tree, const Nodes& nodes) {
  runtime::ListBuilder items(tree.arena());
  for (const Node* node : nodes) items.Add(tree.ToValue(node).value_or(Value()));
  return PrintGo(items.Build());
}

Result<bool> ListMerger::HoldMaps(const Nodes& original, const Nodes& patch) {
  std::optional<Value::Type> type;
  for (const Nodes* list : {&original, &patch}) {
    for (Node* node : *list) {
      tree_.Resolve(node);
      const Value::Type each = node->value.type();
      if (!type && each == Value::Type::kList) {
        return meta::NewGenericServerResponse(422, "", {}, "");  // Lists of lists.
      }
      // A Go server panics if the first one is null.
      if (each == Value::Type::kNull || each != type.value_or(each)) {
        return Plain("list element types are not identical: [" + PrintList(tree_, original) + " " +
                     PrintList(tree_, patch) + "]");
      }
      type = each;
    }
  }
  if (!type) return Plain("no elements in any of the given slices");
  return *type == Value::Type::kMap;
}

// Follows mergeSlice in apimachinery's strategicpatch. `stored` is the original as Go leaves it:
// its functions delete in place.
Result<Nodes> ListMerger::Merge(const Nodes& original, const Nodes& patch, const ListRule& rule,
                                Nodes* stored) {
  visits_ += original.size() + patch.size();
  if (stored != nullptr) *stored = original;
  if (original.empty() && patch.empty()) return original;
  ASSIGN_OR_RETURN(const bool maps, HoldMaps(original, patch));
  if (!maps) {
    if (rule.deletions) {
      const Ranks deleted = RanksIn(patch, "", /*maps=*/false);
      Nodes kept;
      for (Node* node : original) {
        if (deleted.Of(KeyOfScalar(node->value)) < 0) kept.push_back(node);
      }
      return kept;
    }
    const Nodes merged = MergeScalars(original, patch);
    ASSIGN_OR_RETURN(const Parts parts, Partition(merged, patch, rule.merge_key));
    return Order(parts, {patch, original, rule.merge_key, maps});
  }
  if (rule.merge_key.empty()) {
    return Plain("cannot merge lists without merge key for " + std::string(GoKind(rule.shape)));
  }
  ASSIGN_OR_RETURN(Cleared lists, ObeyDirectives(original, patch, rule.merge_key));
  ASSIGN_OR_RETURN(const Nodes merged, MergeMaps(lists, rule));
  if (stored != nullptr) *stored = lists.stored;
  ASSIGN_OR_RETURN(const Parts parts, Partition(merged, lists.patch, rule.merge_key));
  return Order(parts, {lists.patch, lists.original, rule.merge_key, maps});
}

Nodes ListMerger::MergeScalars(const Nodes& original, const Nodes& patch) {
  Nodes both = original;
  both.insert(both.end(), patch.begin(), patch.end());
  // As upstream does, this removes duplicates among the stored elements too.
  const Ranks first = RanksIn(both, "", /*maps=*/false);
  Nodes merged;
  merged.reserve(both.size());
  std::ptrdiff_t rank = 0;
  for (Node* node : both) {
    if (first.Of(KeyOfScalar(node->value)) == rank++) merged.push_back(node);
  }
  return merged;
}

// Follows mergeSliceWithSpecialElements.
Result<ListMerger::Cleared> ListMerger::ObeyDirectives(const Nodes& original, const Nodes& patch,
                                                       std::string_view merge_key) {
  Cleared lists;
  std::optional<Removals> removals;
  for (Node* node : patch) {
    const Value* const directive = MemberOf(*node, kDirectiveMarker);
    if (directive == nullptr) {
      lists.patch.push_back(node);
      continue;
    }
    const std::string_view word = directive->is_string() ? directive->AsString() : "";
    if (word == "delete") {
      const Value* const key = MemberOf(*node, merge_key);
      if (key == nullptr) return NoMergeKey(tree_, *node, merge_key);
      if (!removals) removals.emplace(original, merge_key);
      if (IsScalar(*key)) removals->Remove(KeyOfScalar(*key));
    } else if (word == "replace") {
      lists.replaced = true;
    } else if (word == "merge") {
      return Plain("merging lists cannot yet be specified in the patch");
    } else {
      return BadPatchType(tree_, *node, *directive);
    }
  }
  lists.original = removals ? removals->Left() : original;
  lists.stored = removals ? removals->Freed() : Nodes();
  return lists;
}

// Follows mergeSliceWithoutSpecialElements. Elements that are in both lists are merged later.
Result<Nodes> ListMerger::MergeMaps(Cleared& lists, const ListRule& rule) {
  Nodes freed = std::move(lists.stored);
  lists.stored = lists.original;
  if (lists.replaced) {
    lists.stored.insert(lists.stored.end(), freed.begin(), freed.end());
    lists.original = std::exchange(lists.patch, {});
    return lists.original;
  }
  ByKey<Node*> by_key;
  for (Node* node : lists.original) {
    const Value* const key = MemberOf(*node, rule.merge_key);
    if (key != nullptr && IsScalar(*key)) by_key.emplace(KeyOfScalar(*key), node);
  }
  Nodes merged = lists.original;
  std::size_t added = 0;
  for (Node* node : lists.patch) {
    const Value* const key = MemberOf(*node, rule.merge_key);
    if (key == nullptr) return NoMergeKey(tree_, *node, rule.merge_key);
    if (!IsScalar(*key)) {  // A Go server panics.
      return meta::NewBadRequest("merge key " + field::Quote(rule.merge_key) +
                                 " of a list element is no scalar");
    }
    const auto [place, fresh] = by_key.emplace(KeyOfScalar(*key), node);
    if (fresh) {
      merged.push_back(node);
      if (added < freed.size()) freed[added++] = node;
    } else if (key->is_null()) {
      Tree::Remove(*tree_.Open(place->second), rule.merge_key);  // A null removes the key.
      return NoMergeKey(tree_, *place->second, rule.merge_key);
    } else {
      tasks_.push_back({place->second, node, rule.shape});
    }
  }
  lists.stored.insert(lists.stored.end(), freed.begin(), freed.end());
  return merged;
}

// Follows partitionMapsByPresentInList and partitionPrimitivesByPresentInList.
Result<ListMerger::Parts> ListMerger::Partition(const Nodes& elements, const Nodes& listed,
                                                std::string_view merge_key) {
  const bool maps = !merge_key.empty();
  std::ptrdiff_t first_no_map = static_cast<std::ptrdiff_t>(listed.size());
  for (std::size_t i = listed.size(); i > 0; --i) {
    const Value& value = listed[i - 1]->value;
    if (maps && !value.is_map()) first_no_map = static_cast<std::ptrdiff_t>(i) - 1;
    // A Go server panics.
    if (!maps && !IsScalar(value)) {
      return meta::NewBadRequest("invalid patch format of setElementOrder list");
    }
  }
  const Ranks ranks = RanksIn(listed, merge_key, maps);
  Parts parts;
  for (Node* node : elements) {
    if (maps && !node->value.is_map()) return BadArgType(kGoMap, *node);
    if (maps && MemberOf(*node, merge_key) == nullptr) return NoMergeKey(tree_, *node, merge_key);
    if (!maps && !IsScalar(node->value)) {
      return meta::NewBadRequest("invalid patch format of setElementOrder list");
    }
    const std::ptrdiff_t rank = RankOf(ranks, KeyOf(*node, merge_key, maps));
    if (first_no_map < static_cast<std::ptrdiff_t>(listed.size()) &&
        (rank < 0 || rank > first_no_map)) {
      return Plain("value for key " + std::to_string(first_no_map) + " is not a map");
    }
    if (rank < 0) {
      parts.others.push_back(node);
    } else {
      parts.listed.push_back({node, rank, -1});
    }
  }
  return parts;
}

// Follows normalizeElementOrder: the patch's order decides among its elements, the stored one among
// the others.
Result<Nodes> ListMerger::Order(const Parts& parts, const Orders& orders) {
  const bool maps = orders.maps;
  if (maps) {
    // The elements in the parts have been checked already.
    RETURN_IF_ERROR(CheckMergeKeys(orders.patch, orders.merge_key));
    RETURN_IF_ERROR(CheckMergeKeys(orders.stored, orders.merge_key));
  }
  const Ranks stored = RanksIn(orders.stored, orders.merge_key, maps);
  std::vector<Ranked> listed = parts.listed;
  for (Ranked& each : listed) {
    each.server_rank = RankOf(stored, KeyOf(*each.node, orders.merge_key, maps));
  }
  std::vector<Ranked> others;
  others.reserve(parts.others.size());
  for (Node* node : parts.others) {
    const std::ptrdiff_t rank = RankOf(stored, KeyOf(*node, orders.merge_key, maps));
    others.push_back({node, rank, rank});
  }
  return MergeSorted(Sorted(others, maps), Sorted(listed, maps));
}

Status ListMerger::CheckMergeKeys(const Nodes& elements, std::string_view merge_key) {
  for (const Node* node : elements) {
    if (!node->value.is_map()) return BadArgType(kGoMap, *node);
    if (MemberOf(*node, merge_key) == nullptr) return NoMergeKey(tree_, *node, merge_key);
  }
  return {};
}

}  // namespace apiserver::v0::patch
