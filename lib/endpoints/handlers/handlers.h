#pragma once

#include <cstdint>
#include <memory>

#include "apiserver/http/exchange.h"
#include "endpoints/handlers/scope.h"

// One handler per verb, each in the file of its name. A handler asks only for the capability its
// row in the verb table checked.
namespace apiserver::inline v0::endpoints {

http::Handler NewGetHandler(ScopePtr scope);
// The form of a GET on a collection, as the verb of RequestInfo. A request that was authorized as a
// list never gets a watch.
enum class ListForm : std::uint8_t { kList, kWatch, kWatchPath };
http::Handler NewListHandler(ScopePtr scope, ListForm form);
http::Handler NewCreateHandler(ScopePtr scope);
http::Handler NewUpdateHandler(ScopePtr scope);
http::Handler NewPatchHandler(ScopePtr scope);
http::Handler NewDeleteHandler(ScopePtr scope);
http::Handler NewDeleteCollectionHandler(ScopePtr scope);
http::Handler NewConnectHandler(ScopePtr scope);

// Makes the checks of a handler that need no body: 406, 415, and query options where Go reads them
// before the Content-Type. The server calls it before it reads a body, the handler calls it again.
using BodyCheck = Status (*)(const RequestScope& scope, http::Exchange& exchange);
Status CheckCreate(const RequestScope& scope, http::Exchange& exchange);
Status CheckUpdate(const RequestScope& scope, http::Exchange& exchange);
Status CheckPatch(const RequestScope& scope, http::Exchange& exchange);
Status CheckDelete(const RequestScope& scope, http::Exchange& exchange);
Status CheckDeleteCollection(const RequestScope& scope, http::Exchange& exchange);

}  // namespace apiserver::inline v0::endpoints
