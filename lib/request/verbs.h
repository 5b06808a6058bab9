#pragma once  // Library-internal: other rooms include this header.

#include <string_view>

namespace apiserver::inline v0::request {

// Returns the verb of an HTTP method on one named object, as in RequestInfo and discovery: "get"
// for GET and HEAD. Empty: the method has none.
std::string_view VerbOfMethod(std::string_view method);

}  // namespace apiserver::inline v0::request
