#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <deque>
#include <optional>

#include "apiserver/base/clock.h"
#include "apiserver/storage/kv/engine.h"
#include "apiserver/storage/kv/history.h"

namespace apiserver::inline v0::storage::kv {

// Decides when an engine compacts and at which revision. Not thread-safe: only the writer calls it.
class HistoryPolicy {
 public:
  // The present size of the engine's history.
  struct Held {
    Revision revision = 0;
    Revision compacted = 0;
    std::size_t bytes = 0;  // The bytes of history.
  };

  explicit HistoryPolicy(HistoryOptions options) : options_(options) {}

  // Returns the revision to compact at; call it after writes. None: nothing to compact now.
  std::optional<Revision> Next(const Held& held, Clock::Monotonic now);

 private:
  struct Mark {
    Clock::Monotonic time;
    Revision revision;
  };
  HistoryOptions options_;
  std::deque<Mark> marks_;  // The revision at every tenth of the window.
};

}  // namespace apiserver::inline v0::storage::kv
