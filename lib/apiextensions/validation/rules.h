#pragma once

#include "apiextensions/validation/demands.h"
#include "apiextensions/validation/loaded_schema.h"
#include "apiextensions/validation/schema_rules.h"
#include "apiserver/base/field_path.h"

namespace apiserver::inline v0::apiextensions {

// Returns what is wrong with a schema's rules: expressions, the fields that they name, costs.
// `findings` are those of CheckSchemaRules(): rules of faulty schemas are not compiled.
// `limit_rules`: each rule may cost no more than allowed. The schema is structural.
field::ErrorList CheckSchemaExpressions(LoadedSchema& schema, const SchemaFindings& findings,
                                        const Demands& demands, bool limit_rules,
                                        const field::Path& path);

}  // namespace apiserver::inline v0::apiextensions
