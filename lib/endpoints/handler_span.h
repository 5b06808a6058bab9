#pragma once

#include "apiserver/http/exchange.h"
#include "apiserver/request/request_info.h"

namespace apiserver::inline v0::endpoints {

// Makes the handler's span the current one, if the request is traced: "Create", "List" and so on.
// It ends with the request. A step that is repeated keeps its span.
void StartHandlerSpan(http::Exchange& exchange, const request::RequestInfo& info);

}  // namespace apiserver::inline v0::endpoints
