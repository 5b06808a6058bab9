#pragma once  // Library-internal: other rooms include this header.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::server::debug {

// The processor time of a thread that a sample stands for, as in Go.
inline constexpr std::int64_t kSamplePeriodNanoseconds = 10'000'000;

// The samples of one thread of this process, taken until this is destroyed. Used by one thread at a
// time.
class ThreadSamples {
 public:
  // Receives a stack of code addresses, the innermost function's first; a caller's address lies in
  // its call.
  using Take = std::function<void(std::span<const std::uint64_t> stack)>;

  virtual ~ThreadSamples() = default;
  // Hands over the samples since the last call; returns the number of those that did not fit.
  virtual std::uint64_t Drain(const Take& take) = 0;
};

// Opens a thread by the kernel's id. kNotFound: there is no such thread (any more). Other errors
// say what the kernel refuses and what to do about it.
using OpenThreadSamples = std::function<Result<std::unique_ptr<ThreadSamples>>(int thread)>;

// Samples by perf_event_open(2): user code only, and no signals.
Result<std::unique_ptr<ThreadSamples>> OpenPerfEvents(int thread);

}  // namespace apiserver::inline v0::server::debug
