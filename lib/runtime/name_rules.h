#pragma once

#include <string_view>

// The shapes of names that kinds are described with. (Messages for clients are in meta.)
namespace apiserver::inline v0::runtime {

// [a-z]([-a-z0-9]*[a-z0-9])?, at most 63 bytes.
bool IsDns1035Label(std::string_view name);
// Labels of [a-z0-9]([-a-z0-9]*[a-z0-9])? joined by dots, at most 253 bytes.
bool IsDns1123Subdomain(std::string_view name);

}  // namespace apiserver::inline v0::runtime
