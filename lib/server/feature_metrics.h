#pragma once

#include "apiserver/base/feature_gates.h"
#include "apiserver/base/metrics.h"

namespace apiserver::inline v0::server {

// Exports the gates as kubernetes_feature_enabled, AllAlpha and AllBeta included:
// k8s.io/component-base/metrics/prometheus/feature.
void ShowFeatures(const FeatureGates& features, metrics::Registry& registry);

}  // namespace apiserver::inline v0::server
