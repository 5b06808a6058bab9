#include <utility>

#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

// Implements k8s.io/apiserver/pkg/server/filters.WithHSTS.
class Hsts final : public http::Filter {
 public:
  explicit Hsts(const std::vector<std::string>& directives) {
    for (const std::string& directive : directives) {
      if (!value_.empty()) value_ += "; ";
      value_ += directive;
    }
  }

  std::string_view name() const override { return "hsts"; }

  http::Step Begin(http::Exchange&) const override { return http::Step::Next(); }

  void Head(http::Exchange&, http::ResponseHead& head) const override {
    if (!head.headers.Has("Strict-Transport-Security")) {
      head.headers.Add("Strict-Transport-Security", value_);
    }
  }

 private:
  std::string value_;
};

}  // namespace

FilterPtr NewHsts(const std::vector<std::string>& directives) {
  return std::make_unique<Hsts>(directives);
}

}  // namespace apiserver::v0::server
