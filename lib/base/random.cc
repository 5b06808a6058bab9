#include "apiserver/base/random.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "apiserver/base/sync.h"
#include "text/hex.h"

namespace apiserver::v0 {
namespace {

// The two hexadecimal digits of each byte.
constexpr auto kHexPairs = [] {
  std::array<std::array<char, 2>, 256> pairs{};
  for (unsigned byte = 0; byte < pairs.size(); ++byte) {
    pairs[byte] = {text::HexDigit(byte >> 4U), text::HexDigit(byte)};
  }
  return pairs;
}();

class KernelRandom final : public Random {
 public:
  void Fill(std::span<std::byte> out) override {
    while (!out.empty()) {
      // A signal may cut the call short; it then returns fewer bytes than were asked for.
      const ssize_t got = getrandom(out.data(), out.size(), 0);
      if (got >= 0) {
        out = out.subspan(static_cast<std::size_t>(got));
      } else if (errno != EINTR) {
        std::abort();  // A guessable key is worse than no server.
      }
    }
  }
};

// SplitMix64: its state is a counter, so that threads share it without a lock.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed) : state_(seed) {}

  void Fill(std::span<std::byte> out) override {
    while (!out.empty()) {
      const std::uint64_t word = NextWord();
      const std::size_t count = std::min(out.size(), sizeof(word));
      std::memcpy(out.data(), &word, count);
      out = out.subspan(count);
    }
  }

 private:
  std::uint64_t NextWord() {
    constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;
    std::uint64_t z = state_.fetch_add(kStep, std::memory_order_relaxed) + kStep;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::atomic<std::uint64_t> state_;
};

// Asks its source for 4 KiB at a time: one system call serves many values.
class BufferedRandom final : public Random {
 public:
  explicit BufferedRandom(Random& source) : source_(source) {}

  void Fill(std::span<std::byte> out) override {
    auto buffer = buffer_.Lock();
    while (!out.empty()) {
      if (buffer->used == buffer->bytes.size()) {
        source_.Fill(buffer->bytes);
        buffer->used = 0;
      }
      const auto unused = std::span(buffer->bytes).subspan(buffer->used);
      const auto taken = unused.first(std::min(unused.size(), out.size()));
      std::ranges::copy(taken, out.begin());
      out = out.subspan(taken.size());
      buffer->used += taken.size();
    }
  }

 private:
  struct Buffer {
    std::array<std::byte, 4096> bytes{};
    std::size_t used = bytes.size();
  };
  Random& source_;
  Guarded<Buffer> buffer_;
};

}  // namespace

std::uint64_t Random::Next() {
  std::uint64_t word = 0;
  Fill(std::as_writable_bytes(std::span(&word, 1)));
  return word;
}

std::uint64_t Random::Below(std::uint64_t bound) {
  // The lowest 2^64 mod bound words would make small results likelier than others.
  const std::uint64_t unfair = (0 - bound) % bound;
  std::uint64_t word = Next();
  while (word < unfair) word = Next();
  return word % bound;
}

Random& SecureRandom() {
  static KernelRandom random;
  return random;
}

std::unique_ptr<Random> NewSeededRandom(std::uint64_t seed) {
  return std::make_unique<SeededRandom>(seed);
}

std::unique_ptr<Random> NewBufferedRandom(Random& source) {
  return std::make_unique<BufferedRandom>(source);
}

std::string NewUuid(Random& random) {
  std::array<std::byte, 16> bytes;
  random.Fill(bytes);
  bytes[6] = (bytes[6] & std::byte{0x0f}) | std::byte{0x40};  // Version 4.
  bytes[8] = (bytes[8] & std::byte{0x3f}) | std::byte{0x80};  // RFC 4122 variant.
  std::string out(36, '-');
  char* at = out.data();
  std::size_t i = 0;
  for (const std::size_t end : {4, 6, 8, 10, 16}) {  // A hyphen stands behind each but the last.
    for (; i < end; ++i, at += 2) {
      std::memcpy(at, kHexPairs[std::to_integer<std::size_t>(bytes[i])].data(), 2);
    }
    ++at;
  }
  return out;
}

}  // namespace apiserver::v0
