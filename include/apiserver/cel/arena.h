#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::cel {

// Memory for the values that evaluations make: handed out in order, taken back all at once and then
// reused. Destructors do not run. Not thread-safe; one owner.
class Arena {
 public:
  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Returns memory that is valid until Reset(); never null. `align` is a power of two up to 16.
  void* Allocate(std::size_t bytes, std::size_t align = 8);
  // Copies the text into the arena.
  std::string_view Copy(std::string_view text);
  // Copies `values` into the arena.
  template <class T>
  std::span<T> Copy(std::span<const T> values) {
    const std::span<T> copy = New<T>(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) copy[i] = values[i];
    return copy;
  }
  // Returns `count` value-initialised objects.
  template <class T>
  std::span<T> New(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    auto* const first = static_cast<T*>(Allocate(count * sizeof(T), alignof(T)));
    for (std::size_t i = 0; i < count; ++i) ::new (first + i) T();
    return {first, count};
  }
  template <class T>
  T& Make(const T& value) {
    static_assert(std::is_trivially_destructible_v<T>);
    return *::new (Allocate(sizeof(T), alignof(T))) T(value);
  }

  // Parses JSON text that an object keeps as it was received (RawExtension, FieldsV1), once for
  // each text, which must outlive the arena. nullptr: it is not JSON. Valid until Reset().
  const runtime::Value* ParsedOnce(std::string_view json);

  // Invalidates everything that was handed out. Keeps the first block for reuse.
  void Reset();
  // The bytes handed out since the last Reset().
  std::size_t bytes_used() const { return used_; }
  // The bytes taken from the heap.
  std::size_t bytes_reserved() const { return reserved_; }

 private:
  void* AllocateInNewBlock(std::size_t bytes);

  struct Block {
    std::unique_ptr<std::byte[]> memory;
    std::size_t size;
  };
  class RawTexts;
  std::vector<Block> blocks_;
  std::unique_ptr<RawTexts> raw_texts_;  // Null until JSON text was parsed.
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  std::size_t used_ = 0;
  std::size_t reserved_ = 0;
};

}  // namespace apiserver::inline v0::cel
