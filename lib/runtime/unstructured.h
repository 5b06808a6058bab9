#pragma once  // Library-internal: other rooms include this header.

#include <string>

#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::runtime {

// Returns the error with which a Go server fails to convert `root` into a struct of `schema`, in
// the words of apimachinery's converter.go: "cannot convert int64 to string". Go uses that
// converter instead of the JSON decoder after a strategic merge patch. Empty: the conversion
// succeeds.
std::string FromUnstructuredError(const Schema& schema, const Value& root);

}  // namespace apiserver::inline v0::runtime
