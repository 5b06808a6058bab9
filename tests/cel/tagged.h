#pragma once

#include <string>

#include "apiserver/base/status.h"
#include "apiserver/cel/arena.h"
#include "apiserver/cel/value.h"
#include "apiserver/runtime/value.h"

// Values of CEL as JSON: {"int": "5"}, as tests/oracle/cel/README.md describes them.
namespace apiserver::celtest {

// Writes a value so that equal values have equal texts: members sorted, numbers in one form. Of an
// opaque value only the type is written.
std::string Canonical(const cel::Value& value, cel::Arena& arena);
// The same text of a tagged value.
std::string Canonical(const runtime::Value& tagged);

// Makes the value that a tagged value describes. The result borrows from both.
Result<cel::Value> FromTagged(const runtime::Value& tagged, cel::Arena& arena);

}  // namespace apiserver::celtest
