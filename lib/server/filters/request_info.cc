#include "apiserver/request/request_info.h"

#include <utility>

#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

struct LongRunning {};

// True for the requests that LongRunning is called for; a watch is known by its verb and method.
bool MayBeLongRunning(const request::RequestInfo& info) {
  return !info.is_resource_request || !info.subresource.empty();
}

class RequestInfoFilter final : public http::Filter {
 public:
  explicit RequestInfoFilter(LongRunningCheck check) : check_(std::move(check)) {}

  std::string_view name() const override { return "request-info"; }

  http::Step Begin(http::Exchange& exchange) const override {
    const http::Request& request = exchange.request();
    auto resolved = request::ResolveRequestInfo(request.method, request.path, exchange.query());
    if (!resolved.ok()) return resolved.status();
    const request::RequestInfo& info = exchange.Set(*std::move(resolved));
    if (MayBeLongRunning(info) && TakesLong(info, request.method)) exchange.Set(LongRunning());
    return http::Step::Next();
  }

 private:
  bool TakesLong(const request::RequestInfo& info, std::string_view method) const {
    if (!info.is_resource_request) return info.path.starts_with("/debug/pprof/");
    return check_ && check_(info, method);
  }

  LongRunningCheck check_;
};

}  // namespace

FilterPtr NewRequestInfo(LongRunningCheck check) {
  return std::make_unique<RequestInfoFilter>(std::move(check));
}

bool IsLongRunning(const http::Exchange& exchange) {
  const auto* info = exchange.Find<request::RequestInfo>();
  if (!info) return false;
  // A path below "/watch/" has the verb whatever the method is, but only a GET is a watch.
  // Views compare their sizes first; a string would compare bytes with a literal's.
  if (std::string_view(info->verb) == "watch" && exchange.request().method == "GET") return true;
  return MayBeLongRunning(*info) && exchange.Find<LongRunning>();
}

}  // namespace apiserver::v0::server
