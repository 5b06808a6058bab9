#pragma once

#include <string>

#include "apiserver/base/status.h"
#include "apiserver/cel/arena.h"
#include "apiserver/cel/value.h"
#include "apiserver/runtime/value.h"

// Values of CEL as JSON: {"int": "5"}, as tests/oracle/cel/README.md describes them.
namespace cel_test {

// Writes a value so that equal values have equal texts: members sorted, numbers in one form. Of an
// opaque value only the type is written.
std::string Canonical(const apiserver::cel::Value& value, apiserver::cel::Arena& arena);
// The same text of a tagged value.
std::string Canonical(const apiserver::runtime::Value& tagged);

// Makes the value that a tagged value describes. The result borrows from both.
apiserver::Result<apiserver::cel::Value> FromTagged(const apiserver::runtime::Value& tagged,
                                                    apiserver::cel::Arena& arena);

}  // namespace cel_test
