#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"

namespace apiserver::inline v0::groups::admissionregistration {

// Returns the strategy of both kinds of configurations.
std::shared_ptr<const rest::Strategy> NewConfigurationStrategy();
// Returns the columns Name, Webhooks, Age. `clock` must outlive them.
std::shared_ptr<const rest::TableConvertor> NewConfigurationColumns(const Clock& clock);

}  // namespace apiserver::inline v0::groups::admissionregistration
