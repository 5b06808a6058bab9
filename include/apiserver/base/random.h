#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace apiserver::inline v0 {

// Where randomness comes from; a test passes its own with a seed. Any thread.
class Random {
 public:
  virtual ~Random() = default;
  virtual void Fill(std::span<std::byte> out) = 0;

  std::uint64_t Next();
  // Uniform in [0, bound); bound > 0.
  std::uint64_t Below(std::uint64_t bound);
};

// The kernel's generator (getrandom), fit for keys and tokens. Lives as long as the process.
Random& SecureRandom();
// Deterministic from `seed`; not fit for secrets.
std::unique_ptr<Random> NewSeededRandom(std::uint64_t seed);

// Takes what `source` gives in larger pieces, so that many small requests cost few system calls.
// For identifiers; what must stay secret is better not kept in memory before it is used. `source`
// outlives it.
std::unique_ptr<Random> NewBufferedRandom(Random& source);

// A version 4 UUID in lower case, "8c3b…": what metadata.uid and Audit-Id hold.
std::string NewUuid(Random& random);

}  // namespace apiserver::inline v0
