#include <functional>
#include <string_view>

#include "apiserver/auth/user.h"
#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

// Names the tenant by user. Flow control, if it classifies requests, replaces it by level and flow.
class TenantOfUser final : public http::Filter {
 public:
  std::string_view name() const override { return "tenant"; }

  http::Step Begin(http::Exchange& exchange) const override {
    const auth::UserInfo& user = *exchange.Get<auth::UserInfoPtr>();
    exchange.ChargeTo({.level = 0,
                       .flow = std::hash<std::string_view>()(user.name),
                       .exempt = user.InGroup(auth::kSystemPrivilegedGroup)});
    return http::Step::Next();
  }
};

}  // namespace

FilterPtr NewTenant() { return std::make_unique<TenantOfUser>(); }

}  // namespace apiserver::v0::server
