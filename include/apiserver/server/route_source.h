#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/base/status.h"
#include "apiserver/discovery/discovery.h"
#include "apiserver/http/exchange.h"
#include "apiserver/openapi/foreign.h"
#include "apiserver/openapi/fragment.h"
#include "apiserver/openapi/spec.h"
#include "apiserver/request/request_info.h"
#include "apiserver/runtime/names.h"
#include "apiserver/storage/stats.h"

// Routes for resources that are not installed one by one, such as those of a proxy.
namespace apiserver::inline v0::server {

// Answers the requests of a path. Any thread may call its methods; they must not block.
class Route {
 public:
  virtual ~Route() = default;
  // Answers the request, on a loop: see http::Handler. The route outlives the exchange.
  virtual http::Step Serve(http::Exchange& exchange) = 0;
  // Returns the answer if Serve would answer without looking at the body. OK: it reads the body.
  virtual Status CheckBeforeBody(http::Exchange& exchange) const = 0;
  // Returns true if a request other than a watch may stay open for long, as a connect does.
  virtual bool LongRunning(const request::RequestInfo& info, std::string_view method) const = 0;
  // Returns the stored number and size, by which flow control weighs lists. nullopt: not known.
  virtual std::optional<storage::Stats> GetStats() const = 0;
  // Returns true if metrics may name the resource of the request: it is one of a bounded number.
  virtual bool IsResource(const request::RequestInfo& /*info*/) const { return false; }
  // Ends a route that is not found any more: watches and connections end, other requests that run
  // are finished. Requests that begin although, having found it before, are served by `successor`;
  // null: they are answered 404.
  virtual void End(const std::shared_ptr<Route>& /*successor*/) {}
};

// Finds the routes of a handler whose resources are not installed one by one. Any thread may call
// its methods, loops included: they must not block.
class RouteSource {
 public:
  virtual ~RouteSource() = default;
  // Returns the route of a request; called several times for each. Null: it is not this source's,
  // and the next one is asked.
  virtual std::shared_ptr<Route> Find(const request::RequestInfo& info) const = 0;
  // Gives up all routes of Handler::NewRoute(). Called once, when the server is destroyed and
  // answers no more.
  virtual void Forget() const {}
  // Returns the resource, or the resource/subresource, in all versions in which it is served: for
  // admission plugins that match equivalent resources.
  virtual std::vector<admission::EquivalentResource> Equivalents(
      const runtime::GroupVersionResource& /*resource*/, std::string_view /*subresource*/) const {
    return {};
  }
  // Returns a number that grows after each change of the results below.
  virtual std::uint64_t generation() const { return 0; }
  // Returns the groups that discovery lists. Requests for "/apis/<group>/<version>" itself go to
  // Find first.
  virtual std::vector<discovery::APIGroup> Groups() const { return {}; }
  // Returns one of them. nullopt: it is not this source's. Looked for among Groups(); a source of
  // many groups finds it without making the others.
  virtual std::optional<discovery::APIGroup> FindGroup(std::string_view group) const;
  // Puts groups and the versions of each into the order of discovery. Called with the groups of all
  // handlers, or with one alone, for sources in front of the installed resources.
  virtual void Arrange(std::vector<discovery::APIGroup>& /*groups*/) const {}
  // Returns what it adds to OpenAPI for a group version, whose document of v3 is made of that
  // alone, and to v2.
  virtual std::vector<openapi::FragmentPtr> Fragments(std::string_view /*group*/,
                                                      std::string_view /*version*/) const {
    return {};
  }
  // Returns the fragments of all its group versions.
  virtual std::map<runtime::GroupVersion, std::vector<openapi::FragmentPtr>> AllFragments() const {
    return {};
  }
  // Returns complete OpenAPI v3 documents, by path ("apis/metrics.k8s.io/v1beta1").
  virtual std::map<std::string, std::shared_ptr<const openapi::Document>> OpenApiV3() const {
    return {};
  }
  // Returns the URLs of OpenAPI v3 documents that Find() has routes for, by path: "/openapi/v3/…",
  // with a hash if it is known. Called for sources in front of the installed resources, in whose
  // place the documents stand.
  virtual std::map<std::string, std::string> OpenApiV3Urls() const { return {}; }
  // Returns documents of other servers that are merged into OpenAPI v2, behind what this server has
  // itself and in this order; one whose group version has Fragments() is left out. Called for
  // sources in front of the installed resources.
  virtual std::vector<openapi::ForeignV2Ptr> ForeignOpenApiV2() const { return {}; }
};

}  // namespace apiserver::inline v0::server
