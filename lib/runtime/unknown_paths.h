#pragma once

#include <string_view>

#include "apiserver/runtime/schema.h"

namespace apiserver::inline v0::runtime {

// The schema of a member or item of `parent`; null when it has none. `known` says whether the
// member may be there at all.
const Schema* MemberSchema(const Schema& parent, std::string_view key, bool& known);

}  // namespace apiserver::inline v0::runtime
