#include "apiserver/runtime/arena.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>

namespace apiserver::v0::runtime {

namespace {

// Blocks double from the first size to the last, so that small objects stay small; the first
// doubling is by halves, since most objects that are kept are about as large. What would waste much
// of a block gets one of its own.
constexpr std::size_t kFirstBlockBytes = 512;
constexpr std::size_t kBlockBytesMax = 64 << 10;

// Returns the size of the next block, after so many bytes.
std::size_t NextBlockBytes(std::size_t reserved) {
  if (reserved > 0 && reserved < 2 * kFirstBlockBytes) return kFirstBlockBytes / 2;
  return std::clamp(reserved, kFirstBlockBytes, kBlockBytesMax);
}

std::byte* Align(std::byte* at, std::size_t align) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  return at + (((address + align - 1) & ~(align - 1)) - address);
}

}  // namespace

Arena& Arena::operator=(Arena&& other) noexcept {
  if (this == &other) return *this;
  blocks_ = std::move(other.blocks_);
  pinned_ = std::move(other.pinned_);
  next_ = std::exchange(other.next_, nullptr);
  end_ = std::exchange(other.end_, nullptr);
  reserved_ = std::exchange(other.reserved_, 0);
  other.blocks_.clear();
  other.pinned_.clear();
  return *this;
}

void* Arena::Allocate(std::size_t bytes, std::size_t align) {
  assert(align != 0 && align <= 16 && (align & (align - 1)) == 0);
  if (next_ != nullptr) {
    std::byte* const at = Align(next_, align);
    if (at <= end_ && bytes <= static_cast<std::size_t>(end_ - at)) {
      next_ = at + bytes;
      return at;
    }
  }
  const std::size_t usual = NextBlockBytes(reserved_);
  const bool own_block = bytes > std::max(usual, kFirstBlockBytes) / 4 && next_ != nullptr;
  const std::size_t size = own_block ? bytes : std::max(usual, bytes);
  // operator new[] aligns to 16.
  blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(size, 1)));
  reserved_ += size;
  std::byte* const block = blocks_.back().get();
  if (!own_block) {
    next_ = block + bytes;
    end_ = block + size;
  }
  return block;
}

std::string_view Arena::Copy(std::string_view text) {
  if (text.empty()) return {};
  auto* const at = static_cast<char*>(Allocate(text.size(), 1));
  std::memcpy(at, text.data(), text.size());
  return {at, text.size()};
}

}  // namespace apiserver::v0::runtime
