#include "server/feature_metrics.h"

#include <string_view>

namespace apiserver::v0::server {

void ShowFeatures(const FeatureGates& features, metrics::Registry& registry) {
  auto& enabled = registry.Gauges({.name = "kubernetes_feature_enabled",
                                   .help = "[BETA] This metric records the data about the stage "
                                           "and enablement of a k8s feature.",
                                   .labels = {"name", "stage"}});
  const auto show = [&](std::string_view name, FeatureGate::Stage stage) {
    enabled.With({name, StageWord(stage)}).Set(features.Enabled(name) ? 1 : 0);
  };
  for (const FeatureGate& gate : features.All()) show(gate.name, gate.stage);
  show("AllAlpha", FeatureGate::Stage::kAlpha);
  show("AllBeta", FeatureGate::Stage::kBeta);
}

}  // namespace apiserver::v0::server
