#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/codec/codec.h"
#include "apiserver/endpoints/api_group_version.h"
#include "apiserver/http/exchange.h"
#include "apiserver/meta/options.h"
#include "apiserver/patch/apply/field_manager.h"
#include "apiserver/request/request_info.h"
#include "apiserver/response/response.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/warnings.h"

namespace apiserver::inline v0::endpoints {

// One resource, or subresource, in one version: what its handlers share. Immutable; outlives them.
struct RequestScope {
  const Environment* environment = nullptr;
  std::shared_ptr<rest::Storage> storage;
  rest::Capabilities capabilities;
  // Of the bodies, and the version of the path. Differ from the resource's for scale and siblings.
  runtime::KindPtr kind;
  std::string version;
  runtime::KindPtr resource_kind;  // Of the resource, or of what the subresource belongs to.
  runtime::GroupVersionResource resource;
  std::string subresource;
  bool namespaced = false;
  rest::WarningPtr deprecation;  // Of the version; null: it is not deprecated.
  // Tracks who owns which field; null where nothing is written.
  patch::apply::FieldManagerPtr field_manager;
  response::Target target;

  runtime::GroupVersionKind gvk() const { return kind->gvk(version); }

  // Whether reads and watches come from memory with no host code on the way that may wait.
  bool ReadsInline() const {
    return capabilities.inline_reader && capabilities.inline_reader->AnswersInline();
  }
  // kWouldBlock on a loop, so that the step moves to the pool. What reads from memory with no host
  // code on the way may stay.
  Status MayRunHere(const http::Exchange& exchange, bool read) const;
  // As MayRunHere, for what is answered with 504 once it takes longer than
  // Environment::write_timeout; the write itself then goes on.
  Status MayWriteHere(http::Exchange& exchange) const;

  // The body as an object in the hub version, checked against the path's version, with unknown and
  // duplicate fields refused or warned of as `validation` says.
  Result<std::unique_ptr<runtime::Object>> Decode(http::Exchange& exchange,
                                                  meta::FieldValidation validation) const;
  // `errors` refused (kStrict), recorded as warnings (kWarn) or dropped.
  Status Strict(const Context& ctx, const std::vector<std::string>& errors,
                meta::FieldValidation validation) const;

  // `object`, about to replace `live` (null: to be created), gets the managedFields that say who
  // did it: `manager`, or the client by its User-Agent.
  void TrackFields(const http::Exchange& exchange, const runtime::Object* live,
                   runtime::Object& object, std::string_view manager) const;

  // Name and namespace of `object` fit the path.
  Status CheckName(const runtime::Object& object, std::string_view name,
                   std::string_view namespace_) const;
  // kBadRequest: a field selector names a field that cannot be selected by.
  Status CheckFieldSelector(const meta::FieldSelector& selector) const;
};

using ScopePtr = std::shared_ptr<const RequestScope>;

// For a consistent read that would have to wait on this loop: waits without a thread, then goes on
// with `read` and the resourceVersion to ask for, here. If nobody can tell that, the handler is run
// again on the pool.
http::Step WhenFresh(const ScopePtr& scope, http::Exchange& exchange,
                     UniqueFunction<http::Step(std::string)> read);

// What follows the resource's own parts of the path, as options of Connecter and GetterWithOptions
// carry it: begins with a slash, and ends with one if the path does. Empty: nothing follows.
std::string SubpathOf(const request::RequestInfo& info);

// Makes sure that the request holds the memory which decoding its body may take at most; the
// server's filters have waited for it already. kTooManyRequests: there is no room.
Status ReserveDecoding(http::Exchange& exchange);

// Every argument of a request that all writes need.
struct WriteRequest {
  const RequestScope& scope;
  http::Exchange& exchange;
  const request::RequestInfo& info;
};

// The media type of the request's body. kUnsupportedMediaType: it cannot be read.
Result<codec::MediaType> BodyMediaType(const http::Exchange& exchange);
// As BodyMediaType, before the body is read, for a body that may be missing: checks nothing unless
// the client said how long it is.
Status CheckDeleteOptionsType(const http::Exchange& exchange);

// DeleteOptions from the body (any media type, any group version) or, without one, the query.
Result<meta::DeleteOptions> ReadDeleteOptions(http::Exchange& exchange);
// List options of a list, watch or deletecollection; `name` comes from a deprecated watch path.
Result<meta::ListOptions> ReadListOptions(const RequestScope& scope, http::Exchange& exchange,
                                          bool forced_watch, std::string_view name = "");

}  // namespace apiserver::inline v0::endpoints
