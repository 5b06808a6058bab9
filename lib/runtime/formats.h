#pragma once

#include <string_view>

namespace apiserver::inline v0::runtime {

// Whether `text` is of OpenAPI's `format`. True for formats that nobody checks.
bool MatchesFormat(std::string_view format, std::string_view text);

}  // namespace apiserver::inline v0::runtime
