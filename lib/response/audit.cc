#include "response/audit.h"

#include "apiserver/audit/request.h"

namespace apiserver::v0::response {

bool IsAudited(const http::Exchange& exchange) {
  return audit::WantsResponseObject(exchange.ctx());
}

// Recording copies the answer, which takes time in proportion to it.
Status MayAuditHere(const http::Exchange& exchange) {
  if (exchange.ctx().may_block() || !IsAudited(exchange)) return {};
  return {Reason::kWouldBlock, "the audit log wants the answer"};
}

void LogAnswer(const http::Exchange& exchange, std::string_view json) {
  if (IsAudited(exchange)) audit::LogResponseObject(exchange.ctx(), std::string(json));
}

}  // namespace apiserver::v0::response
