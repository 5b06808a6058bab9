#include <utility>

#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

// Shares a filter of the configuration, which may be that of several servers.
class HostFilter final : public http::Filter {
 public:
  explicit HostFilter(std::shared_ptr<const http::Filter> filter) : filter_(std::move(filter)) {}

  std::string_view name() const override { return filter_->name(); }
  http::Step Begin(http::Exchange& exchange) const override { return filter_->Begin(exchange); }
  void Head(http::Exchange& exchange, http::ResponseHead& head) const override {
    filter_->Head(exchange, head);
  }
  void End(http::Exchange& exchange, const http::Outcome& outcome) const override {
    filter_->End(exchange, outcome);
  }

 private:
  const std::shared_ptr<const http::Filter> filter_;
};

}  // namespace

FilterPtr NewHostFilter(std::shared_ptr<const http::Filter> filter) {
  return std::make_unique<HostFilter>(std::move(filter));
}

}  // namespace apiserver::v0::server
