#include "server/filters/authentication_metrics.h"

#include <algorithm>
#include <array>

namespace apiserver::v0::server {

namespace {

constexpr std::array<std::string_view, 3> kAuthenticationResults = {"success", "failure", "error"};
constexpr std::string_view kOtherUsers = "other";
constexpr std::string_view kEmails = "email_id";
// Follows compressUsername of endpoints/filters/metrics.go: a label for each user would be
// unbounded.
constexpr std::array<std::string_view, AuthenticationMetrics::kKnownUsers> kKnownUserNames = {
    "admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"};

// Returns the place in kKnownUserNames, or its size.
std::size_t PlaceOf(std::string_view username) {
  return static_cast<std::size_t>(std::ranges::find(kKnownUserNames, username) -
                                  kKnownUserNames.begin());
}

}  // namespace

AuthenticationMetrics::AuthenticationMetrics(metrics::Registry& registry)
    : users_(registry.Counters(
          {.name = "authenticated_user_requests",
           .help = "[ALPHA] Counter of authenticated requests broken out by username.",
           .labels = {"username"}})) {
  auto& attempts = registry.Counters({.name = "authentication_attempts",
                                      .help = "[ALPHA] Counter of authenticated attempts.",
                                      .labels = {"result"}});
  auto& durations = registry.Histograms(
      {.name = "authentication_duration_seconds",
       .help = "[ALPHA] Authentication duration in seconds broken out by result.",
       .labels = {"result"}},
      metrics::ExponentialBuckets(0.001, 2, 15));
  for (std::size_t i = 0; i < kResults; ++i) {
    attempts_[i] = &attempts.With({kAuthenticationResults[i]});
    durations_[i] = &durations.With({kAuthenticationResults[i]});
  }
  others_ = &users_.With({kOtherUsers});
}

// The series are kept by address: a search takes a lock.
void AuthenticationMetrics::Count(AuthenticationResult result, std::string_view username,
                                  std::chrono::nanoseconds took) const {
  const auto i = static_cast<std::size_t>(result);
  attempts_[i]->Add();
  durations_[i]->Observe(std::chrono::duration<double>(took).count());
  if (result != AuthenticationResult::kSuccess) return;
  const std::string_view shown = CompressUsername(username);
  if (shown == kOtherUsers) return others_->Add();
  std::atomic<metrics::Counter*>& kept = shown_[PlaceOf(shown)];
  metrics::Counter* counter = kept.load(std::memory_order_acquire);
  if (counter == nullptr) {
    counter = &users_.With({shown});
    kept.store(counter, std::memory_order_release);
  }
  counter->Add();
}

std::string_view CompressUsername(std::string_view username) {
  if (PlaceOf(username) < kKnownUserNames.size()) return username;
  return username.find('@') != std::string_view::npos ? kEmails : kOtherUsers;
}

}  // namespace apiserver::v0::server
