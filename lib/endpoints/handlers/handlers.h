#pragma once

#include <memory>

#include "apiserver/http/exchange.h"
#include "endpoints/handlers/scope.h"

// One handler per verb, each in the file of its name. A handler asks only for the capability its
// row in the verb table checked.
namespace apiserver::inline v0::endpoints {

http::Handler NewGetHandler(ScopePtr scope);
// Lists, or watches if the query says so; `forced_watch` for the deprecated /watch/ paths.
http::Handler NewListHandler(ScopePtr scope, bool forced_watch);
http::Handler NewCreateHandler(ScopePtr scope);
http::Handler NewUpdateHandler(ScopePtr scope);
http::Handler NewPatchHandler(ScopePtr scope);
http::Handler NewDeleteHandler(ScopePtr scope);
http::Handler NewDeleteCollectionHandler(ScopePtr scope);
http::Handler NewConnectHandler(ScopePtr scope);

}  // namespace apiserver::inline v0::endpoints
