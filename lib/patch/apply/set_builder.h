#pragma once

#include <cstddef>
#include <vector>

#include "apiserver/patch/apply/field_set.h"

namespace apiserver::inline v0::patch::apply {

// Makes sets bottom up. The entries of all levels that are open lie on one stack:
//
//   const std::size_t mark = builder.Mark();
//   builder.Add({...});                         // After what is below it has been finished.
//   FieldSet level = builder.Finish(mark);
class SetBuilder {
 public:
  explicit SetBuilder(runtime::Arena& arena) : arena_(arena) {}

  std::size_t Mark() const { return entries_.size(); }
  // Skips an entry that is no member and has no children.
  void Add(const FieldSet::Entry& entry) {
    if (entry.member || !entry.children.Empty()) entries_.push_back(entry);
  }
  // Takes the entries added since `mark`, which were added in order and without duplicates.
  FieldSet FinishSorted(std::size_t mark);
  // The same for entries in any order; equal elements become one, with the set below the last of
  // them.
  FieldSet Finish(std::size_t mark);
  // The same, but elements that were added more than once have nothing below them.
  FieldSet FinishItems(std::size_t mark);
  // The same as FinishSorted(), but returns `same` if nothing differs from it.
  FieldSet FinishOr(std::size_t mark, FieldSet same);
  void Drop(std::size_t mark) { entries_.resize(mark); }

  runtime::Arena& arena() { return arena_; }

 private:
  FieldSet FinishAny(std::size_t mark, bool items);

  runtime::Arena& arena_;
  std::vector<FieldSet::Entry> entries_;
};

}  // namespace apiserver::inline v0::patch::apply
