#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace apiserver::inline v0 {

// The source of random numbers; a test passes its own with a seed. All methods may be called from
// any thread and must not block.
class Random {
 public:
  virtual ~Random() = default;
  // Fills `out` with random bytes.
  virtual void Fill(std::span<std::byte> out) = 0;

  // Returns 64 random bits.
  std::uint64_t Next();
  // Returns a number in [0, bound), uniformly; bound > 0.
  std::uint64_t Below(std::uint64_t bound);
};

// The kernel's generator (getrandom), fit for keys and tokens. Lives as long as the process.
Random& SecureRandom();
// A deterministic generator; not fit for secrets.
std::unique_ptr<Random> NewSeededRandom(std::uint64_t seed);

// Reads from `source` in larger pieces, so that many small requests cost few system calls. For
// identifiers only: secrets should not lie in memory before they are used. `source` outlives it.
std::unique_ptr<Random> NewBufferedRandom(Random& source);

// Returns a version 4 UUID in lower case, "8c3b…", as metadata.uid and Audit-Id have.
std::string NewUuid(Random& random);

}  // namespace apiserver::inline v0
