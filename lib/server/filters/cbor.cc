#include "apiserver/response/response.h"
#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

class Cbor final : public http::Filter {
 public:
  std::string_view name() const override { return "cbor"; }

  http::Step Begin(http::Exchange& exchange) const override {
    exchange.Set(response::ServesCbor());
    return http::Step::Next();
  }
};

}  // namespace

FilterPtr NewCbor() { return std::make_unique<Cbor>(); }

}  // namespace apiserver::v0::server
