#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/storage/interface.h"
#include "apiserver/storage/store/rewriter.h"
#include "apiserver/storage/store/store.h"
#include "storage/store/pace.h"

namespace apiserver::inline v0::storage::store {

// A look at a value costs the pace 1, and a rewrite as much as so many looks.
inline constexpr std::size_t kLooksPerRewrite = 10;

// The values of a walk, and the parts of a run that all its walks share. All must outlive the walk.
struct StaleWalkParts {
  const Options& store;
  Interface& storage;
  std::size_t page_objects_max;
  Pace& pace;
  RewriteCounts& counts;
  // Called behind each value.
  std::function<void()> on_value;
  // Called for a value that is left as it is.
  std::function<void(const std::string& key, const Status& why)> on_left;
  // Called when the engine does not answer; the walk tries again.
  std::function<void(const Status& why)> on_failure;
};

// Looks at all values of a storage once and rewrites the stale ones, until `ctx` is done: the error
// is that of `ctx`. Reads the newest state page by page, so compaction does not end it: what is
// written behind its back is written in the present form.
Status WalkStale(const Context& ctx, const StaleWalkParts& parts);

}  // namespace apiserver::inline v0::storage::store
