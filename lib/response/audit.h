#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"

// What the audit log is told of answers; nothing happens where that is not wanted.
namespace apiserver::inline v0::response {

// Whether the answer's object is recorded, which is made for that and takes its time: not on loops.
bool IsAudited(const http::Exchange& exchange);
// kWouldBlock on a loop if the answer's object is recorded.
Status MayAuditHere(const http::Exchange& exchange);
// The answer as JSON.
void LogAnswer(const http::Exchange& exchange, std::string_view json);

}  // namespace apiserver::inline v0::response
