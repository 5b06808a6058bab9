#include "server/filters/too_many_requests.h"

#include <string>

namespace apiserver::v0::server {

namespace {

// Counts only served resources, and paths without their names, so that the labels are bounded.
void Count(http::Exchange& exchange, const RefusalMetrics& counted) {
  const auto& info = exchange.Get<request::RequestInfo>();
  if (!counted.metrics || (info.is_resource_request && !counted.installed(info))) return;
  const RequestLabels labels = LabelsOf(exchange.request(), exchange.query(), info);
  counted.metrics->RecordDropped(labels);
  counted.metrics->RecordTermination(labels, 429);
}

}  // namespace

http::Step TooManyRequests(http::Exchange& exchange, int retry_after_seconds,
                           const RefusalMetrics& counted) {
  Count(exchange, counted);
  exchange.writer().Send({.code = 429,
                          .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                                      {"Retry-After", std::to_string(retry_after_seconds)},
                                      {"X-Content-Type-Options", "nosniff"}}},
                         http::Bytes("Too many requests, please try again later.\n"));
  return http::Step::Done();
}

}  // namespace apiserver::v0::server
