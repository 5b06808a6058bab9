#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/discovery/discovery.h"
#include "apiserver/http/exchange.h"
#include "apiserver/openapi/spec.h"
#include "apiserver/request/request_info.h"
#include "apiserver/storage/stats.h"

// Requests to what is not installed resource by resource: a proxy's, for example.
namespace apiserver::inline v0::server {

// Answers the requests of a path. Methods from any thread; they must not wait.
class Route {
 public:
  virtual ~Route() = default;
  // On a loop: see http::Handler. The route outlives the exchange.
  virtual http::Step Serve(http::Exchange& exchange) = 0;
  // Returns what Serve would answer without looking at the body. OK: it reads the body.
  virtual Status CheckBeforeBody(http::Exchange& exchange) const = 0;
  // Returns whether a request that is no watch may stay open for long, as a connect does.
  virtual bool LongRunning(const request::RequestInfo& info, std::string_view method) const = 0;
  // Returns how much is stored, by which flow control weighs lists; nullopt: not known.
  virtual std::optional<storage::Stats> GetStats() const = 0;
};

// Finds the routes of a handler whose resources are not installed one by one. Methods from any
// thread, loops included: they must not wait.
class RouteSource {
 public:
  virtual ~RouteSource() = default;
  // Asked several times a request. Null: not this one's; the next of the chain is asked.
  virtual std::shared_ptr<Route> Find(const request::RequestInfo& info) const = 0;
  // Grows after each change of what the methods below return.
  virtual std::uint64_t generation() const { return 0; }
  // Returns the groups that discovery lists. Find is asked first for "/apis/<group>/<version>"
  // itself.
  virtual std::vector<discovery::APIGroup> Groups() const { return {}; }
  // Documents of OpenAPI v3 as they are, by path ("apis/metrics.k8s.io/v1beta1"). There is no
  // merging into OpenAPI v2.
  virtual std::map<std::string, std::shared_ptr<const openapi::Document>> OpenApiV3() const {
    return {};
  }
};

}  // namespace apiserver::inline v0::server
