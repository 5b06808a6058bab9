#pragma once  // Library-internal: other rooms include this header.

#include <string_view>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::runtime {

// Does what Convert() and then, for a Go type, Settle() without defaults do, in one pass over the
// content where the kind's functions convert. kInternalError: the content does not fit the version.
// After an error the object must not be used.
Status ConvertAndSettle(const Context& ctx, Object& object, std::string_view version);

}  // namespace apiserver::inline v0::runtime
