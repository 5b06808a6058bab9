#include "flowcontrol/shuffle_sharding.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "apiserver/base/random.h"

namespace apiserver::inline v0::flowcontrol {

// shufflesharding_test.go: TestRequiredEntropyBits.
TEST_CASE("flowcontrol: larger hands take more bits of a hash", "[flowcontrol]") {
  CHECK(RequiredEntropyBits(1024, 6) == 60);
  CHECK(RequiredEntropyBits(512, 8) == 72);
}

// TestNewDealer.
TEST_CASE("flowcontrol: a dealer refuses decks and hands that cannot be", "[flowcontrol]") {
  const auto refusal = [](int deck, int hand) {
    return std::string(Dealer::New(deck, hand).status().message());
  };
  CHECK(refusal(-100, 8) == "deckSize -100 or handSize 8 is not positive");
  CHECK(refusal(100, 0) == "deckSize 100 or handSize 0 is not positive");
  CHECK(refusal(100, 101) == "handSize 101 is greater than deckSize 100");
  CHECK(refusal(1 << 27, 2) == "deckSize 134217728 is impractically large");
  CHECK(refusal(512, 8) ==
        "required entropy bits of deckSize 512 and handSize 8 is greater than 60");
  CHECK(Dealer::New(1024, 6).ok());
}

// TestCardDuplication.
TEST_CASE("flowcontrol: a hand holds different cards of the deck", "[flowcontrol]") {
  const auto random = NewSeededRandom(7);
  for (const auto& [deck, hand] : std::vector<std::pair<int, int>>{
           {4, 4}, {8, 8}, {10, 10}, {12, 12}, {128, 8}, {256, 7}, {512, 6}}) {
    CAPTURE(deck, hand);
    const auto dealer = Dealer::New(deck, hand);
    REQUIRE(dealer.ok());
    for (int i = 0; i < 100; ++i) {
      Dealer::Hand cards;
      const auto dealt = dealer->Deal(random->Next(), cards);
      REQUIRE(dealt.size() == static_cast<std::size_t>(hand));
      const std::set<std::uint32_t> different(dealt.begin(), dealt.end());
      REQUIRE(different.size() == dealt.size());
      REQUIRE(*different.rbegin() < static_cast<std::uint32_t>(deck));
    }
  }
}

// What upstream's Dealer deals, computed by hand: 14 of 6 cards is 2, then 2 of the 5 others.
TEST_CASE("flowcontrol: a hash deals the hand that Kubernetes deals", "[flowcontrol]") {
  const auto dealer = Dealer::New(6, 3);
  REQUIRE(dealer.ok());
  Dealer::Hand cards;
  auto dealt = dealer->Deal(14, cards);
  CHECK(std::vector(dealt.begin(), dealt.end()) == std::vector<std::uint32_t>{2, 3, 0});
  dealt = dealer->Deal(0, cards);
  CHECK(std::vector(dealt.begin(), dealt.end()) == std::vector<std::uint32_t>{0, 1, 2});
}

// TestUniformDistribution.
TEST_CASE("flowcontrol: each hand is dealt about as often as any other", "[flowcontrol][slow]") {
  struct Case {
    int deck;
    int hand;
    int deals;
    int least;
    int most;
  };
  // 64*63*62 = 249984 ordered hands, and so on; six, or 24, orders of one hand.
  for (const Case& each : {Case{64, 3, 4'194'304, 96, 102}, Case{128, 3, 2'048'256, 6, 6},
                           Case{50, 4, 5'527'200, 24, 24}}) {
    CAPTURE(each.deck, each.hand);
    const auto dealer = Dealer::New(each.deck, each.hand);
    REQUIRE(dealer.ok());
    std::unordered_map<std::uint64_t, int> seen;
    for (int i = 0; i < each.deals; ++i) {
      Dealer::Hand cards;
      const auto dealt = dealer->Deal(static_cast<std::uint64_t>(i), cards);
      std::sort(cards.begin(), cards.begin() + each.hand);
      std::uint64_t coded = 0;
      for (const std::uint32_t card : dealt) coded = coded << 7 | card;
      ++seen[coded];
    }
    int uneven = 0;
    for (const auto& [hand, count] : seen) uneven += count < each.least || count > each.most;
    CHECK(uneven == 0);
  }
}

}  // namespace apiserver::inline v0::flowcontrol
