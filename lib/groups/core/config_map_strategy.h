#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"

// The strategy and columns of config maps: k8s.io/kubernetes/pkg/registry/core/configmap.
namespace apiserver::inline v0::groups::core {

std::shared_ptr<const rest::Strategy> NewConfigMapStrategy();
// `clock` must outlive the columns.
std::shared_ptr<const rest::TableConvertor> NewConfigMapColumns(const Clock& clock);

}  // namespace apiserver::inline v0::groups::core
