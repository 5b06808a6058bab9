#pragma once

#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"

namespace apiserver::inline v0::groups::admissionregistration {

// Of both kinds of configurations.
std::shared_ptr<const rest::Strategy> NewConfigurationStrategy();
// Name, Webhooks, Age. `clock` outlives it.
std::shared_ptr<const rest::TableConvertor> NewConfigurationColumns(const Clock& clock);

}  // namespace apiserver::inline v0::groups::admissionregistration
