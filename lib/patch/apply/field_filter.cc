#include "apiserver/patch/apply/field_filter.h"

#include <deque>
#include <utility>

#include "patch/apply/set_builder.h"

namespace apiserver::v0::patch::apply {

using runtime::Arena;

// The elements that may follow at one place of a pattern.
struct FieldFilter::Node {
  bool everything = false;
  Node* any = nullptr;
  std::vector<std::pair<PathElement, Node*>> some;

  const Node* Next(const PathElement& element) const {
    if (any != nullptr) return any;
    for (const auto& [known, node] : some) {
      if (known == element) return node;
    }
    return nullptr;
  }
};

struct FieldFilter::Rep {
  Arena arena;
  FieldSet excluded;
  // A deque, because nodes point to each other and must not move.
  std::deque<Node> nodes;
  Node* root = nullptr;

  // A filter outlives the patterns it is made of, so it keeps copies of their elements.
  PathElement Own(const PathElement& element) {
    const FieldSet one = FieldSet().Insert(std::span(&element, 1), arena);
    return Copy(one, arena).entries()[0].element;
  }

  void Add(const FieldPattern& pattern) {
    Node* at = root;
    for (const std::optional<PathElement>& element : pattern) at = Step(*at, element);
    at->everything = true;
  }

  Node* Step(Node& from, const std::optional<PathElement>& element) {
    if (!element && from.any != nullptr) return from.any;
    for (const auto& [known, node] : from.some) {
      if (element && known == *element) return node;
    }
    Node* const made = &nodes.emplace_back();
    if (element) {
      from.some.emplace_back(Own(*element), made);
    } else {
      from.any = made;
    }
    return made;
  }
};

// Follows Set.FilterIncludeMatches of fieldpath.
class FieldFilter::Includer {
 public:
  explicit Includer(Arena& arena) : out_(arena) {}

  FieldSet Visit(FieldSet set, const Node& node) {
    if (node.everything) return set;
    const std::size_t mark = out_.Mark();
    for (FieldSet::Entry entry : set.entries()) {
      const Node* const next = node.Next(entry.element);
      if (next == nullptr) continue;
      entry.children = Visit(entry.children, *next);
      out_.Add(entry);
    }
    return out_.FinishOr(mark, set);
  }

 private:
  SetBuilder out_;
};

FieldFilter::FieldFilter(std::shared_ptr<const Rep> rep, bool include)
    : rep_(std::move(rep)), include_(include) {}

FieldFilter FieldFilter::Exclude(FieldSet fields) {
  auto rep = std::make_shared<Rep>();
  rep->excluded = Copy(fields, rep->arena);
  return {std::move(rep), /*include=*/false};
}

FieldFilter FieldFilter::Include(std::span<const FieldPattern> patterns) {
  auto rep = std::make_shared<Rep>();
  rep->root = &rep->nodes.emplace_back();
  rep->root->everything = patterns.empty();
  for (const FieldPattern& pattern : patterns) rep->Add(pattern);
  return {std::move(rep), /*include=*/true};
}

FieldSet FieldFilter::Filter(FieldSet set, Arena& arena) const {
  if (include_) return Includer(arena).Visit(set, *rep_->root);
  return set.RecursiveDifference(rep_->excluded, arena);
}

}  // namespace apiserver::v0::patch::apply
