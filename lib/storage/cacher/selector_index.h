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
// index of a label is made when a selector first asks for it, and kept up by those who ask:
// whoever writes does not pay for it. Any thread.
class SelectorIndex {
 public:
  explicit SelectorIndex(std::shared_ptr<Cache> cache) : cache_(std::move(cache)) {}

  // Entries that may match, in the order of their keys, and the state they are of.
  struct Candidates {
    View view;
    std::vector<EntryRef> entries;
    bool exact = false;  // All of them match.
  };
  struct Query {
    const SelectionPredicate& predicate;
    std::string_view prefix;  // Entries whose key begins with this,
    std::string_view start;   // and is not below this.
    kv::Revision revision;    // As of then; zero: now.
    const Context& ctx;
  };
  // nullopt: the predicate demands no value, or the cache does not know the revision. kWouldBlock:
  // there is much to do first. Others: as runtime::Convert, where the predicate wants objects
  // converted; what was indexed before stays.
  Result<std::optional<Candidates>> Find(const Query& query);

  // Drops what is of a state before `revision`, up to which the cache has forgotten its changes: it
  // would have to be made anew, and keeps old objects until then.
  void Forget(kv::Revision revision);

 private:
  // Labels and fields that are indexed at a time, those asked for last.
  static constexpr std::size_t kTermsMax = 16;

  // An entry under the value that it has.
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
      return {posting->value, posting->entry->key};
    }
  };
  using PostingTree = index::BTree<PostingRef, KeyOfPosting>;

  // What a selector demands.
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
    kv::Revision revision = 0;  // Of the state it is of; zero: it was never made.
  };

  static std::vector<Demand> DemandsOf(const SelectionPredicate& predicate);
  // The values of `entries` in the term; nullopt: an entry has none. Converts what must be, all in
  // one call if the kind's converter may wait.
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

  // The term as it was left by whoever asked last; empty if nobody has.
  Term Known(const Demand& demand) const;
  void Remember(const Term& term);
  // Makes `term` be of the state now, which is returned.
  Result<View> Update(Term& term, const Query& query);
  // Makes `found` be of the query's revision; false: the cache does not know so much.
  Result<bool> GoBack(const Query& query, Candidates& found) const;

  const std::shared_ptr<Cache> cache_;
  Guarded<std::list<Term>> terms_;  // The one asked for last first.
};

}  // namespace apiserver::inline v0::storage::cacher
