#pragma once  // Library-internal: other rooms include this header.

#include <string>

#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::runtime {

// Why a Go server cannot make a struct of this schema of `root`, in the words of apimachinery's
// converter.go, which it uses after a strategic merge patch instead of a decoder of JSON:
// "cannot convert int64 to string". Empty: it can.
std::string FromUnstructuredError(const Schema& schema, const Value& root);

}  // namespace apiserver::inline v0::runtime
