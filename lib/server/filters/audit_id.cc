#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

class AuditIdFilter final : public http::Filter {
 public:
  explicit AuditIdFilter(Random& random) : random_(random) {}

  std::string_view name() const override { return "audit-id"; }

  // A client may send its id, by which it finds its requests in the log of several servers.
  http::Step Begin(http::Exchange& exchange) const override {
    const std::string_view sent = exchange.request().headers.Get("Audit-ID");
    exchange.Set(AuditId{sent.empty() ? NewUuid(random_) : std::string(sent)});
    return http::Step::Next();
  }

  void Head(http::Exchange& exchange, http::ResponseHead& head) const override {
    if (const AuditId* id = exchange.Find<AuditId>()) head.headers.Set("Audit-Id", id->value);
  }

 private:
  Random& random_;
};

}  // namespace

FilterPtr NewAuditId(Random& random) { return std::make_unique<AuditIdFilter>(random); }

}  // namespace apiserver::v0::server
