#pragma once

#include <vector>

#include "apiextensions/validation/demands.h"
#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::apiextensions {

// Checks the expressions of a schema's rules, and their cost. `faulty` are schemas whose rules are
// passed by; `limit_rules`: each rule may cost no more than allowed. The schema is structural.
void CheckSchemaExpressions(const runtime::Value& schema,
                            const std::vector<const runtime::Member*>& faulty,
                            const Demands& demands, bool limit_rules, const field::Path& path,
                            field::ErrorList& errors);

}  // namespace apiserver::inline v0::apiextensions
