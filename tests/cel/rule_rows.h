#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"

// Rows of upstream's tests of rules: tests/cel/data.
namespace apiserver::testing {

// Calls `judge` with each row of a table in a file of tests/cel/data; returns their number.
int ForEachRow(const std::string& file, std::string_view table,
               const std::function<void(const runtime::Value& row)>& judge);

// Returns the schema with a further rule at a place below it: names of fields, keys, or "#" for the
// items of a list, "/" between them. "": the schema itself.
runtime::SchemaPtr WithRuleAt(const runtime::SchemaPtr& schema, std::string_view place,
                              const runtime::ValidationRule& rule);

}  // namespace apiserver::testing
