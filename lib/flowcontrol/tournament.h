#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace apiserver::inline v0::flowcontrol {

// The smallest of some numbers that change: O(log n) to change one, and to find the first smallest
// at or after a place. Not thread-safe.
class Tournament final {
 public:
  static constexpr std::uint64_t kNone = UINT64_MAX;

  // Sets the number of values; all become kNone.
  void Resize(std::size_t size);
  void Set(std::size_t index, std::uint64_t value);
  std::uint64_t min() const { return tree_.empty() ? kNone : tree_[1]; }
  // Returns the first value from `from` on, going around, that equals min(). The size must not be
  // 0.
  std::size_t FirstMin(std::size_t from) const;

 private:
  std::size_t size_ = 0;
  std::size_t leaves_ = 0;           // A power of two.
  std::vector<std::uint64_t> tree_;  // Node i is the smaller of 2i and 2i+1; the leaves come last.
};

}  // namespace apiserver::inline v0::flowcontrol
