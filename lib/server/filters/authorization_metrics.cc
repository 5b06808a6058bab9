#include "server/filters/authorization_metrics.h"

#include <array>
#include <string_view>

namespace apiserver::v0::server {

namespace {

constexpr std::array<std::string_view, 4> kAuthorizationResults = {"denied", "allowed",
                                                                   "no-opinion", "error"};
// Errors have no decision; their label is the last.
constexpr std::size_t kAuthorizationError = 3;
static_assert(static_cast<std::size_t>(auth::Decision::kDeny) == 0);
static_assert(static_cast<std::size_t>(auth::Decision::kAllow) == 1);
static_assert(static_cast<std::size_t>(auth::Decision::kNoOpinion) == 2);

}  // namespace

AuthorizationMetrics::AuthorizationMetrics(metrics::Registry& registry) {
  auto& attempts = registry.Counters(
      {.name = "authorization_attempts_total",
       .help = "[ALPHA] Counter of authorization attempts broken down by result. It can be either "
               "'allowed', 'denied', 'no-opinion' or 'error'.",
       .labels = {"result"}});
  auto& durations = registry.Histograms(
      {.name = "authorization_duration_seconds",
       .help = "[ALPHA] Authorization duration in seconds broken out by result.",
       .labels = {"result"}},
      metrics::ExponentialBuckets(0.001, 2, 15));
  for (std::size_t i = 0; i < kResults; ++i) {
    attempts_[i] = &attempts.With({kAuthorizationResults[i]});
    durations_[i] = &durations.With({kAuthorizationResults[i]});
  }
}

void AuthorizationMetrics::Count(const Result<auth::Verdict>& verdict,
                                 std::chrono::nanoseconds took) const {
  const std::size_t i =
      verdict.ok() ? static_cast<std::size_t>(verdict->decision) : kAuthorizationError;
  attempts_[i]->Add();
  durations_[i]->Observe(std::chrono::duration<double>(took).count());
}

}  // namespace apiserver::v0::server
