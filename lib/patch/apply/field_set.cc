#include "apiserver/patch/apply/field_set.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "patch/apply/set_builder.h"

namespace apiserver::v0::patch::apply {

namespace {

using runtime::Arena;
using runtime::Member;
using runtime::Value;
using Entry = FieldSet::Entry;

// Walks the entries of two sets side by side: both of an equal element, else one and null.
class Zip {
 public:
  Zip(FieldSet a, FieldSet b) : a_(a.entries()), b_(b.entries()) {}

  bool Next() {
    left = right = nullptr;
    if (i_ == a_.size() && j_ == b_.size()) return false;
    int order = i_ == a_.size() ? 1 : -1;
    if (i_ != a_.size() && j_ != b_.size()) {
      order = PathElement::Compare(a_[i_].element, b_[j_].element);
    }
    if (order <= 0) left = &a_[i_++];
    if (order >= 0) right = &b_[j_++];
    return true;
  }

  const Entry* left = nullptr;
  const Entry* right = nullptr;

 private:
  std::span<const Entry> a_;
  std::span<const Entry> b_;
  std::size_t i_ = 0;
  std::size_t j_ = 0;
};

bool SameSpan(FieldSet a, FieldSet b) {
  return a.entries().data() == b.entries().data() && a.entries().size() == b.entries().size();
}

// Follows Set.Union of fieldpath. It is linear in both sets, as are those below.
FieldSet UnionOf(FieldSet a, FieldSet b, SetBuilder& out) {
  // Equal sets are mostly the same one, which is then returned without a copy.
  if (b.Empty() || SameSpan(a, b)) return a;
  if (a.Empty()) return b;
  const std::size_t mark = out.Mark();
  for (Zip zip(a, b); zip.Next();) {
    if (zip.right == nullptr) {
      out.Add(*zip.left);
    } else if (zip.left == nullptr) {
      out.Add(*zip.right);
    } else {
      Entry entry = *zip.left;
      entry.member = entry.member || zip.right->member;
      entry.children = UnionOf(zip.left->children, zip.right->children, out);
      out.Add(entry);
    }
  }
  return out.FinishOr(mark, a);
}

// Follows Set.Intersection of fieldpath. An entry that is left without a member and children is
// dropped by the builder's Add.
FieldSet IntersectionOf(FieldSet a, FieldSet b, SetBuilder& out) {
  if (a.Empty() || b.Empty()) return {};
  if (SameSpan(a, b)) return a;
  const std::size_t mark = out.Mark();
  for (Zip zip(a, b); zip.Next();) {
    if (zip.left == nullptr || zip.right == nullptr) continue;
    Entry entry = *zip.left;
    entry.member = entry.member && zip.right->member;
    entry.children = IntersectionOf(zip.left->children, zip.right->children, out);
    out.Add(entry);
  }
  return out.FinishOr(mark, a);
}

// Follows Set.Difference and Set.RecursiveDifference of fieldpath.
FieldSet DifferenceOf(FieldSet a, FieldSet b, bool recursive, SetBuilder& out) {
  if (a.Empty() || b.Empty()) return a;
  if (SameSpan(a, b)) return {};
  const std::size_t mark = out.Mark();
  for (Zip zip(a, b); zip.Next();) {
    if (zip.left == nullptr) continue;
    if (zip.right == nullptr) {
      out.Add(*zip.left);
      continue;
    }
    // A member of `b` takes everything below it along.
    if (recursive && zip.right->member) continue;
    Entry entry = *zip.left;
    entry.member = entry.member && !zip.right->member;
    entry.children = DifferenceOf(zip.left->children, zip.right->children, recursive, out);
    out.Add(entry);
  }
  return out.FinishOr(mark, a);
}

// Follows Set.Leaves of fieldpath: a member stays one only if there is nothing below it.
FieldSet LeavesOf(FieldSet set, SetBuilder& out) {
  const std::size_t mark = out.Mark();
  for (Entry entry : set.entries()) {
    entry.member = entry.member && entry.children.Empty();
    entry.children = LeavesOf(entry.children, out);
    out.Add(entry);
  }
  return out.FinishOr(mark, set);
}

bool Equal(FieldSet a, FieldSet b) {
  if (SameSpan(a, b)) return true;
  const auto same = [](const Entry& x, const Entry& y) {
    return x.member == y.member && x.element == y.element && Equal(x.children, y.children);
  };
  return std::equal(a.entries().begin(), a.entries().end(), b.entries().begin(), b.entries().end(),
                    same);
}

void Visit(FieldSet set, Path& path, const std::function<void(PathView)>& visit) {
  for (const Entry& entry : set.entries()) {
    // As upstream: the members of a level come before those below them.
    if (!entry.member) continue;
    path.push_back(entry.element);
    visit(path);
    path.pop_back();
  }
  for (const Entry& entry : set.entries()) {
    if (entry.children.Empty()) continue;
    path.push_back(entry.element);
    Visit(entry.children, path, visit);
    path.pop_back();
  }
}

FieldSet SetOfPath(PathView path, SetBuilder& out) {
  FieldSet set;
  // A set holds the sets below it, so it is built from the end.
  for (std::size_t i = path.size(); i-- > 0;) {
    const std::size_t mark = out.Mark();
    out.Add({path[i], set, i + 1 == path.size()});
    set = out.FinishSorted(mark);
  }
  return set;
}

PathElement CopyElement(const PathElement& element, Arena& arena) {
  switch (element.kind()) {
    case PathElement::Kind::kFieldName:
      return PathElement::FieldName(arena.Copy(element.field_name()));
    case PathElement::Kind::kKey:
      return PathElement::Key(runtime::Copy(Value::Map(element.key()), arena).members());
    case PathElement::Kind::kValue:
      return PathElement::OfValue(runtime::Copy(element.value(), arena));
    case PathElement::Kind::kIndex:
    case PathElement::Kind::kUnknown:
      break;
  }
  return element;
}

FieldSet CopyOf(FieldSet set, SetBuilder& out) {
  const std::size_t mark = out.Mark();
  for (Entry entry : set.entries()) {
    entry.element = CopyElement(entry.element, out.arena());
    entry.children = CopyOf(entry.children, out);
    out.Add(entry);
  }
  return out.FinishSorted(mark);
}

}  // namespace

std::size_t FieldSet::Size() const {
  std::size_t size = 0;
  for (const Entry& entry : entries()) size += (entry.member ? 1 : 0) + entry.children.Size();
  return size;
}

const FieldSet::Entry* FieldSet::Find(const PathElement& element) const {
  const std::span<const Entry> all = entries();
  const auto at = std::lower_bound(all.begin(), all.end(), element,
                                   [](const Entry& entry, const PathElement& sought) {
                                     return PathElement::Compare(entry.element, sought) < 0;
                                   });
  return at != all.end() && at->element == element ? &*at : nullptr;
}

bool FieldSet::Has(PathView path) const {
  FieldSet set = *this;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Entry* const entry = set.Find(path[i]);
    if (entry == nullptr) return false;
    if (i + 1 == path.size()) return entry->member;
    set = entry->children;
  }
  return false;
}

