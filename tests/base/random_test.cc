#include "apiserver/base/random.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <string_view>

namespace apiserver::inline v0 {
namespace {

TEST_CASE("base: a buffered source gives the same bytes in other portions", "[base]") {
  const auto plain = NewSeededRandom(9);
  const auto under = NewSeededRandom(9);
  const auto buffered = NewBufferedRandom(*under);
  // Whole words, since the seeded source counts them; more than one buffer in all.
  for (int i = 0; i < 2000; ++i) REQUIRE(buffered->Next() == plain->Next());
}

TEST_CASE("base: a seed decides the words that follow", "[base]") {
  const auto one = NewSeededRandom(1);
  const auto same = NewSeededRandom(1);
  const auto other = NewSeededRandom(2);

  const std::uint64_t first = one->Next();

  CHECK(first == 0x910a2dec89025cc1);  // SplitMix64's first word for seed 1.
  CHECK(same->Next() == first);
  CHECK(other->Next() != first);
  CHECK(one->Next() != first);
}

TEST_CASE("base: random bytes fill exactly what is given", "[base]") {
  const auto random = NewSeededRandom(3);
  std::array<std::byte, 13> bytes{};
  bytes[11] = bytes[12] = std::byte{0xee};

  random->Fill(std::span(bytes).first(11));

  CHECK(bytes[11] == std::byte{0xee});
  CHECK(std::count(bytes.begin(), bytes.begin() + 11, std::byte{0}) < 3);
}

TEST_CASE("base: Below gives every number under its bound and no other", "[base]") {
  const auto random = NewSeededRandom(4);
  std::set<std::uint64_t> seen;

  for (int i = 0; i < 200; ++i) seen.insert(random->Below(5));

  CHECK(seen == std::set<std::uint64_t>{0, 1, 2, 3, 4});
  CHECK(random->Below(1) == 0);
}

TEST_CASE("base: a UUID is of version 4, in lower case", "[base]") {
  const auto random = NewSeededRandom(5);
  for (int i = 0; i < 50; ++i) {
    const std::string uuid = NewUuid(*random);

    REQUIRE(uuid.size() == 36);
    for (std::size_t at = 0; at < uuid.size(); ++at) {
      const bool dash = at == 8 || at == 13 || at == 18 || at == 23;
      REQUIRE((dash ? "-" : std::string_view("0123456789abcdef")).find(uuid[at]) !=
              std::string_view::npos);
    }
    CHECK(uuid[14] == '4');
    CHECK(std::string_view("89ab").find(uuid[19]) != std::string_view::npos);
  }
}

TEST_CASE("base: a UUID has the digits of its bytes", "[base]") {
  class Counting final : public Random {
   public:
    void Fill(std::span<std::byte> out) override {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::byte(i * 0x11);
    }
  };
  Counting random;

  CHECK(NewUuid(random) == "00112233-4455-4677-8899-aabbccddeeff");
}

TEST_CASE("base: the kernel's randomness differs from call to call", "[base]") {
  CHECK(NewUuid(SecureRandom()) != NewUuid(SecureRandom()));
}

}  // namespace
}  // namespace apiserver::inline v0
