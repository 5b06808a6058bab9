#include <utility>

#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

class PublicPath final : public http::Filter {
 public:
  explicit PublicPath(http::Handler handler) : handler_(std::move(handler)) {}

  std::string_view name() const override { return "public-path"; }

  // Only reads are public; other methods go on to authentication.
  http::Step Begin(http::Exchange& exchange) const override {
    const std::string& method = exchange.request().method;
    if (method != "GET" && method != "HEAD") return http::Step::Next();
    return handler_(exchange);
  }

 private:
  const http::Handler handler_;
};

}  // namespace

FilterPtr NewPublicPath(http::Handler handler) {
  return std::make_unique<PublicPath>(std::move(handler));
}

}  // namespace apiserver::v0::server
