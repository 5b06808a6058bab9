#pragma once  // Library-internal: other rooms include this header.

#include <string_view>

namespace apiserver::inline v0::request {

// The verb that an HTTP method stands for on one named object, as RequestInfo and discovery call
// it: "get" for GET and HEAD. Empty: the method stands for no verb.
std::string_view VerbOfMethod(std::string_view method);

}  // namespace apiserver::inline v0::request
