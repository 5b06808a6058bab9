#include "storage/cacher/selector_index.h"

#include <algorithm>
#include <map>
#include <utility>

#include "apiserver/codec/codec.h"
#include "base/status_macros.h"
#include "storage/cacher/past_state.h"
#include "storage/look_into.h"

namespace apiserver::v0::storage::cacher {
namespace {

using Operator = meta::LabelSelector::Operator;

// Limits the objects indexed on an I/O loop, where nothing may wait.
constexpr std::size_t kObjectsIndexedOnLoop = 256;

// The entries whose values are read together: as many objects as are converted in one call.
constexpr std::size_t kEntriesAtOnce = 500;

// The value of an object that cannot be used: it is in every answer, so that a list reports it. No
// label or field has this value.
constexpr std::string_view kUnusable = "\xff";

// True if objects can be found by their keys without an index.
bool IsKeyField(std::string_view field) { return field == "metadata.namespace"; }

}  // namespace

std::vector<SelectorIndex::Demand> SelectorIndex::DemandsOf(const SelectionPredicate& predicate) {
  std::vector<Demand> demands;
  for (const auto& requirement : predicate.label.requirements()) {
    if (requirement.op == Operator::kEquals || requirement.op == Operator::kIn) {
      demands.push_back({true, requirement.key, requirement.values});
    }
  }
  for (const auto& requirement : predicate.field.requirements()) {
    if (requirement.equals && predicate.field_value && !IsKeyField(requirement.field)) {
      demands.push_back({false, requirement.field, {requirement.value}});
    }
  }
  return demands;
}

Result<SelectorIndex::Values> SelectorIndex::ValuesOf(std::span<const EntryRef> entries,
                                                      const Term& term, const Query& query) {
  Values values(entries.size());
  std::vector<runtime::ObjectPtr> objects;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = *entries[i];
    if (!entry.unusable.ok()) {
      values[i] = kUnusable;
    } else if (term.label) {
      runtime::Arena arena;
      const runtime::Value value = codec::LabelsOf(*entry.object, arena)[term.name];
      if (value.is_string()) values[i] = value.AsString();
    } else {
      objects.push_back(entry.object);
      places.push_back(i);
    }
  }
  const SelectionPredicate& predicate = query.predicate;
  const runtime::Visit look = [&](std::size_t at, const runtime::Object& object) {
    // An object that is only indexed is parsed into a copy, so that the cached one is not kept
    // parsed.
    const auto passing = object.loaded() ? nullptr : object.Clone();
    values[places[at]] = predicate.field_value(passing != nullptr ? *passing : object, term.name);
  };
  RETURN_IF_ERROR(LookInto(query.ctx, predicate, objects, look));
  return values;
}

void SelectorIndex::Add(Term& term, const EntryRef& entry, std::optional<std::string> value) {
  if (!value) return;
  auto* posting = new Posting;
  PostingRef owner(posting);
  posting->value = std::move(*value);
  posting->entry = entry;
  (void)term.postings.Put(std::move(owner));
}

Status SelectorIndex::AddAll(Term& term, const Tree& tree, const Query& query) {
  std::vector<EntryRef> some;
  // Some objects at a time, so that a converter that may wait is asked once for all of them.
  for (auto next = tree.Begin(); next.Valid();) {
    some.push_back(next.value());
    next.Next();
    if (next.Valid() && some.size() < kEntriesAtOnce) continue;
    ASSIGN_OR_RETURN(Values values, ValuesOf(some, term, query));
    for (std::size_t i = 0; i < some.size(); ++i) Add(term, some[i], std::move(values[i]));
    some.clear();
  }
  return {};
}

Status SelectorIndex::AddChanges(Term& term, const std::vector<ChangeRef>& changes,
                                 const Query& query) {
  for (std::span<const ChangeRef> left = changes; !left.empty();) {
    const auto some = left.first(std::min(left.size(), kEntriesAtOnce));
    left = left.subspan(some.size());
    std::vector<EntryRef> entries;
    for (const ChangeRef& change : some) {
      if (change->before) entries.push_back(change->before);
      if (change->now) entries.push_back(change->now);
    }
    ASSIGN_OR_RETURN(Values values, ValuesOf(entries, term, query));
    std::size_t at = 0;
    for (const ChangeRef& change : some) {
      if (change->before) {
        const std::optional<std::string>& value = values[at++];
        if (value) (void)term.postings.Erase({*value, change->before->key()});
      }
      if (change->now) Add(term, change->now, std::move(values[at++]));
    }
  }
  return {};
}

std::size_t SelectorIndex::CountOf(const Term& term, const Demand& demand) {
  std::size_t count = 0;
  for (const std::string& value : demand.values) {
    // Keys are not empty, and no value begins with another and a zero byte.
    const std::string after = value + '\0';
    count += term.postings.Count({value, ""}, {after, ""});
  }
  return count;
}

