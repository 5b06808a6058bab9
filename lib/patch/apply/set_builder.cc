#include "patch/apply/set_builder.h"

#include <algorithm>
#include <memory>
#include <span>

namespace apiserver::v0::patch::apply {

namespace {

using Entry = FieldSet::Entry;

bool Before(const Entry& a, const Entry& b) {
  return PathElement::Compare(a.element, b.element) < 0;
}

bool Same(const Entry& a, const Entry& b) {
  return a.member == b.member && a.children.entries().data() == b.children.entries().data() &&
         a.element == b.element;
}

}  // namespace

FieldSet SetBuilder::FinishSorted(std::size_t mark) {
  const std::size_t size = entries_.size() - mark;
  if (size == 0) return {};
  auto* const to = static_cast<Entry*>(arena_.Allocate(size * sizeof(Entry), alignof(Entry)));
  std::uninitialized_copy(entries_.begin() + static_cast<std::ptrdiff_t>(mark), entries_.end(), to);
  Drop(mark);
  return FieldSet(std::span<const Entry>(to, size));
}

FieldSet SetBuilder::Finish(std::size_t mark) { return FinishAny(mark, /*items=*/false); }

FieldSet SetBuilder::FinishItems(std::size_t mark) { return FinishAny(mark, /*items=*/true); }

// Items that are there more than once are owned without what is below them: upstream's
// toFieldSetWalker does not descend into them.
FieldSet SetBuilder::FinishAny(std::size_t mark, bool items) {
  const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(mark);
  if (!std::is_sorted(begin, entries_.end(), Before)) {
    std::stable_sort(begin, entries_.end(), Before);
  }
  auto last = begin;
  for (auto at = begin; at != entries_.end(); ++at) {
    if (at == begin) continue;
    if (last->element == at->element) {
      last->member = last->member || at->member;
      if (items) {
        last->children = FieldSet();
      } else if (!at->children.Empty()) {
        last->children = at->children;
      }
    } else if (++last != at) {
      *last = *at;
    }
  }
  if (begin != entries_.end()) entries_.erase(last + 1, entries_.end());
  return FinishSorted(mark);
}

// An operation often changes nothing. To return the old set then saves memory, and later
// comparisons can tell equal sets by their addresses.
FieldSet SetBuilder::FinishOr(std::size_t mark, FieldSet same) {
  const std::span<const Entry> made(entries_.data() + mark, entries_.size() - mark);
  const std::span<const Entry> old = same.entries();
  if (std::equal(made.begin(), made.end(), old.begin(), old.end(), Same)) {
    Drop(mark);
    return same;
  }
  return FinishSorted(mark);
}

}  // namespace apiserver::v0::patch::apply
