#pragma once

#include <string>

#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::meta {

// A value as Go's json.Marshal prints it, for the bad values in messages. codec, which writes JSON
// for the wire, stands above this room; what is printed here is small and shallow. Levels below the
// eighth are left out.
std::string JsonText(runtime::Value value);

}  // namespace apiserver::inline v0::meta
