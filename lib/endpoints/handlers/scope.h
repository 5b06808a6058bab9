#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/admission/admission.h"
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

// One resource, or subresource, in one version: the state that its handlers share. Immutable;
// outlives them.
struct RequestScope {
  const Environment* environment = nullptr;
  std::shared_ptr<rest::Storage> storage;
  rest::Capabilities capabilities;
  // The kind of the bodies, and the version of the path. They differ from the resource's for scale
  // and siblings.
  runtime::KindPtr kind;
  std::string version;
  runtime::KindPtr resource_kind;  // The kind of the resource, or of the subresource's parent.
  runtime::GroupVersionResource resource;
  std::string subresource;
  bool namespaced = false;
  rest::WarningPtr deprecation;  // The warning of a deprecated version. Null: it is not deprecated.
  // Tracks the owners of fields. Null: there are no writes.
  patch::apply::FieldManagerPtr field_manager;
  response::Target target;

  runtime::GroupVersionKind gvk() const { return kind->gvk(version); }

  // True if reads and watches come from memory without host code that may block.
  bool ReadsInline() const {
    return capabilities.inline_reader && capabilities.inline_reader->AnswersInline();
  }
  // Returns kWouldBlock on a loop, so that the step moves to the pool. A read from memory without
  // host code may stay.
  Status MayRunHere(const http::Exchange& exchange, bool read) const;
  // Does what MayRunHere does for a write that is answered with 504 once it takes longer than
  // Environment::write_timeout; the write itself then goes on.
  Status MayWriteHere(http::Exchange& exchange) const;
  // Does the same for a create or update, or what may turn out to be either: a small one may begin
  // on a loop if its storage and admission can.
  Status MayWriteHere(http::Exchange& exchange,
                      std::initializer_list<admission::Operation> operations) const;

  // True if a create or update of this body may begin on a loop.
  bool WritesInline(const http::Exchange& exchange,
                    std::initializer_list<admission::Operation> operations) const;

  // Returns the body as an object in the hub version, checked against the path's version, with
  // unknown and duplicate fields refused or warned of as `validation` says.
  Result<std::unique_ptr<runtime::Object>> Decode(http::Exchange& exchange,
                                                  meta::FieldValidation validation) const;
  // Refuses `errors` (kStrict), records them as warnings (kWarn) or drops them. `sent`: the version
  // of what has them. Empty: the path's.
  Status Strict(const Context& ctx, const std::vector<std::string>& errors,
                meta::FieldValidation validation, std::string_view sent = "") const;

  // Sets the managedFields of `object`, which is about to replace `live` (null: to be created). The
  // manager is `manager`, or the client by its User-Agent.
  void TrackFields(const http::Exchange& exchange, const runtime::Object* live,
                   runtime::Object& object, std::string_view manager) const;

  // Checks that name and namespace of `object` fit the path.
  Status CheckName(const runtime::Object& object, std::string_view name,
                   std::string_view namespace_) const;
  // Checks a field selector. kBadRequest: it names a field that cannot be selected by.
  Status CheckFieldSelector(const meta::FieldSelector& selector) const;
};

using ScopePtr = std::shared_ptr<const RequestScope>;

// Waits without a thread for a consistent read, then goes on with `read` and the resourceVersion to
// ask for, on this loop. If the storage cannot do that, the handler is repeated on the pool.
http::Step WhenFresh(const ScopePtr& scope, http::Exchange& exchange,
                     UniqueFunction<http::Step(std::string)> read);

// Returns the path after the resource's own parts, for the options of Connecter and
// GetterWithOptions: it begins with a slash, and ends with one if the path does. Empty: there is
// none.
std::string SubpathOf(const request::RequestInfo& info);

// Makes sure that the request holds the memory which decoding its body may take at most; the
// server's filters have waited for it already. kTooManyRequests: there is no room.
Status ReserveDecoding(http::Exchange& exchange);

// The arguments that all writes need.
struct WriteRequest {
  const RequestScope& scope;
  http::Exchange& exchange;
  const request::RequestInfo& info;
};

// Returns the media type of the request's body. kUnsupportedMediaType: it cannot be read.
Result<codec::MediaType> BodyMediaType(const http::Exchange& exchange);
// Does what BodyMediaType does before the body is read, for a body that may be missing: it checks
// nothing unless the client has sent the length.
Status CheckDeleteOptionsType(const http::Exchange& exchange);

// Returns the DeleteOptions from the body (any media type, any group version) or, without one, from
// the query.
Result<meta::DeleteOptions> ReadDeleteOptions(http::Exchange& exchange);
// Returns the options of a list, watch or deletecollection; `name` comes from a deprecated watch
// path.
Result<meta::ListOptions> ReadListOptions(const RequestScope& scope, http::Exchange& exchange,
                                          bool forced_watch, std::string_view name = "");

}  // namespace apiserver::inline v0::endpoints
