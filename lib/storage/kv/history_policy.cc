#include "storage/kv/history_policy.h"

#include <algorithm>

namespace apiserver::v0::storage::kv {

std::optional<Revision> HistoryPolicy::Next(const Held& held, Clock::Monotonic now) {
  Revision target = held.compacted;
  if (options_.window.count() > 0) {
    // A mark for every tenth of the window tells well enough which revision was current when.
    if (marks_.empty() || now - marks_.back().time >= options_.window / 10) {
      marks_.push_back({now, held.revision});
    }
    while (marks_.front().time + options_.window <= now) {
      target = std::max(target, marks_.front().revision);
      marks_.pop_front();
    }
  }
  const Revision kept = held.revision - std::max<Revision>(held.compacted, 1);
  const auto events_max = static_cast<Revision>(options_.events_max);
  // A tenth more than is needed goes at once, or every further write would compact.
  if (events_max > 0 && kept > events_max) {
    target = std::max(target, held.revision - (events_max - events_max / 10));
  }
  // Nothing tells how many changes these bytes are of, so that half of them go.
  if (options_.bytes_max > 0 && held.bytes > options_.bytes_max) {
    target = std::max(target, held.revision - kept / 2);
  }
  if (target <= held.compacted) return std::nullopt;
  return target;
}

}  // namespace apiserver::v0::storage::kv