FieldSet FieldSet::WithPrefix(const PathElement& element) const {
  const Entry* const entry = Find(element);
  return entry == nullptr ? FieldSet() : entry->children;
}

FieldSet FieldSet::Insert(PathView path, Arena& arena) const {
  SetBuilder out(arena);
  return UnionOf(*this, SetOfPath(path, out), out);
}

FieldSet FieldSet::Union(FieldSet other, Arena& arena) const {
  SetBuilder out(arena);
  return UnionOf(*this, other, out);
}

FieldSet FieldSet::Intersection(FieldSet other, Arena& arena) const {
  SetBuilder out(arena);
  return IntersectionOf(*this, other, out);
}

FieldSet FieldSet::Difference(FieldSet other, Arena& arena) const {
  SetBuilder out(arena);
  return DifferenceOf(*this, other, /*recursive=*/false, out);
}

FieldSet FieldSet::RecursiveDifference(FieldSet other, Arena& arena) const {
  SetBuilder out(arena);
  return DifferenceOf(*this, other, /*recursive=*/true, out);
}

FieldSet FieldSet::Leaves(Arena& arena) const {
  SetBuilder out(arena);
  return LeavesOf(*this, out);
}

void FieldSet::Iterate(const std::function<void(PathView)>& visit) const {
  Path path;
  Visit(*this, path, visit);
}

std::string FieldSet::ToString() const {
  std::string out;
  Iterate([&out](PathView path) {
    if (!out.empty()) out += '\n';
    out += PathString(path);
  });
  return out;
}

bool operator==(FieldSet a, FieldSet b) { return Equal(a, b); }

FieldSet NewFieldSet(std::initializer_list<Path> paths, Arena& arena) {
  FieldSet set;
  for (const Path& path : paths) set = set.Insert(path, arena);
  return set;
}

FieldSet Copy(FieldSet set, Arena& arena) {
  SetBuilder out(arena);
  return CopyOf(set, out);
}

}  // namespace apiserver::v0::patch::apply
