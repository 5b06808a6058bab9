#pragma once

#include <cstddef>
#include <cstdint>
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
  // `first_block`: the bytes of the first block, which Reset() keeps. Later ones are larger.
  explicit Arena(std::size_t first_block = 4096);
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
  // Returns a copy of `value`.
  template <class T>
  T& Make(const T& value) {
    static_assert(std::is_trivially_destructible_v<T>);
    return *::new (Allocate(sizeof(T), alignof(T))) T(value);
  }

  // Parses JSON text that an object keeps as it was received (RawExtension, FieldsV1), once for
  // each text, which must outlive the arena. nullptr: it is not JSON. Valid until Reset().
  const runtime::Value* ParsedOnce(std::string_view json);

  // Finds a member of a map of data, by an index if the map is large and often looked into. The map
  // must live until ForgetMaps(). nullptr: it has no such member.
  const runtime::Value* FindMember(std::span<const runtime::Member> members, std::string_view key);
  // Drops the indexes of maps: call it before the data goes away.
  void ForgetMaps();

  // Take steps of work that an evaluation does without counting a cost, as comparing nested values.
  // False: no such number is left; from then on none is, and the evaluation ends.
  bool TakeWork(std::uint64_t steps = 1) {
    const bool left = steps <= work_left_;
    work_left_ = left ? work_left_ - steps : 0;
    return left;
  }
  // Tells if TakeWork() failed, or has taken the last step.
  bool out_of_work() const { return work_left_ == 0; }
  // The steps that are left. Unlimited outside of evaluations.
  std::uint64_t work_left() const { return work_left_; }
  void set_work_left(std::uint64_t steps) { work_left_ = steps; }

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
  class MemberIndexes;  // cel/run/member_index.h.

  const std::size_t first_block_;
  std::vector<Block> blocks_;
  std::unique_ptr<RawTexts> raw_texts_;            // Null until JSON text was parsed.
  std::unique_ptr<MemberIndexes> member_indexes_;  // Null until a large map was looked into.
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
  std::size_t used_ = 0;
  std::size_t reserved_ = 0;
  std::uint64_t work_left_ = ~std::uint64_t{0};
};

}  // namespace apiserver::inline v0::cel
