#pragma once

#include "apiextensions/validation/demands.h"
#include "apiextensions/validation/schema_rules.h"
#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::apiextensions {

// Checks the expressions of a schema's rules, the fields that they name, and their cost. `findings`
// are those of CheckSchemaRules(): rules of faulty schemas are not compiled. `limit_rules`: each
// rule may cost no more than allowed. The schema is structural.
void CheckSchemaExpressions(const runtime::Value& schema, const SchemaFindings& findings,
                            const Demands& demands, bool limit_rules, const field::Path& path,
                            field::ErrorList& errors);

}  // namespace apiserver::inline v0::apiextensions
