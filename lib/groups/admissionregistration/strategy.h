#pragma once

#include <memory>

#include "admission/policy/expression.h"
#include "apiserver/base/clock.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"

namespace apiserver::inline v0::groups::admissionregistration {

// Returns the strategy of both kinds of configurations. `new_checker` compiles match conditions.
std::shared_ptr<const rest::Strategy> NewConfigurationStrategy(
    admission::policy::NewExpressionChecker new_checker);
// Returns the columns Name, Webhooks, Age. `clock` must outlive them.
std::shared_ptr<const rest::TableConvertor> NewConfigurationColumns(const Clock& clock);

}  // namespace apiserver::inline v0::groups::admissionregistration
