#include "flowcontrol/flow_hash.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace apiserver::v0::flowcontrol {

namespace {

// Implements Aumasson and Bernstein, "SipHash: a fast short-input PRF", fed byte by byte.
class SipHash {
 public:
  SipHash(std::uint64_t key0, std::uint64_t key1)
      : v0_(key0 ^ 0x736f6d6570736575U),
        v1_(key1 ^ 0x646f72616e646f6dU),
        v2_(key0 ^ 0x6c7967656e657261U),
        v3_(key1 ^ 0x7465646279746573U) {}

  void Add(unsigned char byte) {
    word_ |= static_cast<std::uint64_t>(byte) << (8 * (size_ % 8));
    if (++size_ % 8 == 0) Compress();
  }
  // Adds eight bytes at a time, whatever the word has already.
  void Add(std::string_view text) {
    while (std::endian::native == std::endian::little && text.size() >= sizeof(word_)) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, text.data(), sizeof(bytes));
      text.remove_prefix(sizeof(bytes));
      const std::size_t filled = 8 * (size_ % sizeof(bytes));
      word_ |= bytes << filled;
      size_ += sizeof(bytes);
      Compress();
      if (filled > 0) word_ = bytes >> (64 - filled);
    }
    for (const char c : text) Add(static_cast<unsigned char>(c));
  }

  std::uint64_t Finish() {
    // The last word has the length in its highest byte, so that trailing zero bytes count.
    word_ |= static_cast<std::uint64_t>(size_) << 56;
    Compress();
    v2_ ^= 0xff;
    for (int i = 0; i < 4; ++i) Round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  // Two rounds for each word and four at the end: SipHash-2-4.
  void Compress() {
    v3_ ^= word_;
    Round();
    Round();
    v0_ ^= word_;
    word_ = 0;
  }
  void Round() {
    v0_ += v1_;
    v1_ = std::rotl(v1_, 13) ^ v0_;
    v0_ = std::rotl(v0_, 32);
    v2_ += v3_;
    v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ += v3_;
    v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ += v1_;
    v1_ = std::rotl(v1_, 17) ^ v2_;
    v2_ = std::rotl(v2_, 32);
  }

  std::uint64_t v0_;
  std::uint64_t v1_;
  std::uint64_t v2_;
  std::uint64_t v3_;
  std::uint64_t word_ = 0;
  std::size_t size_ = 0;
};

}  // namespace

// The key is random, so clients cannot choose names whose flows share queues with another's.
std::uint64_t FlowHash::operator()(std::string_view schema, std::string_view distinguisher) const {
  SipHash hash(key0_, key1_);
  hash.Add(schema);
  // Separates the two, which could otherwise be split at another place with the same bytes.
  hash.Add(static_cast<unsigned char>(0));
  hash.Add(distinguisher);
  return hash.Finish();
}

}  // namespace apiserver::v0::flowcontrol
