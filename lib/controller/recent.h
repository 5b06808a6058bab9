#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

namespace apiserver::inline v0::controller {

// A map that forgets the least recently used of more than `max` entries: golang/groupcache/lru. Not
// thread-safe.
template <class T>
class Recent final {
 public:
  explicit Recent(std::size_t max) : max_(max) {}

  // Returns the entry of `key`, which is now the most recently used; makes it if there is none.
  // Valid until the next call.
  T& Use(const std::string& key) {
    if (const auto at = index_.find(key); at != index_.end()) {
      entries_.splice(entries_.begin(), entries_, at->second);
      return entries_.front().second;
    }
    if (entries_.size() >= max_ && !entries_.empty()) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(key, T());
    index_.emplace(key, entries_.begin());
    return entries_.front().second;
  }
  std::size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<std::string, T>>;
  const std::size_t max_;
  Entries entries_;  // The most recently used first.
  std::unordered_map<std::string, typename Entries::iterator> index_;
};

}  // namespace apiserver::inline v0::controller
