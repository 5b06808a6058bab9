#include "server/filters/authentication_metrics.h"

#include <array>

namespace apiserver::v0::server {

namespace {

constexpr std::array<std::string_view, 3> kAuthenticationResults = {"success", "failure", "error"};
constexpr std::string_view kOtherUsers = "other";
constexpr std::string_view kEmails = "email_id";
// Follows compressUsername of endpoints/filters/metrics.go: a label for each user would be
// unbounded.
constexpr std::array<std::string_view, 5> kKnownUsers = {
    "admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"};

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

// The usual series are kept by address; only the few known users are looked up.
void AuthenticationMetrics::Count(AuthenticationResult result, std::string_view username,
                                  std::chrono::nanoseconds took) const {
  const auto i = static_cast<std::size_t>(result);
  attempts_[i]->Add();
  durations_[i]->Observe(std::chrono::duration<double>(took).count());
  if (result != AuthenticationResult::kSuccess) return;
  const std::string_view shown = CompressUsername(username);
  if (shown == kOtherUsers) return others_->Add();
  if (shown != kEmails) return users_.With({shown}).Add();
  metrics::Counter* emails = emails_.load(std::memory_order_acquire);
  if (emails == nullptr) {
    emails = &users_.With({kEmails});
    emails_.store(emails, std::memory_order_release);
  }
  emails->Add();
}

std::string_view CompressUsername(std::string_view username) {
  for (const std::string_view known : kKnownUsers) {
    if (username == known) return username;
  }
  return username.find('@') != std::string_view::npos ? kEmails : kOtherUsers;
}

}  // namespace apiserver::v0::server
