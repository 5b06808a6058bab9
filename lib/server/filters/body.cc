#include "server/filters/filters.h"

namespace apiserver::inline v0::server {

namespace {

class Body final : public http::Filter {
 public:
  explicit Body(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  std::string_view name() const override { return "body"; }

  http::Step Begin(http::Exchange& exchange) const override {
    const std::string& method = exchange.request().method;
    const bool reads = method == "GET" || method == "HEAD" || method == "OPTIONS";
    if (reads || !exchange.has_body()) return http::Step::Next();
    return exchange.CollectBody(bytes_max_);
  }

 private:
  std::size_t bytes_max_;
};

}  // namespace

FilterPtr NewBody(std::size_t bytes_max) { return std::make_unique<Body>(bytes_max); }

}  // namespace apiserver::inline v0::server
