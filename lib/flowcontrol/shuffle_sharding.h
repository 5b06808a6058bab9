#pragma once  // Library-internal: other rooms include this header.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::flowcontrol {

// The bits of a hash that may be used: with all 64 the last card dealt would be uneven by 2:3, with
// 60 it is 32:33. k8s.io/apiserver/pkg/util/shufflesharding.
inline constexpr int kHashBitsMax = 60;
// The largest hand that fits into kHashBitsMax bits, whatever the deck.
inline constexpr std::size_t kHandSizeMax = 15;

// Returns the bits of hash that dealing takes at most.
int RequiredEntropyBits(int deck_size, int hand_size);

// Deals each flow a hand of queues, so that two flows rarely share all of theirs. Immutable.
class Dealer final {
 public:
  // Makes a dealer. kInvalid: sizes that are not positive, a hand larger than its deck, a deck
  // above 2^26, or more entropy needed than kHashBitsMax.
  static Result<Dealer> New(int deck_size, int hand_size);

  std::size_t hand_size() const { return hand_size_; }
  using Hand = std::array<std::uint32_t, kHandSizeMax>;
  // Sets the first hand_size() cards of `hand` to different numbers below the size of the deck.
  std::span<const std::uint32_t> Deal(std::uint64_t hash, Hand& hand) const;

 private:
  Dealer(int deck_size, int hand_size)
      : deck_size_(static_cast<std::uint64_t>(deck_size)),
        hand_size_(static_cast<std::size_t>(hand_size)) {}

  std::uint64_t deck_size_;
  std::size_t hand_size_;
};

}  // namespace apiserver::inline v0::flowcontrol
