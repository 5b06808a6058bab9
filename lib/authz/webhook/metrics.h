#pragma once

#include <chrono>
#include <string>

#include "apiserver/base/metrics.h"
#include "apiserver/base/status.h"
#include "apiserver/client/webhook.h"

namespace apiserver::inline v0::authz {

// Metrics of a webhook's calls, under upstream's names: those of a delegated authorizer, or those
// of a configured one by its name. Any thread.
class WebhookMetrics {
 public:
  // `registry` null: counts nothing.
  WebhookMetrics(metrics::Registry* registry, std::string name);

  void Attempted(const client::WebhookAttempt& attempt) const;
  // Counts a failed call that became no opinion.
  void FailedOpen(const Status& error) const;

 private:
  const std::string name_;
  metrics::Family<metrics::Counter>* requests_ = nullptr;
  metrics::Family<metrics::Histogram>* durations_ = nullptr;
  metrics::Family<metrics::Counter>* fail_open_ = nullptr;
};

// Metrics of a configured webhook's match conditions: authorization/cel/metrics.go. Any thread.
class MatchConditionMetrics {
 public:
  // `registry` null: counts nothing.
  MatchConditionMetrics(metrics::Registry* registry, std::string name);

  // Counts one evaluation of all conditions for a request: the time it took, and that it failed or
  // excluded the webhook.
  void Evaluated(std::chrono::nanoseconds took, const Result<bool>& matches) const;

 private:
  const std::string name_;
  metrics::Family<metrics::Counter>* errors_ = nullptr;
  metrics::Family<metrics::Counter>* exclusions_ = nullptr;
  metrics::Family<metrics::Histogram>* durations_ = nullptr;
};

}  // namespace apiserver::inline v0::authz
