#include "apiserver/cel/arena.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>

#include "apiserver/codec/json.h"
#include "apiserver/runtime/arena.h"
#include "cel/run/member_index.h"
#include "cel/run/views.h"

namespace apiserver::v0::cel {
namespace {

constexpr std::size_t kLargestStep = std::size_t{1} << 20U;

}  // namespace

// Parsed JSON texts by their place.
class Arena::RawTexts {
 public:
  const runtime::Value* ParsedOnce(std::string_view json) {
    const auto [at, added] = values_.try_emplace(json.data());
    if (added) {
      Result<runtime::Value> parsed = codec::ParseJson(json, arena_);
      if (parsed.ok()) at->second = *parsed;
    }
    return at->second.has_value() ? &*at->second : nullptr;
  }

 private:
  runtime::Arena arena_;
  std::map<const char*, std::optional<runtime::Value>> values_;
};

Arena::Arena(std::size_t first_block) : first_block_(first_block) {}
Arena::~Arena() = default;

const runtime::Value* Arena::ParsedOnce(std::string_view json) {
  if (raw_texts_ == nullptr) raw_texts_ = std::make_unique<RawTexts>();
  return raw_texts_->ParsedOnce(json);
}

const runtime::Value* Arena::FindMember(std::span<const runtime::Member> members,
                                        std::string_view key) {
  if (members.size() <= kSearchedMembersMax) return cel::FindMember(members, key);
  if (member_indexes_ == nullptr) member_indexes_ = std::make_unique<MemberIndexes>();
  return member_indexes_->Find(members, key);
}

void Arena::ForgetMaps() { member_indexes_.reset(); }

void* Arena::Allocate(std::size_t bytes, std::size_t align) {
  const auto at = reinterpret_cast<std::uintptr_t>(next_);
  const std::size_t padding = (align - at % align) % align;
  used_ += bytes;
  if (next_ == nullptr || padding + bytes > static_cast<std::size_t>(end_ - next_)) {
    return AllocateInNewBlock(bytes);
  }
  std::byte* const memory = next_ + padding;
  next_ = memory + bytes;
  return memory;
}

void* Arena::AllocateInNewBlock(std::size_t bytes) {
  const std::size_t next = blocks_.empty() ? first_block_ : blocks_.back().size * 2;
  const std::size_t size = std::max(std::min(next, kLargestStep), bytes);
  // operator new[] aligns to 16 bytes.
  blocks_.push_back({std::make_unique_for_overwrite<std::byte[]>(size), size});
  reserved_ += size;
  std::byte* const memory = blocks_.back().memory.get();
  next_ = memory + bytes;
  end_ = memory + size;
  return memory;
}

std::string_view Arena::Copy(std::string_view text) {
  if (text.empty()) return {};
  auto* const copy = static_cast<char*>(Allocate(text.size(), 1));
  std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}

void Arena::Reset() {
  used_ = 0;
  raw_texts_.reset();
  ForgetMaps();
  if (blocks_.empty()) return;
  blocks_.erase(blocks_.begin() + 1, blocks_.end());
  reserved_ = blocks_.front().size;
  next_ = blocks_.front().memory.get();
  end_ = next_ + reserved_;
}

}  // namespace apiserver::v0::cel
