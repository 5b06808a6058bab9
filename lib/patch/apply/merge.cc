#include <memory>
#include <optional>

#include "apiserver/patch/apply/typed.h"

#include "patch/apply/errors.h"
#include "patch/apply/list_items.h"
#include "patch/apply/type.h"
#include "runtime/member_index.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Arena;
using runtime::Member;
using runtime::Value;

// The outcome of merging two values.
struct Merged {
  std::optional<Value> value;
  bool same = false;  // It is the left value itself.
};

// The items of a list by their elements.
struct Items {
  std::span<const Value> values;
  std::vector<PathElement> elements;
};

// Both lists of a merge, with every element as a number.
class ItemPair {
 public:
  ItemPair(const Items& left, const Items& right) : left_(left), right_(right) {
    std::vector<PathElement> all = left.elements;
    all.insert(all.end(), right.elements.begin(), right.elements.end());
    const std::size_t count = NumberElements(all, ids_);
    first_left_.resize(count, kNone);
    first_right_.resize(count, kNone);
    merged_.resize(count);
    for (std::size_t i = 0; i < left.elements.size(); ++i) {
      std::uint32_t& first = first_left_[LeftId(i)];
      // A duplicate item merges with nothing.
      first = first == kNone ? static_cast<std::uint32_t>(i) : kTwice;
    }
    for (std::size_t i = 0; i < right.elements.size(); ++i) {
      std::uint32_t& first = first_right_[RightId(i)];
      if (first != kNone) twice_.push_back(&right.elements[i]);
      first = static_cast<std::uint32_t>(i);
    }
  }

  // The right list's items that the left list has twice.
  std::span<const PathElement* const> twice() const { return twice_; }

  std::uint32_t LeftId(std::size_t i) const { return ids_[i]; }
  std::uint32_t RightId(std::size_t i) const { return ids_[left_.elements.size() + i]; }
  bool InLeft(std::uint32_t id) const { return first_left_[id] != kNone; }
  bool InRight(std::uint32_t id) const { return first_right_[id] != kNone; }
  bool IsMerged(std::uint32_t id) const { return merged_[id]; }
  void SetMerged(std::uint32_t id) { merged_[id] = true; }

  // Null: there is none.
  const Value* Left(std::uint32_t id) const {
    if (!InLeft(id)) return nullptr;
    return first_left_[id] == kTwice ? &null_ : &left_.values[first_left_[id]];
  }
  const Value* Right(std::uint32_t id) const {
    return InRight(id) ? &right_.values[first_right_[id]] : nullptr;
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::uint32_t kTwice = 0xFFFFFFFE;

  const Items& left_;
  const Items& right_;
  Value null_;                      // Stands for an item that is there twice.
  std::vector<std::uint32_t> ids_;  // The numbers of the left items, then those of the right ones.
  std::vector<std::uint32_t> first_left_;
  std::vector<std::uint32_t> first_right_;
  std::vector<bool> merged_;
  std::vector<const PathElement*> twice_;
};

// Follows mergingWalker in structured-merge-diff's typed package, with the right value kept.
class Merger {
 public:
  explicit Merger(Arena& arena) : arena_(arena) {}

  // Null: absent, on at most one side.
  Merged Merge(const Value* left, const Value* right, const Type& type) {
    // A value on one side only is taken as it is.
    if (right == nullptr) return {*left, true};
    if (left == nullptr) return {*right, false};
    switch (type.Deduce(*right).shape) {
      case Type::Shape::kMap:
        if (type.map_atomic || (left->members().empty() && right->members().empty())) break;
        if (left->members().empty()) return {*right, false};
        return MergeMaps(*left, *right, type);
      case Type::Shape::kList:
        if (type.list_atomic || (left->items().empty() && right->items().empty())) break;
        return MergeLists(*left, *right, type);
      case Type::Shape::kScalar:
        break;
      case Type::Shape::kInvalid:
        errors_.Add(path_, kInvalidAtom);
        return {};
    }
    return *left == *right ? Merged{*left, true} : Merged{*right, false};
  }

  const Errors& errors() const { return errors_; }

