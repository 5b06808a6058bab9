#pragma once  // Library-internal: other rooms include this header.

#include <string>

#include "apiserver/codec/json.h"

namespace apiserver::inline v0::codec {

// The same as AppendJson with the members of every map sorted by key, as Go writes map[string]any.
void AppendSortedJson(runtime::Value value, std::string& out);

}  // namespace apiserver::inline v0::codec
