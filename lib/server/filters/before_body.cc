#include <utility>

#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

// Answers a request before its body is read, if the handler reads none. Routing costs nothing; a
// body costs memory and, if the client sends slowly, time. Go's handlers read the body themselves,
// once they know that they need it.
class BeforeBody final : public http::Filter {
 public:
  explicit BeforeBody(http::Handler ask) : ask_(std::move(ask)) {}

  std::string_view name() const override { return "before-body"; }

  http::Step Begin(http::Exchange& exchange) const override {
    return exchange.has_body() ? ask_(exchange) : http::Step::Next();
  }

 private:
  http::Handler ask_;
};

}  // namespace

FilterPtr NewBeforeBody(http::Handler ask) { return std::make_unique<BeforeBody>(std::move(ask)); }

}  // namespace apiserver::v0::server
