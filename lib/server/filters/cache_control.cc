#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

class CacheControl final : public http::Filter {
 public:
  std::string_view name() const override { return "cache-control"; }

  http::Step Begin(http::Exchange&) const override { return http::Step::Next(); }

  void Head(http::Exchange&, http::ResponseHead& head) const override {
    if (!head.headers.Has("Cache-Control")) {
      head.headers.Add("Cache-Control", "no-cache, private");
    }
  }
};

}  // namespace

FilterPtr NewCacheControl() { return std::make_unique<CacheControl>(); }

}  // namespace apiserver::v0::server
