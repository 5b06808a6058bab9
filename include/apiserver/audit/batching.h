#pragma once

#include <chrono>
#include <cstddef>

#include "apiserver/audit/backend.h"

// Backends around another one: k8s.io/apiserver/plugin/pkg/audit/buffered and truncate.
namespace apiserver::inline v0::audit {

struct BatchOptions {
  std::size_t buffer_size = 10'000;  // Events; more are dropped and counted.
  // What they may say in all; more are dropped and counted. Ours.
  std::size_t buffer_bytes = 64 << 20;
  std::size_t max_batch_size = 400;                                     // So many are sent at once.
  std::chrono::milliseconds max_batch_wait = std::chrono::seconds(30);  // Fewer after that.
  // Batches a second; `burst` of them at once after a quiet time.
  bool throttle = true;
  double throttle_qps = 10;
  int throttle_burst = 15;
  // Batches under way at once; Go has no limit there. 1: one after the other.
  std::size_t batches_in_flight = 16;

  // Of the log: batching does not help it.
  static BatchOptions ForLog() {
    return {.max_batch_size = 1, .throttle = false, .batches_in_flight = 1};
  }
};
// Collects events and hands them on in batches, on a thread of its own.
BackendPtr NewBufferedBackend(BackendPtr delegate, BatchOptions options);

struct TruncateOptions {
  std::size_t max_event_size = 100 << 10;  // Larger ones lose their objects, or are dropped.
  std::size_t max_batch_size = 10 << 20;   // Larger batches are split.
};
BackendPtr NewTruncatingBackend(BackendPtr delegate, TruncateOptions options);

// Roughly what an event holds, for limits.
std::size_t BytesOf(const Event& event);

}  // namespace apiserver::inline v0::audit
