#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>

namespace apiserver::inline v0::auth {

// How metrics name what would be too long or too telling: "sha256:<hex>"; empty for nothing.
std::string ConfigHash(std::string_view text);

}  // namespace apiserver::inline v0::auth
