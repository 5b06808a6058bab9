#pragma once  // Library-internal: other rooms include this header.

#include "apiserver/auth/authorizer.h"
#include "apiserver/http/exchange.h"

namespace apiserver::inline v0::request {

// Returns the attributes for the authorizer: k8s.io/apiserver filters.GetAuthorizerAttributes.
// `user` is null if the request was not authenticated. Borrows from the exchange.
auth::Attributes AttributesOf(const http::Exchange& exchange);

}  // namespace apiserver::inline v0::request
