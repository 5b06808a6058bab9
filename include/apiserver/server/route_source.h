#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"
#include "apiserver/request/request_info.h"
#include "apiserver/storage/stats.h"

// Requests to what is not installed resource by resource: a proxy's, for example.
namespace apiserver::inline v0::server {

// What answers a request. Methods from any thread; they must not wait.
class Route {
 public:
  virtual ~Route() = default;
  // On a loop: see http::Handler. The route outlives the exchange.
  virtual http::Step Serve(http::Exchange& exchange) = 0;
  // What Serve would refuse without looking at the body. OK: it reads the body.
  virtual Status CheckBeforeBody(http::Exchange& exchange) const = 0;
  // Whether a request that is no watch may stay open for long: it connects, or reads a stream.
  virtual bool LongRunning(const request::RequestInfo& info, std::string_view method) const = 0;
  // How much is stored of the resource, by which flow control weighs lists; nullopt: not known.
  virtual std::optional<storage::Stats> GetStats() const = 0;
};

// Finds the routes of a handler whose resources are not installed one by one. Methods from any
// thread, loops included: they must not wait.
class RouteSource {
 public:
  virtual ~RouteSource() = default;
  // Asked several times a request. Null: not this one's; the next of the chain is asked.
  virtual std::shared_ptr<Route> Find(const request::RequestInfo& info) const = 0;
};

}  // namespace apiserver::inline v0::server
