#include "server/debug/metrics.h"

#include <string>
#include <utility>

#include "apiserver/response/response.h"

namespace apiserver::v0::server::debug {

http::Handler NewMetricsHandler(std::shared_ptr<metrics::Registry> registry, bool resets) {
  return [registry = std::move(registry), resets](http::Exchange& exchange) {
    if (resets && exchange.request().method == "DELETE") {
      registry->Reset();
      return response::WriteText(exchange, 200, "metrics reset\n");
    }
    exchange.writer().Send({.headers = {{"Content-Type", std::string(metrics::kTextContentType)}}},
                           http::Bytes(registry->Serialize()));
    return http::Step::Done();
  };
}

}  // namespace apiserver::v0::server::debug
