#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>

// Paths as Go's package path has them.
namespace apiserver::inline v0::text {

// Returns the shortest path that is equivalent to `path`, as path.Clean does: without "." and "..",
// without repeated slashes and without a slash at the end. Empty: ".".
std::string CleanPath(std::string_view path);
// Joins two paths with a slash and cleans the result, as path.Join does. Empty: both are empty.
std::string JoinPath(std::string_view first, std::string_view second);

}  // namespace apiserver::inline v0::text
