#pragma once

#include <string>

#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::server {

// Answers as Go's http.NotFound does.
inline http::Step PageNotFound(http::Exchange& exchange) {
  exchange.writer().Send({.code = 404,
                          .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                                      {"X-Content-Type-Options", "nosniff"}}},
                         http::Bytes(std::string("404 page not found\n")));
  return http::Step::Done();
}

}  // namespace apiserver::inline v0::server
