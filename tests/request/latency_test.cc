#include "apiserver/request/latency.h"

#include <catch2/catch.hpp>

#include "apiserver/testing/server/fake_clock.h"

namespace apiserver::inline v0::request {

using std::chrono::nanoseconds;

// webhook_duration_test.go: TestLatencyTrackersFrom.
TEST_CASE("request: stays in a layer add up, or the longest counts", "[request]") {
  testing::FakeClock clock;
  Context ctx = Context::Child(Context::Background());
  CHECK(ctx.Get<LatencyTrackers>() == nullptr);
  const auto& trackers = ctx.Set(LatencyTrackers());
  CHECK(trackers.Of(Layer::kMutatingWebhook) == nanoseconds(0));
  CHECK(trackers.Of(Layer::kValidatingWebhook) == nanoseconds(0));
  CHECK(trackers.Of(Layer::kAPFQueueWait) == nanoseconds(0));

  const auto stay = [&](Layer layer, nanoseconds duration) {
    const LatencyTimer timer(ctx, layer, clock);
    clock.Advance(duration);
  };
  for (const int duration : {100, 200, 300, 200, 400, 300, 100}) {
    stay(Layer::kMutatingWebhook, nanoseconds(duration));
    stay(Layer::kValidatingWebhook, nanoseconds(duration));
    stay(Layer::kAPFQueueWait, nanoseconds(duration));
    stay(Layer::kStorage, nanoseconds(duration));
  }
  CHECK(trackers.Of(Layer::kMutatingWebhook) == nanoseconds(1600));
  CHECK(trackers.Of(Layer::kValidatingWebhook) == nanoseconds(400));
  CHECK(trackers.Of(Layer::kAPFQueueWait) == nanoseconds(400));
  CHECK(trackers.Of(Layer::kStorage) == nanoseconds(1600));
  CHECK(trackers.Of(Layer::kAuthorization) == nanoseconds(0));
  // Storage is the server's own.
  CHECK(trackers.NotOurs() == nanoseconds(2400));
}

TEST_CASE("request: what works for a request counts in it, other work nowhere", "[request]") {
  Context ctx = Context::Child(Context::Background());
  TrackLatency(ctx, Layer::kStorage, nanoseconds(5));
  const auto& trackers = ctx.Set(LatencyTrackers());
  TrackLatency(Context::Child(ctx), Layer::kStorage, nanoseconds(7));
  TrackLatency(Context::Background(), Layer::kStorage, nanoseconds(9));
  CHECK(trackers.Of(Layer::kStorage) == nanoseconds(7));
}

TEST_CASE("request: the layers have upstream's audit annotations", "[request]") {
  CHECK(LatencyAnnotation(Layer::kAuthentication) == "apiserver.latency.k8s.io/authentication");
  CHECK(LatencyAnnotation(Layer::kImpersonation) == "apiserver.latency.k8s.io/impersonation");
  CHECK(LatencyAnnotation(Layer::kAuthorization) == "apiserver.latency.k8s.io/authorization");
  CHECK(LatencyAnnotation(Layer::kAPFQueueWait) == "apiserver.latency.k8s.io/apf-queue-wait");
  CHECK(LatencyAnnotation(Layer::kMutatingWebhook) == "apiserver.latency.k8s.io/mutating-webhook");
  CHECK(LatencyAnnotation(Layer::kValidatingWebhook) ==
        "apiserver.latency.k8s.io/validating-webhook");
  CHECK(LatencyAnnotation(Layer::kStorage) == "apiserver.latency.k8s.io/etcd");
}

}  // namespace apiserver::inline v0::request
