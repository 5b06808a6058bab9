#include "apiserver/request/request_info.h"

#include "base/status_macros.h"
#include "server/filters/filters.h"

namespace apiserver::inline v0::server {

namespace {

class RequestInfoFilter final : public http::Filter {
 public:
  std::string_view name() const override { return "request-info"; }

  http::Step Begin(http::Exchange& exchange) const override {
    const http::Request& request = exchange.request();
    ASSIGN_OR_RETURN(request::RequestInfo info,
                     request::ResolveRequestInfo(request.method, request.path, exchange.query()));
    exchange.Set(std::move(info));
    return http::Step::Next();
  }
};

}  // namespace

FilterPtr NewRequestInfo() { return std::make_unique<RequestInfoFilter>(); }

bool IsLongRunning(const http::Exchange& exchange) {
  const auto* info = exchange.Find<request::RequestInfo>();
  return info && info->verb == "watch";
}

}  // namespace apiserver::inline v0::server
