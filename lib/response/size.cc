#include "response/size.h"

namespace apiserver::v0::response {

namespace {

// Each limit is about a millisecond by itself: bytes are copied at 1 GB/s and parsed at 100 MB/s,
// objects of a few KiB made in 20 us.
constexpr std::size_t kCopiedBytesMax = 512 << 10;
constexpr std::size_t kObjectsMax = 16;
constexpr std::size_t kParsedBytesMax = 64 << 10;

}  // namespace

// Answers that cannot be made in about a millisecond go to the pool: the loop serves others
// meanwhile.
Status MayMakeHere(const http::Exchange& exchange, const Making& making) {
  if (exchange.ctx().may_block()) return {};
  if (making.copied_bytes <= kCopiedBytesMax && making.objects <= kObjectsMax &&
      making.parsed_bytes <= kParsedBytesMax) {
    return {};
  }
  return Status(Reason::kWouldBlock, "a large answer is made");
}

}  // namespace apiserver::v0::response
