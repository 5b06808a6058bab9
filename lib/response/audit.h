#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"

// Records responses in the audit log; does nothing if they are not wanted.
namespace apiserver::inline v0::response {

// True if the response's object is recorded. It is made for that, which takes time: not on loops.
bool IsAudited(const http::Exchange& exchange);
// Returns kWouldBlock on a loop if the response's object is recorded.
Status MayAuditHere(const http::Exchange& exchange);
// Records the response, as JSON.
void LogAnswer(const http::Exchange& exchange, std::string_view json);

}  // namespace apiserver::inline v0::response
