#include "server/filters/filters.h"

namespace apiserver::v0::server {

namespace {

// Implements k8s.io/apiserver/pkg/endpoints/filters.WithMuxAndDiscoveryComplete.
class MuxComplete final : public http::Filter {
 public:
  explicit MuxComplete(const LifecycleSignal& complete) : complete_(complete) {}

  std::string_view name() const override { return "mux-and-discovery-complete"; }

  http::Step Begin(http::Exchange& exchange) const override {
    if (!complete_.Signaled()) exchange.Set(BeforeMuxComplete());
    return http::Step::Next();
  }

 private:
  const LifecycleSignal& complete_;
};

}  // namespace

FilterPtr NewMuxComplete(const LifecycleSignal& complete) {
  return std::make_unique<MuxComplete>(complete);
}

}  // namespace apiserver::v0::server
