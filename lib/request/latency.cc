#include "apiserver/request/latency.h"

namespace apiserver::v0::request {

namespace {

constexpr std::string_view kAnnotations[kLayers] = {"apiserver.latency.k8s.io/authentication",
                                                    "apiserver.latency.k8s.io/impersonation",
                                                    "apiserver.latency.k8s.io/authorization",
                                                    "apiserver.latency.k8s.io/apf-queue-wait",
                                                    "apiserver.latency.k8s.io/mutating-webhook",
                                                    "apiserver.latency.k8s.io/validating-webhook",
                                                    "apiserver.latency.k8s.io/etcd"};

// These layers run several times at once or again after waiting, so a sum would exceed the
// request's time. Follows DurationTracker of endpoints/request/webhook_duration.go:
// true for newMaxLatencyTracker, false for newSumLatencyTracker.
bool LongestCounts(Layer layer) {
  return layer == Layer::kAuthorization || layer == Layer::kAPFQueueWait ||
         layer == Layer::kValidatingWebhook;
}

}  // namespace

std::string_view LatencyAnnotation(Layer layer) {
  return kAnnotations[static_cast<std::size_t>(layer)];
}

void LatencyTrackers::Track(Layer layer, std::chrono::nanoseconds took) const {
  std::atomic<std::int64_t>& kept = took_[static_cast<std::size_t>(layer)];
  if (!LongestCounts(layer)) {
    kept.fetch_add(took.count(), std::memory_order_relaxed);
    return;
  }
  // A maximum without a lock: repeats until the value is stored or another thread's is larger.
  std::int64_t longest = kept.load(std::memory_order_relaxed);
  while (longest < took.count() &&
         !kept.compare_exchange_weak(longest, took.count(), std::memory_order_relaxed)) {
  }
}

}  // namespace apiserver::v0::request
