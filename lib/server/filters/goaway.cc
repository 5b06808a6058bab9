#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

// The number of bits of a double's fraction.
constexpr int kFractionBits = 53;

// Implements k8s.io/apiserver/pkg/server/filters.WithProbabilisticGoaway.
class Goaway final : public http::Filter {
 public:
  Goaway(double chance, Random& random) : chance_(chance), random_(random) {}

  std::string_view name() const override { return "goaway"; }

  http::Step Begin(http::Exchange&) const override { return http::Step::Next(); }

  void Head(http::Exchange& exchange, http::ResponseHead& head) const override {
    if (exchange.request().http_major < 2) return;
    const double drawn = static_cast<double>(random_.Below(std::uint64_t{1} << kFractionBits)) /
                         static_cast<double>(std::uint64_t{1} << kFractionBits);
    if (drawn < chance_) head.close_connection = true;
  }

 private:
  const double chance_;
  Random& random_;
};

}  // namespace

FilterPtr NewGoaway(double chance, Random& random) {
  return std::make_unique<Goaway>(chance, random);
}

}  // namespace apiserver::v0::server
