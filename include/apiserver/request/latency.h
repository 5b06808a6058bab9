#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"

// The time that a request spends in each layer:
// k8s.io/apiserver/pkg/endpoints/request/webhook_duration.go.
namespace apiserver::inline v0::request {

// The layers that are measured.
enum class Layer : std::uint8_t {
  kAuthentication,
  kImpersonation,
  kAuthorization,
  kAPFQueueWait,
  kMutatingWebhook,
  kValidatingWebhook,
  kStorage,  // The engine, from the call to its answer.
};
inline constexpr std::size_t kLayers = 7;

// Returns the key of the layer's audit annotation: "apiserver.latency.k8s.io/etcd".
std::string_view LatencyAnnotation(Layer layer);

// The time of one request in each layer; a value of its Context, except for watches. All methods
// may be called from any thread and take no lock.
class LatencyTrackers final {
 public:
  LatencyTrackers() = default;
  // Moves before other threads know it.
  LatencyTrackers(LatencyTrackers&& other) noexcept {
    for (std::size_t i = 0; i < kLayers; ++i) took_[i] = other.took_[i].load();
  }

  // Adds a stay of `took`. For authorization, queues and validating webhooks (which are called at
  // the same time) the longest stay counts; for others the sum.
  void Track(Layer layer, std::chrono::nanoseconds took) const;
  // The time spent in `layer` so far.
  std::chrono::nanoseconds Of(Layer layer) const {
    return std::chrono::nanoseconds(took_[static_cast<std::size_t>(layer)].load());
  }
  // The time that does not depend on the server's own speed: webhooks and queues.
  std::chrono::nanoseconds NotOurs() const {
    return Of(Layer::kMutatingWebhook) + Of(Layer::kValidatingWebhook) + Of(Layer::kAPFQueueWait);
  }

 private:
  mutable std::array<std::atomic<std::int64_t>, kLayers> took_{};  // Nanoseconds.
};

// Adds a stay if the request of `ctx` is tracked.
inline void TrackLatency(const Context& ctx, Layer layer, std::chrono::nanoseconds took) {
  if (const auto* trackers = ctx.Get<LatencyTrackers>()) trackers->Track(layer, took);
}

// Adds its own lifetime as a stay in `layer`. Does not read the clock if the request is not
// tracked.
class LatencyTimer final {
 public:
  // Both outlive it.
  LatencyTimer(const Context& ctx, Layer layer, const Clock& clock)
      : trackers_(ctx.Get<LatencyTrackers>()), clock_(clock), layer_(layer) {
    if (trackers_) began_ = clock_.Now();
  }
  LatencyTimer(const LatencyTimer&) = delete;
  LatencyTimer& operator=(const LatencyTimer&) = delete;
  ~LatencyTimer() {
    if (trackers_) trackers_->Track(layer_, clock_.Now() - began_);
  }

 private:
  const LatencyTrackers* const trackers_;
  const Clock& clock_;
  const Layer layer_;
  Clock::Monotonic began_;
};

}  // namespace apiserver::inline v0::request
