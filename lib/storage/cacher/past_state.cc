#include "storage/cacher/past_state.h"

#include <utility>
#include <vector>

namespace apiserver::v0::storage::cacher {

Result<std::optional<View>> StateAt(Cache& cache, kv::Revision revision, bool may_block) {
  if (auto kept = cache.Kept(revision)) return kept;
  if (revision > cache.revision()) return std::optional<View>();
  if (!may_block && cache.CountAfter(revision) > kChangesOnLoop) {
    return Status(Reason::kWouldBlock, "undoing many changes");
  }
  Since since = cache.ChangesAfter(revision);
  if (!since.changes) return std::optional<View>();
  // Undoes the changes from the newest to the oldest on a snapshot of the present tree.
  View view{std::move(since.view.tree), revision, revision};
  for (auto change = since.changes->rbegin(); change != since.changes->rend(); ++change) {
    if ((*change)->before) {
      (void)view.tree.Put((*change)->before);
    } else {
      (void)view.tree.Erase((*change)->key());
    }
  }
  return std::optional(std::move(view));
}

}  // namespace apiserver::v0::storage::cacher
