#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace apiserver::inline v0::runtime {

// Memory for the values of one object: handed out in order, given back all at once. Not
// thread-safe; one owner.
class Arena {
 public:
  Arena() = default;
  // Leaves `other` empty and usable.
  Arena(Arena&& other) noexcept { *this = std::move(other); }
  Arena& operator=(Arena&& other) noexcept;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Returns memory that is valid as long as the arena; never null. `align` is a power of two up to
  // 16.
  void* Allocate(std::size_t bytes, std::size_t align = 8);
  // Copies the text into the arena.
  std::string_view Copy(std::string_view text);
  // Keeps `owner` alive as long as the arena, so that strings may point into what it owns.
  void Pin(std::shared_ptr<const void> owner) { pinned_.push_back(std::move(owner)); }

  // The number of bytes taken from the heap.
  std::size_t bytes_reserved() const { return reserved_; }

 private:
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  std::size_t reserved_ = 0;
  std::vector<std::shared_ptr<const void>> pinned_;
};

}  // namespace apiserver::inline v0::runtime
