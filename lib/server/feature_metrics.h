#pragma once

#include "apiserver/base/feature_gates.h"
#include "apiserver/base/metrics.h"

namespace apiserver::inline v0::server {

// As kubernetes_feature_enabled, AllAlpha and AllBeta among them:
// k8s.io/component-base/metrics/prometheus/feature.
void ShowFeatures(const FeatureGates& features, metrics::Registry& registry);

}  // namespace apiserver::inline v0::server
