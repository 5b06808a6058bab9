#include "apiserver/server/features.h"

namespace apiserver::inline v0::server {

FeatureGates DefaultFeatureGates() {
  FeatureGates gates;
  (void)gates.Add({{.name = std::string(kCBORServingAndStorage),
                    .enabled_by_default = false,
                    .stage = FeatureGate::Stage::kAlpha}});
  return gates;
}

}  // namespace apiserver::inline v0::server
