#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"
#include "authz/webhook/review.h"

namespace apiserver::inline v0::authz {

// Earlier decisions, used while the webhook fails; the oldest go first. Any thread.
class StaleAnswers {
 public:
  StaleAnswers(std::size_t entries_max, const Clock& clock)
      : entries_max_(entries_max), clock_(clock) {}

  void Put(const std::string& key, const ReviewStatus& status, std::chrono::nanoseconds lifetime) {
    if (lifetime <= lifetime.zero()) return;
    const auto kept = kept_.Lock();
    if (const auto old = kept->by_key.find(key); old != kept->by_key.end()) {
      kept->recent.erase(old->second);
      kept->by_key.erase(old);
    }
    kept->recent.push_front({key, status, clock_.Now() + lifetime});
    kept->by_key.emplace(key, kept->recent.begin());
    if (kept->by_key.size() <= entries_max_) return;
    kept->by_key.erase(kept->recent.back().key);
    kept->recent.pop_back();
  }

  std::optional<ReviewStatus> Find(const std::string& key) const {
    const auto kept = kept_.Lock();
    const auto found = kept->by_key.find(key);
    if (found == kept->by_key.end() || found->second->until <= clock_.Now()) return std::nullopt;
    return found->second->status;
  }

 private:
  struct Entry {
    std::string key;
    ReviewStatus status;
    Clock::Monotonic until;
  };
  struct Kept {
    std::list<Entry> recent;
    std::unordered_map<std::string, std::list<Entry>::iterator> by_key;
  };

  const std::size_t entries_max_;
  const Clock& clock_;
  Guarded<Kept> kept_;
};

}  // namespace apiserver::inline v0::authz
