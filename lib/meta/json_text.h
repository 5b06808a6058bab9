#pragma once

#include <string>

#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::meta {

// Prints a value as Go's json.Marshal does, for the bad values in messages. The writer of JSON for
// the wire is in codec, a later room; values in messages are small and shallow, and levels below
// the eighth are left out.
std::string JsonText(runtime::Value value);

}  // namespace apiserver::inline v0::meta
