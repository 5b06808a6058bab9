#pragma once

#include <cstddef>

namespace apiserver::inline v0::storage::etcd {

// Chooses the most keys that the next page may have. etcd counts the keys behind a page each time,
// so that few pages cost it the least; they are bounded by their bytes, and become smaller towards
// the end, as etcd has nothing to do while the last one is worked on.
class PageSize {
 public:
  struct Limits {
    // A page of objects like those before it is at most about so long.
    std::size_t bytes = std::size_t{32} << 20U;
    // A longer answer is refused, and TooLong() told.
    std::size_t bytes_max = std::size_t{128} << 20U;
    // The keys of the first page, whose objects may be of any size.
    std::size_t first = 2'000;
    // Pages are not made smaller than this towards the end.
    std::size_t last = 5'000;
  };

  PageSize() : PageSize(Limits{}) {}
  explicit PageSize(const Limits& limits) : limits_(limits), keys_(limits.first) {}

  const Limits& limits() const { return limits_; }
  std::size_t keys() const { return keys_; }
  // Tells that a page of `keys` took so many bytes, and how many keys are left behind it.
  void Took(std::size_t keys, std::size_t bytes, std::size_t left);
  // Makes the page that is asked for again smaller. False: it has one key already.
  bool TooLong();

 private:
  Limits limits_;
  std::size_t keys_;
};

}  // namespace apiserver::inline v0::storage::etcd
