#include "flowcontrol/shuffle_sharding.h"

#include <cmath>
#include <string>

namespace apiserver::v0::flowcontrol {

// The bits of a hash that a hand of cards uses up.
int RequiredEntropyBits(int deck_size, int hand_size) {
  return static_cast<int>(std::ceil(std::log2(deck_size) * hand_size));
}

Result<Dealer> Dealer::New(int deck_size, int hand_size) {
  const std::string deck = "deckSize " + std::to_string(deck_size);
  const std::string hand = "handSize " + std::to_string(hand_size);
  const auto refused = [](const std::string& why) { return Status(Reason::kInvalid, why); };
  if (deck_size <= 0 || hand_size <= 0) return refused(deck + " or " + hand + " is not positive");
  if (hand_size > deck_size) return refused(hand + " is greater than " + deck);
  if (deck_size > 1 << 26) return refused(deck + " is impractically large");
  if (RequiredEntropyBits(deck_size, hand_size) > kHashBitsMax) {
    return refused("required entropy bits of " + deck + " and " + hand + " is greater than " +
                   std::to_string(kHashBitsMax));
  }
  return Dealer(deck_size, hand_size);
}

// The hash is read as a number with the bases deck, deck-1, …: each digit is a card. Bias is small
// as long as the entropy bits fit; see RequiredEntropyBits.
std::span<const std::uint32_t> Dealer::Deal(std::uint64_t hash, Hand& hand) const {
  for (std::size_t i = 0; i < hand_size_; ++i) {
    const std::uint64_t next = hash / (deck_size_ - i);
    hand[i] = static_cast<std::uint32_t>(hash - (deck_size_ - i) * next);
    hash = next;
  }
  // Card i counts only those left in the deck: step over the ones dealt before it.
  Hand dealt = hand;
  for (std::size_t i = 0; i < hand_size_; ++i) {
    for (std::size_t j = i; j > 0; --j) {
      if (dealt[i] >= hand[j - 1]) ++dealt[i];
    }
  }
  hand = dealt;
  return std::span(hand).first(hand_size_);
}

}  // namespace apiserver::v0::flowcontrol