std::vector<EntryRef> SelectorIndex::Collect(const Term& term, const Demand& demand,
                                             const Query& query) {
  std::vector<EntryRef> entries;
  std::vector<std::string_view> values(demand.values.begin(), demand.values.end());
  if (term.postings.Count({kUnusable, ""}, {"\xff\xff", ""}) > 0) values.push_back(kUnusable);
  for (const std::string_view value : values) {
    auto next = term.postings.LowerBound({value, std::max(query.prefix, query.start)});
    for (; next.Valid(); next.Next()) {
      const Posting& posting = *next.value();
      if (posting.value != value || !posting.entry->key().starts_with(query.prefix)) break;
      entries.push_back(posting.entry);
    }
  }
  if (values.size() > 1) {
    std::sort(entries.begin(), entries.end(),
              [](const EntryRef& a, const EntryRef& b) { return a->key() < b->key(); });
  }
  return entries;
}

void SelectorIndex::Undo(const std::vector<ChangeRef>& changes, const Query& query,
                         std::vector<EntryRef>& entries) {
  // The order is from new to old: the last one written for a key is the state before its first
  // change.
  std::map<std::string_view, EntryRef> before;
  for (auto change = changes.rbegin(); change != changes.rend(); ++change) {
    const std::string_view key = (*change)->key();
    if (key.starts_with(query.prefix) && key >= query.start) before[key] = (*change)->before;
  }
  std::erase_if(entries, [&](const EntryRef& entry) { return before.contains(entry->key()); });
  for (const auto& [key, entry] : before) {
    if (entry) entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const EntryRef& a, const EntryRef& b) { return a->key() < b->key(); });
}

SelectorIndex::Term SelectorIndex::Known(const Demand& demand) const {
  auto terms = terms_.Lock();
  for (const Term& term : *terms) {
    if (term.label == demand.label && term.name == demand.name) return term;
  }
  Term term;
  term.label = demand.label;
  term.name = demand.name;
  return term;
}

void SelectorIndex::Remember(const Term& term) {
  std::list<Term> dropped;  // Destroyed after the lock is released.
  auto terms = terms_.Lock();
  const auto known = std::find_if(terms->begin(), terms->end(), [&term](const Term& other) {
    return other.label == term.label && other.name == term.name;
  });
  if (known != terms->end()) {
    // Another thread may have been quicker.
    const bool newer = known->revision > term.revision;
    terms->splice(terms->begin(), *terms, known);
    if (newer) return;
    dropped.push_back(std::exchange(terms->front(), term));
    return;
  }
  terms->push_front(term);
  if (terms->size() > kTermsMax) dropped.splice(dropped.end(), *terms, --terms->end());
}

void SelectorIndex::Forget(kv::Revision revision) {
  std::list<Term> dropped;
  auto terms = terms_.Lock();
  for (auto term = terms->begin(); term != terms->end();) {
    const auto next = std::next(term);
    if (term->revision < revision) dropped.splice(dropped.end(), *terms, term);
    term = next;
  }
}

Result<View> SelectorIndex::Update(Term& term, const Query& query) {
  if (!query.ctx.may_block() && cache_->CountAfter(term.revision) > kObjectsIndexedOnLoop) {
    return Status(Reason::kWouldBlock, "an index is behind");
  }
  Since since = cache_->ChangesAfter(term.revision);
  if (since.changes && term.revision > 0) {
    RETURN_IF_ERROR(AddChanges(term, *since.changes, query));
  } else {
    if (!query.ctx.may_block() && since.view.tree.size() > kObjectsIndexedOnLoop) {
      return Status(Reason::kWouldBlock, "making an index");
    }
    term.postings = PostingTree();
    RETURN_IF_ERROR(AddAll(term, since.view.tree, query));
  }
  term.revision = since.view.last_change;
  Remember(term);
  return std::move(since.view);
}

Result<bool> SelectorIndex::GoBack(const Query& query, Candidates& found) const {
  if (query.revision > found.view.revision) return false;
  if (!query.ctx.may_block() && cache_->CountAfter(query.revision) > kChangesOnLoop) {
    return Status(Reason::kWouldBlock, "undoing many changes");
  }
  Since since = cache_->ChangesAfter(query.revision);
  if (!since.changes) return false;
  std::erase_if(*since.changes, [&found](const ChangeRef& change) {
    return change->revision > found.view.last_change;
  });
  Undo(*since.changes, query, found.entries);
  return true;
}

Result<std::optional<SelectorIndex::Candidates>> SelectorIndex::Find(const Query& query) {
  std::vector<Demand> demands = DemandsOf(query.predicate);
  struct Choice {
    const Demand* demand = nullptr;
    Term term;
    View view;
    std::size_t count = 0;
  };
  Choice least;
  // The most selective label or field is taken: its entries are the fewest to look at.
  for (const Demand& demand : demands) {
    Term term = Known(demand);
    ASSIGN_OR_RETURN(View view, Update(term, query));
    const std::size_t count = CountOf(term, demand);
    if (least.demand != nullptr && count >= least.count) continue;
    least = {&demand, std::move(term), std::move(view), count};
  }
  if (least.demand == nullptr) return std::optional<Candidates>();
  std::optional best = Candidates{std::move(least.view), Collect(least.term, *least.demand, query)};
  // If one label is all that is asked for, the index is the answer; other selectors are checked on
  // the entries.
  best->exact = query.predicate.field.empty() && query.revision == 0 &&
                query.predicate.label.requirements().size() == 1;
  if (query.revision == 0) return best;
  ASSIGN_OR_RETURN(const bool known, GoBack(query, *best));
  return known ? std::move(best) : std::nullopt;
}

}  // namespace apiserver::v0::storage::cacher
