#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>

namespace apiserver::inline v0::auth {

// Returns a name for metrics that is short and reveals no secret: "sha256:<hex>"; empty for an
// empty text.
std::string ConfigHash(std::string_view text);

}  // namespace apiserver::inline v0::auth
