#include <utility>

#include "runtime/patterns.h"
#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

constexpr char kMethods[] = "POST, GET, OPTIONS, PUT, DELETE, PATCH";
constexpr char kHeaders[] =
    "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, "
    "X-Requested-With, If-Modified-Since";

struct AllowedOrigin {
  std::string value;
};

// Implements k8s.io/apiserver/pkg/server/filters.WithCORS.
class Cors final : public http::Filter {
 public:
  explicit Cors(const std::vector<std::string>& origins) : origins_(origins) {
    for (const std::string& origin : origins_) (void)patterns_.Add(origin);
  }

  std::string_view name() const override { return "cors"; }

  http::Step Begin(http::Exchange& exchange) const override {
    const std::string_view origin = exchange.request().headers.Get("Origin");
    if (origin.empty() || !Allowed(origin)) return http::Step::Next();
    exchange.Set(AllowedOrigin{std::string(origin)});
    if (exchange.request().method != "OPTIONS") return http::Step::Next();
    // This is a browser's preflight request, which carries no credentials.
    exchange.writer().Send({.code = 204}, "");
    return http::Step::Done();
  }

  void Head(http::Exchange& exchange, http::ResponseHead& head) const override {
    const AllowedOrigin* origin = exchange.Find<AllowedOrigin>();
    if (!origin) return;
    head.headers.Set("Access-Control-Allow-Origin", origin->value);
    head.headers.Set("Access-Control-Allow-Methods", kMethods);
    head.headers.Set("Access-Control-Allow-Headers", kHeaders);
    head.headers.Set("Access-Control-Expose-Headers", "Date");
    head.headers.Set("Access-Control-Allow-Credentials", "true");
  }

 private:
  bool Allowed(std::string_view origin) const {
    for (const std::string& pattern : origins_) {
      if (patterns_.Matches(pattern, origin)) return true;
    }
    return false;
  }

  const std::vector<std::string> origins_;
  runtime::Patterns patterns_;
};

}  // namespace

FilterPtr NewCors(const std::vector<std::string>& allowed_origins) {
  return std::make_unique<Cors>(allowed_origins);
}

}  // namespace apiserver::v0::server
