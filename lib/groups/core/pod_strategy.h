#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"

// The strategies and columns of pods: k8s.io/kubernetes/pkg/registry/core/pod. Clocks must outlive
// what is made with them.
namespace apiserver::inline v0::groups::core {

std::shared_ptr<const rest::Strategy> NewPodStrategy(const Clock& clock);
// Returns the strategy of pods/status: a write changes the status, labels and annotations.
std::shared_ptr<const rest::Strategy> NewPodStatusStrategy();

std::shared_ptr<const rest::TableConvertor> NewPodColumns(const Clock& clock);

}  // namespace apiserver::inline v0::groups::core
