#include "apiserver/server/features.h"

namespace apiserver::v0::server {

FeatureGates DefaultFeatureGates() {
  FeatureGates gates;
  (void)gates.Add({{.name = std::string(kCBORServingAndStorage),
                    .enabled_by_default = false,
                    .stage = FeatureGate::Stage::kAlpha},
                   {.name = std::string(kAPIResponseCompression),
                    .enabled_by_default = true,
                    .stage = FeatureGate::Stage::kBeta},
                   {.name = std::string(kAuthorizePodWebsocketUpgradeCreatePermission),
                    .enabled_by_default = true,
                    .stage = FeatureGate::Stage::kBeta},
                   {.name = std::string(kUnauthenticatedHTTP2DOSMitigation),
                    .enabled_by_default = true,
                    .stage = FeatureGate::Stage::kBeta},
                   {.name = std::string(kConstrainedImpersonation),
                    .enabled_by_default = true,
                    .stage = FeatureGate::Stage::kBeta},
                   {.name = std::string(kWatchListCompression),
                    .enabled_by_default = true,
                    .stage = FeatureGate::Stage::kBeta}});
  return gates;
}

}  // namespace apiserver::v0::server
