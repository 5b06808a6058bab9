#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>

namespace apiserver::inline v0::openapi {

// Converts as ToValidOperationID of apiserver/pkg/endpoints/openapi: "wardle.example.com" becomes
// "wardleExampleCom", or with `capitalize` "WardleExampleCom".
std::string ValidOperationId(std::string_view text, bool capitalize);

// Returns the group's name in operation ids and tags: without the suffix ".k8s.io". The legacy
// group is called "core" here.
std::string_view OperationWordOf(std::string_view group);

}  // namespace apiserver::inline v0::openapi
