#pragma once  // Library-internal: other rooms include this header.

#include <string>

#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::runtime {

// Compact JSON for messages and for comparing; codec has what clients are sent. Iterative.
std::string PlainJson(const Value& value);

}  // namespace apiserver::inline v0::runtime
