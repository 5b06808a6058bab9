#pragma once

#include <string>
#include <string_view>

namespace apiserver::inline v0::server {

// Returns a request's target without the values of query parameters that hold credentials: for
// logs.
std::string RedactedTarget(std::string_view target);

}  // namespace apiserver::inline v0::server
