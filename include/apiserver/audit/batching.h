#pragma once

#include <chrono>
#include <cstddef>

#include "apiserver/audit/backend.h"

// Backends that wrap another one: k8s.io/apiserver/plugin/pkg/audit/buffered and truncate.
namespace apiserver::inline v0::audit {

// Options of NewBufferedBackend().
struct BatchOptions {
  std::size_t buffer_size = 10'000;  // In events; more are dropped and counted.
  // The most bytes of buffered events; more are dropped and counted. Not in Go.
  std::size_t buffer_bytes = 64 << 20;
  std::size_t max_batch_size = 400;  // A full batch is sent at once,
  std::chrono::milliseconds max_batch_wait = std::chrono::seconds(30);  // a smaller one after this.
  // The limit of batches a second, and how many may be sent at once after a pause.
  bool throttle = true;
  double throttle_qps = 10;
  int throttle_burst = 15;
  // The most batches in flight; 1: one after the other. Go has no limit.
  std::size_t batches_in_flight = 16;

  // The defaults for a log, which gains nothing from batches.
  static BatchOptions ForLog() {
    return {.max_batch_size = 1, .throttle = false, .batches_in_flight = 1};
  }
};
// Collects events and passes them on in batches, on a thread of its own.
BackendPtr NewBufferedBackend(BackendPtr delegate, BatchOptions options);

// Options of NewTruncatingBackend().
struct TruncateOptions {
  std::size_t max_event_size = 100 << 10;  // Larger ones lose their objects, or are dropped.
  std::size_t max_batch_size = 10 << 20;   // Larger batches are split.
};
// Keeps events and batches below the limits, on the caller's thread.
BackendPtr NewTruncatingBackend(BackendPtr delegate, TruncateOptions options);

// Returns the approximate size of an event, for limits.
std::size_t BytesOf(const Event& event);

}  // namespace apiserver::inline v0::audit
