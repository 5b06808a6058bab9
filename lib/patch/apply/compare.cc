#include <algorithm>

#include "apiserver/patch/apply/typed.h"

#include "patch/apply/errors.h"
#include "patch/apply/list_items.h"
#include "patch/apply/scalars.h"
#include "patch/apply/set_builder.h"
#include "patch/apply/type.h"
#include "runtime/member_index.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Arena;
using runtime::Member;
using runtime::Value;

// The membership of a place itself in the three sets.
struct Marks {
  bool removed = false;
  bool modified = false;
  bool added = false;
};

// One side's item, by its element.
struct Item {
  PathElement element;
  const Value* value = nullptr;
};

// The same memory holds the same content. What a merge has not changed is such memory, so that most
// of an object needs no comparison.
bool SameParts(const Value& a, const Value& b) {
  if (a.type() != b.type() || a.size() != b.size()) return false;
  if (a.is_map()) return a.members().data() == b.members().data();
  return a.is_list() && a.items().data() == b.items().data();
}

// The same text twice, where there may be text: most of an object's leaves.
bool IsSameText(const Type& type, const Value& a, const Value& b) {
  return IsText(type, a) && b.is_string() && a.AsString() == b.AsString();
}

// Follows compareWalker in structured-merge-diff's typed package.
class Comparer {
 public:
  explicit Comparer(Arena& arena) : removed_(arena), modified_(arena), added_(arena) {}

  // Adds the differences below the place to the open sets, and returns the marks of the place
  // itself. Null: absent, on at most one side.
  Marks Compare(const Value* left, const Value* right, const Type& type) {
    Marks marks;
    if (left != nullptr && right != nullptr && SameParts(*left, *right)) return marks;
    bool leaf = false;
    if (left == nullptr || right == nullptr) {
      leaf =
          CompareAs(type.Deduce(left == nullptr ? *right : *left).shape, left, right, type, marks);
    } else {
      const Type::Deduced deduced = type.Deduce(*left);
      const Type::Deduced other = type.Deduce(*right);
      // The place held another kind of value: everything in both has changed.
      if (!(deduced == other)) CompareAs(deduced.shape, left, right, type, marks);
      CompareAs(other.shape, left, right, type, marks);
    }
    if (!leaf && left == nullptr) marks.added = true;
    if (!leaf && right == nullptr) marks.removed = true;
    return marks;
  }

  Result<Comparison> Run(const Value& left, const Value& right, const Type& type) {
    Compare(&left, &right, type);
    if (!errors_.empty()) return errors_.ToStatus();
    return Comparison{removed_.Finish(0), modified_.Finish(0), added_.Finish(0)};
  }

 private:
  struct Levels {
    std::size_t removed;
    std::size_t modified;
    std::size_t added;
  };
  Levels Mark() const { return {removed_.Mark(), modified_.Mark(), added_.Mark()}; }

  // Closes the entries added since `levels` as those below `element`.
  void Close(const Levels& levels, const PathElement& element, const Marks& marks) {
    Close(removed_, levels.removed, element, marks.removed);
    Close(modified_, levels.modified, element, marks.modified);
    Close(added_, levels.added, element, marks.added);
  }
  static void Close(SetBuilder& out, std::size_t mark, const PathElement& element, bool member) {
    if (!member && out.Mark() == mark) return;
    out.Add({element, out.Finish(mark), member});
  }

  static void Leaf(const Value* left, const Value* right, Marks& marks) {
    if (left == nullptr) {
      marks.added = true;
    } else if (right == nullptr) {
      marks.removed = true;
    } else if (!ValuesEqual(*left, *right)) {
      marks.modified = true;
    }
  }

  void Child(const PathElement& element, const Value* left, const Value* right, const Type* type) {
    const Levels levels = Mark();
    path_.push_back(element);
    const Marks marks = Compare(left, right, type == nullptr ? TypeGraph::Invalid() : *type);
    path_.pop_back();
    Close(levels, element, marks);
  }

  bool TooDeep() {
    if (path_.size() < FieldSet::kDepthMax) return false;
    errors_.Add({}, kTooDeep);
    return true;
  }

  // Returns true if the place was a leaf.
  bool CompareAs(Type::Shape shape, const Value* left, const Value* right, const Type& type,
                 Marks& marks);
  bool CompareScalars(const Value* left, const Value* right, const Type& type, Marks& marks);
  void CompareMaps(std::span<const Member> left, std::span<const Member> right, const Type& type);
  void CompareLists(std::span<const Value> left, std::span<const Value> right, const Type& type);
  void Index(std::span<const Value> list, const Type& type, std::vector<Item>& items);
  void CompareItems(std::span<const Item> left, std::span<const Item> right, const Type& type);

  SetBuilder removed_;
  SetBuilder modified_;
  SetBuilder added_;
  Path path_;
  Errors errors_;
};

bool Comparer::CompareAs(Type::Shape shape, const Value* left, const Value* right, const Type& type,
                         Marks& marks) {
  switch (shape) {
    case Type::Shape::kMap: {
      const auto members = [](const Value* value) {
        return value == nullptr ? std::span<const Member>() : value->members();
      };
      if (type.map_atomic || (members(left).empty() && members(right).empty())) break;
      CompareMaps(members(left), members(right), type);
      return false;
    }
    case Type::Shape::kList: {
      const auto items = [](const Value* value) {
        return value == nullptr ? std::span<const Value>() : value->items();
      };
      if (type.list_atomic || (items(left).empty() && items(right).empty())) break;
      CompareLists(items(left), items(right), type);
      return false;
    }
    case Type::Shape::kScalar:
      return CompareScalars(left, right, type, marks);
    case Type::Shape::kInvalid:
      errors_.Add(path_, kInvalidAtom);
      return false;
  }
  Leaf(left, right, marks);
  return true;
}

