#include "apiserver/request/request_info.h"

#include <utility>

#include "base/status_macros.h"
#include "server/filters/filters.h"

namespace apiserver::inline v0::server {

namespace {

struct LongRunning {};

class RequestInfoFilter final : public http::Filter {
 public:
  explicit RequestInfoFilter(LongRunningCheck check) : check_(std::move(check)) {}

  std::string_view name() const override { return "request-info"; }

  http::Step Begin(http::Exchange& exchange) const override {
    const http::Request& request = exchange.request();
    ASSIGN_OR_RETURN(request::RequestInfo info,
                     request::ResolveRequestInfo(request.method, request.path, exchange.query()));
    const bool profile = !info.is_resource_request && info.path.starts_with("/debug/pprof/");
    if (profile || (!info.subresource.empty() && check_ && check_(info, request.method))) {
      exchange.Set(LongRunning());
    }
    exchange.Set(std::move(info));
    return http::Step::Next();
  }

 private:
  LongRunningCheck check_;
};

}  // namespace

FilterPtr NewRequestInfo(LongRunningCheck check) {
  return std::make_unique<RequestInfoFilter>(std::move(check));
}

bool IsLongRunning(const http::Exchange& exchange) {
  const auto* info = exchange.Find<request::RequestInfo>();
  return (info && info->verb == "watch") || exchange.Find<LongRunning>();
}

}  // namespace apiserver::inline v0::server
