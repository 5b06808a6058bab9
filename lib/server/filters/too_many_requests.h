#pragma once

#include <string>

#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::server {

// What flow control answers whom it turns away: plain text, as upstream's filters do.
inline http::Step TooManyRequests(http::Exchange& exchange, int retry_after_seconds) {
  exchange.writer().Send({.code = 429,
                          .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                                      {"Retry-After", std::to_string(retry_after_seconds)},
                                      {"X-Content-Type-Options", "nosniff"}}},
                         http::Bytes("Too many requests, please try again later.\n"));
  return http::Step::Done();
}

}  // namespace apiserver::inline v0::server