bool Comparer::CompareScalars(const Value* left, const Value* right, const Type& type,
                              Marks& marks) {
  const bool left_good = left == nullptr || IsScalarOf(type.scalar, *left);
  const bool right_good = right == nullptr || IsScalarOf(type.scalar, *right);
  if (!left_good && !right_good) {
    errors_.Add(path_, "lhs: " + ScalarError(type.scalar, *left));
    errors_.Add(path_, "rhs: " + ScalarError(type.scalar, *right));
    return false;
  }
  Leaf(left, right, marks);
  return true;
}

void Comparer::CompareMaps(std::span<const Member> left, std::span<const Member> right,
                           const Type& type) {
  if (TooDeep()) return;
  const auto compare = [&](std::string_view key, const Value* a, const Value* b) {
    bool declared = false;
    Child(PathElement::FieldName(key), a, b, type.FieldType(key, declared));
  };
  // Objects of one kind mostly have the same members in the same order.
  std::size_t same = 0;
  while (same < left.size() && same < right.size() && left[same].key == right[same].key) {
    const Member& member = left[same];
    const Value& other = right[same].value;
    bool declared = false;
    const Type* const field = type.FieldType(member.key, declared);
    if (field == nullptr || !IsSameText(*field, member.value, other)) {
      Child(PathElement::FieldName(member.key), &member.value, &other, field);
    }
    ++same;
  }
  if (same == left.size() && same == right.size()) return;
  left = left.subspan(same);
  right = right.subspan(same);
  const runtime::MemberIndex rights(right);
  for (const Member& member : left) compare(member.key, &member.value, rights.Find(member.key));
  const runtime::MemberIndex lefts(left);
  for (const Member& member : right) {
    if (lefts.Find(member.key) == nullptr) compare(member.key, nullptr, &member.value);
  }
}

void Comparer::Index(std::span<const Value> list, const Type& type, std::vector<Item>& items) {
  std::string error;
  for (std::size_t i = 0; i < list.size(); ++i) {
    PathElement element;
    if (ListItemToPathElement(type, list[i], added_.arena(), element, error)) {
      items.push_back({element, &list[i]});
    } else {
      errors_.Add(path_, "element " + std::to_string(i) + ": " + error);
    }
  }
}

// Groups the items of both lists by element with a counting sort, in linear time.
void Comparer::CompareLists(std::span<const Value> left, std::span<const Value> right,
                            const Type& type) {
  if (TooDeep()) return;
  std::vector<Item> items;
  items.reserve(left.size() + right.size());
  Index(left, type, items);
  const std::size_t lefts = items.size();
  Index(right, type, items);
  std::vector<PathElement> elements;
  elements.reserve(items.size());
  for (const Item& item : items) elements.push_back(item.element);
  std::vector<std::uint32_t> ids;
  const std::size_t count = NumberElements(elements, ids);
  // The first item of each number, those of the left list before those of the right one.
  std::vector<std::uint32_t> starts(2 * count + 1);
  const auto slot = [&](std::size_t i) { return 2 * std::size_t{ids[i]} + (i < lefts ? 0 : 1); };
  for (std::size_t i = 0; i < items.size(); ++i) ++starts[slot(i) + 1];
  for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
  std::vector<Item> sorted(items.size());
  std::vector<std::uint32_t> next = starts;
  for (std::size_t i = 0; i < items.size(); ++i) sorted[next[slot(i)]++] = items[i];
  const auto run = [&](std::size_t at) {
    return std::span<const Item>(sorted.data() + starts[at], starts[at + 1] - starts[at]);
  };
  for (std::size_t id = 0; id < count; ++id) CompareItems(run(2 * id), run(2 * id + 1), type);
}

void Comparer::CompareItems(std::span<const Item> left, std::span<const Item> right,
                            const Type& type) {
  const PathElement& element = left.empty() ? right[0].element : left[0].element;
  const Value* const first_left = left.empty() ? nullptr : left[0].value;
  const Value* const first_right = right.empty() ? nullptr : right[0].value;
  if (left.size() <= 1 && right.size() <= 1) {
    Child(element, first_left, first_right, type.items);
    return;
  }
  // Duplicate items are compared as a whole, as if they were atomic.
  if (left.size() > 1 && right.size() > 1) {
    const auto same = [](const Item& a, const Item& b) { return ValuesEqual(*a.value, *b.value); };
    if (!std::equal(left.begin(), left.end(), right.begin(), right.end(), same)) {
      modified_.Add({element, {}, true});
    }
    return;
  }
  if (left.size() > 1) {
    if (first_right != nullptr) Child(element, nullptr, first_right, type.items);
    removed_.Add({element, {}, true});
    return;
  }
  if (first_left != nullptr) Child(element, first_left, nullptr, type.items);
  added_.Add({element, {}, true});
}

void AppendSection(std::string_view title, FieldSet set, std::string& out) {
  if (!set.Empty()) out.append(title).append(set.ToString()).append("\n");
}

}  // namespace

std::string Comparison::ToString() const {
  std::string out;
  AppendSection("- Modified Fields:\n", modified, out);
  AppendSection("- Added Fields:\n", added, out);
  AppendSection("- Removed Fields:\n", removed, out);
  return out;
}

Result<Comparison> TypedValue::Compare(const TypedValue& rhs, Arena& arena) const {
  if (type_ != rhs.type_) {
    return Status(Reason::kBadRequest, "expected objects with types from the same schema");
  }
  return Comparer(arena).Run(value_, rhs.value_, *type_);
}

}  // namespace apiserver::v0::patch::apply