 private:
  bool TooDeep() {
    if (path_.size() < FieldSet::kDepthMax) return false;
    errors_.Add({}, kTooDeep);
    return true;
  }

  Merged MergeMaps(const Value& left, const Value& right, const Type& type);
  Merged MergeLists(const Value& left, const Value& right, const Type& type);
  bool IndexItems(const Value& list, const Type& type, Items& items);
  // Returns false if the right list has an item twice.
  bool MergeItems(const Items& left, const Items& right, const Type& type);
  bool MergeSameItems(const Items& left, const Items& right, const Type& type);
  void AddDuplicate(const PathElement& element);
  void AddItem(const Type& type, const PathElement& element, const Value* left, const Value* right,
               std::span<const Value> lefts);

  Arena& arena_;
  Path path_;
  Errors errors_;
  // The items of the open lists, one list above the other, and the left index of each.
  static constexpr std::size_t kChanged = static_cast<std::size_t>(-1);
  std::vector<Value> items_;
  std::vector<std::size_t> origins_;
  std::vector<Member> members_;  // The same of maps.
};

Merged Merger::MergeMaps(const Value& left, const Value& right, const Type& type) {
  if (TooDeep()) return {};
  const std::span<const Member> lefts = left.members();
  const runtime::MemberIndex rights(right.members());
  const std::size_t mark = members_.size();
  // Members are collected from the first one that differs.
  bool same = true;
  std::size_t found = 0;
  for (std::size_t i = 0; i < lefts.size(); ++i) {
    const Value* const other = rights.Find(lefts[i].key);
    Merged merged{lefts[i].value, true};
    if (other != nullptr) {
      ++found;
      bool declared = false;
      const Type* const field = type.FieldType(lefts[i].key, declared);
      path_.push_back(PathElement::FieldName(lefts[i].key));
      merged = Merge(&lefts[i].value, other, field == nullptr ? TypeGraph::Invalid() : *field);
      path_.pop_back();
    }
    if (same && !merged.same) {
      same = false;
      members_.insert(members_.end(), lefts.begin(),
                      lefts.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (!same && merged.value) members_.push_back({lefts[i].key, *merged.value});
  }
  if (found != right.members().size()) {
    if (same) members_.insert(members_.end(), lefts.begin(), lefts.end());
    same = false;
    const runtime::MemberIndex index(lefts);
    for (const Member& member : right.members()) {
      if (index.Find(member.key) == nullptr) members_.push_back(member);
    }
  }
  if (same) return left.is_map() ? Merged{left, true} : Merged{};
  const std::span<const Member> made(members_.data() + mark, members_.size() - mark);
  Merged result;
  if (!made.empty()) {
    auto* const to =
        static_cast<Member*>(arena_.Allocate(made.size() * sizeof(Member), alignof(Member)));
    std::uninitialized_copy(made.begin(), made.end(), to);
    result.value = Value::Map({to, made.size()});
  }
  members_.resize(mark);
  return result;
}

bool Merger::IndexItems(const Value& list, const Type& type, Items& items) {
  items.values = list.items();
  items.elements.reserve(items.values.size());
  const std::size_t errors = errors_.size();
  std::string error;
  for (std::size_t i = 0; i < items.values.size(); ++i) {
    PathElement element;
    if (ListItemToPathElement(type, items.values[i], arena_, element, error)) {
      items.elements.push_back(element);
    } else {
      errors_.Add(path_, "element " + std::to_string(i) + ": " + error);
    }
  }
  return errors_.size() == errors;
}

Merged Merger::MergeLists(const Value& left, const Value& right, const Type& type) {
  if (TooDeep()) return {};
  Items lefts;
  Items rights;
  const bool right_good = IndexItems(right, type, rights);
  if (!IndexItems(left, type, lefts) || !right_good) return {};
  const std::size_t mark = items_.size();
  const bool merged = lefts.elements == rights.elements ? MergeSameItems(lefts, rights, type)
                                                        : MergeItems(lefts, rights, type);
  if (!merged) return {};
  const std::span<const Value> made(items_.data() + mark, items_.size() - mark);
  Merged result;
  bool same = made.size() == lefts.values.size();
  for (std::size_t i = 0; i < made.size() && same; ++i) same = origins_[mark + i] == i;
  if (same && left.is_list()) {
    result = {left, true};
  } else if (!made.empty()) {
    runtime::ListBuilder list(arena_);
    for (const Value& item : made) list.Add(item);
    result = {list.Build(), false};
  }
  items_.resize(mark);
  origins_.resize(mark);
  return result;
}

void Merger::AddItem(const Type& type, const PathElement& element, const Value* left,
                     const Value* right, std::span<const Value> lefts) {
  // Upstream drops errors within items; validated items have none.
  const std::size_t errors = errors_.size();
  path_.push_back(element);
  const Merged merged = Merge(left, right, *type.items);
  path_.pop_back();
  errors_.Truncate(errors);
  if (!merged.value) return;
  items_.push_back(*merged.value);
  // A duplicate left item counts as null, which is not one of the list's.
  const bool origin = merged.same && left >= lefts.data() && left < lefts.data() + lefts.size();
  origins_.push_back(origin ? static_cast<std::size_t>(left - lefts.data()) : kChanged);
}

void Merger::AddDuplicate(const PathElement& element) {
  errors_.Add(path_, "duplicate entries for key " + element.ToString());
}

bool Merger::MergeSameItems(const Items& left, const Items& right, const Type& type) {
  std::vector<std::uint32_t> ids;
  if (NumberElements(right.elements, ids) != ids.size()) return MergeItems(left, right, type);
  for (std::size_t i = 0; i < left.elements.size(); ++i) {
    AddItem(type, left.elements[i], &left.values[i], &right.values[i], left.values);
  }
  return true;
}

// Follows mergingWalker.visitListItems: items of the right list keep its order, and the others stay
// near their neighbours in the left one.
bool Merger::MergeItems(const Items& left, const Items& right, const Type& type) {
  ItemPair pair(left, right);
  for (const PathElement* element : pair.twice()) AddDuplicate(*element);
  if (!pair.twice().empty()) return false;
  // The items of both lists in the order of the right one; `shared` is the next one to come.
  std::vector<std::uint32_t> order;
  for (std::size_t i = 0; i < right.elements.size(); ++i) {
    if (pair.InLeft(pair.RightId(i))) order.push_back(pair.RightId(i));
  }
  std::size_t shared = 0;
  const std::size_t left_size = left.elements.size();
  const std::size_t right_size = right.elements.size();
  for (std::size_t l = 0, r = 0; l < left_size || r < right_size;) {
    if (l < left_size && r < right_size) {
      const std::uint32_t id = pair.LeftId(l);
      if (id == pair.RightId(r)) {
        pair.SetMerged(id);
        AddItem(type, left.elements[l], pair.Left(id), pair.Right(id), left.values);
        ++l;
        ++r;
        ++shared;
        continue;
      }
      if (pair.InRight(id) && shared < order.size() && order[shared] != id) {
        // In both lists, but another one comes first.
        ++l;
        continue;
      }
    }
    if (l < left_size) {
      const std::uint32_t id = pair.LeftId(l);
      if (!pair.InRight(id)) {
        AddItem(type, left.elements[l], &left.values[l], nullptr, left.values);
        ++l;
        continue;
      }
      if (pair.IsMerged(id)) ++l;
    }
    if (r < right_size) {
      const std::uint32_t id = pair.RightId(r);
      pair.SetMerged(id);
      AddItem(type, right.elements[r], pair.Left(id), pair.Right(id), left.values);
      ++r;
      if (shared < order.size() && order[shared] == id) ++shared;
    }
  }
  return true;
}

}  // namespace

Result<TypedValue> TypedValue::Merge(const TypedValue& partial, Arena& arena) const {
  if (type_ != partial.type_) {
    return Status(Reason::kBadRequest, "expected objects with types from the same schema");
  }
  Merger merger(arena);
  const Merged merged = merger.Merge(&value_, &partial.value_, *type_);
  if (!merger.errors().empty()) return merger.errors().ToStatus();
  return TypedValue(merged.value.value_or(Value()), *type_);
}

}  // namespace apiserver::v0::patch::apply
