#pragma once

#include <cstdint>
#include <string_view>

#include "apiserver/base/random.h"

namespace apiserver::inline v0::flowcontrol {

// Hashes flows: SipHash-2-4 with a key of this process, so that a client cannot choose a name that
// shares another's queues. Upstream uses SHA-256, which is as hard to aim and several times as
// expensive. Immutable.
class FlowHash final {
 public:
  explicit FlowHash(Random& random) : key0_(random.Next()), key1_(random.Next()) {}
  FlowHash(std::uint64_t key0, std::uint64_t key1) : key0_(key0), key1_(key1) {}

  // Returns the hash of `schema`, a zero byte and `distinguisher`.
  std::uint64_t operator()(std::string_view schema, std::string_view distinguisher) const;

 private:
  std::uint64_t key0_;
  std::uint64_t key1_;
};

}  // namespace apiserver::inline v0::flowcontrol
