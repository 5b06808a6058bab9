#pragma once

#include <compare>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/storage/interface.h"
#include "storage/cacher/cache.h"

namespace apiserver::inline v0::storage::cacher {

// Finds the objects that have some value of a label or field without looking at the others. An
// index of a label is made when a selector first asks for it, and brought up to date by the lists
// that use it: writes do not pay for it. Any thread may call its methods.
class SelectorIndex {
 public:
  explicit SelectorIndex(std::shared_ptr<Cache> cache) : cache_(std::move(cache)) {}

  // The entries that may match, in the order of their keys, and their state.
  struct Candidates {
    View view;
    std::vector<EntryRef> entries;
    bool exact = false;  // True if all of them match.
  };
  struct Query {
    const SelectionPredicate& predicate;
    std::string_view prefix;  // The prefix of the keys to find.
    std::string_view start;   // The first key to find.
    kv::Revision revision;    // The revision of the state. Zero: the present one.
    const Context& ctx;
  };
  // Returns the candidates. nullopt: the predicate demands no value, or the cache does not know the
  // revision. kWouldBlock: too much work for a loop. Other errors are those of runtime::Convert, if
  // the predicate wants objects converted; the index made so far stays.
  Result<std::optional<Candidates>> Find(const Query& query);

  // Drops the indexes of states before `revision`, up to which the cache has forgotten its changes:
  // they would have to be made anew, and keep old objects until then.
  void Forget(kv::Revision revision);

 private:
  // Limits the labels and fields that are indexed; the ones asked for last are kept.
  static constexpr std::size_t kTermsMax = 16;

  // An entry under its value.
  struct Posting : index::RefCounted {
    std::string value;
    EntryRef entry;
  };
  using PostingRef = index::Ref<const Posting>;
  struct PostingKey {
    std::string_view value;
    std::string_view key;
    auto operator<=>(const PostingKey&) const = default;  // NOLINT: no null.
  };
  struct KeyOfPosting {
    PostingKey operator()(const PostingRef& posting) const {
      return {posting->value, posting->entry->key()};
    }
  };
  using PostingTree = index::BTree<PostingRef, KeyOfPosting>;

  // A value that a selector demands.
  struct Demand {
    bool label = true;  // Else a field.
    std::string name;
    std::vector<std::string> values;  // One of these.
  };
  // The index of one label or field. A copy costs little, and is worked on without a lock.
  struct Term {
    bool label = true;
    std::string name;
    PostingTree postings;
    kv::Revision revision = 0;  // The revision of its state. Zero: it was never made.
  };

  static std::vector<Demand> DemandsOf(const SelectionPredicate& predicate);
  // Returns the values of `entries` in the term; nullopt: an entry has none. Objects that must be
  // converted are converted in one call if the kind's converter may wait.
  using Values = std::vector<std::optional<std::string>>;
  static Result<Values> ValuesOf(std::span<const EntryRef> entries, const Term& term,
                                 const Query& query);
  static void Add(Term& term, const EntryRef& entry, std::optional<std::string> value);
  static Status AddAll(Term& term, const Tree& tree, const Query& query);
  static Status AddChanges(Term& term, const std::vector<ChangeRef>& changes, const Query& query);
  static std::size_t CountOf(const Term& term, const Demand& demand);
  static std::vector<EntryRef> Collect(const Term& term, const Demand& demand, const Query& query);
  // Takes `changes` back.
  static void Undo(const std::vector<ChangeRef>& changes, const Query& query,
                   std::vector<EntryRef>& entries);

  // Returns the term as the last list left it; empty if there was none.
  Term Known(const Demand& demand) const;
  void Remember(const Term& term);
  // Brings `term` to the present state, and returns that state.
  Result<View> Update(Term& term, const Query& query);
  // Brings `found` to the query's revision. False: the cache does not reach that far back.
  Result<bool> GoBack(const Query& query, Candidates& found) const;

  const std::shared_ptr<Cache> cache_;
  Guarded<std::list<Term>> terms_;  // The one asked for last comes first.
};

}  // namespace apiserver::inline v0::storage::cacher
