#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::server::debug {

// A sample stands for so much time of a thread on a processor, as in Go.
inline constexpr std::int64_t kSamplePeriodNanoseconds = 10'000'000;

// What one thread of this process does while it runs, sampled until this is destroyed. One thread
// at a time.
class ThreadSamples {
 public:
  // Code addresses, the innermost function's first; callers' lie in their call.
  using Take = std::function<void(std::span<const std::uint64_t> stack)>;

  virtual ~ThreadSamples() = default;
  // Hands over what was sampled since the last call; returns how many there was no room for.
  virtual std::uint64_t Drain(const Take& take) = 0;
};

// By the kernel's thread id. kNotFound: there is no such thread (any more). Other errors say what
// the kernel refuses and what to do about it.
using OpenThreadSamples = std::function<Result<std::unique_ptr<ThreadSamples>>(int thread)>;

// From perf_event_open(2): user code only, and no signals.
Result<std::unique_ptr<ThreadSamples>> OpenPerfEvents(int thread);

}  // namespace apiserver::inline v0::server::debug
