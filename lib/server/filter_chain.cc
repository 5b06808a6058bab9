#include "server/filter_chain.h"

#include <utility>

#include "server/filters/filters.h"

namespace apiserver::inline v0::server {

http::FilterChain DefaultFilterChain(const FilterConfig& config) {
  http::FilterChain chain;
  const auto then = [&chain](std::unique_ptr<const http::Filter> filter) {
    chain.push_back(std::move(filter));
  };
  // First, so that every answer, also one that a later filter gives, names its audit id.
  then(NewAuditId(*config.random));
  // Everything below asks the RequestInfo what the request is about.
  then(NewRequestInfo(config.long_running));
  // Before whatever answers, errors too.
  if (config.cbor) then(NewCbor());
  // Answers are not to be cached unless a handler says so.
  then(NewCacheControl());
  // Before anything that takes long, so that stopping knows of every request it must wait for.
  then(NewInFlight(*config.in_flight));
  // Before authentication, so that a slow look-up there is bounded too.
  then(NewDeadline(config.request_timeout, *config.clock));
  // Before authentication, which may warn.
  then(NewWarnings());
  then(NewAuthentication(config.authentication));
  // Nothing behind the chain can be reached around it.
  then(NewAuthorization(config.authorizer));
  // Only who is authorized may make the server hold a body.
  then(NewBody(config.body_bytes_max));
  return chain;
}

}  // namespace apiserver::inline v0::server
