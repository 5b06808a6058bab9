#pragma once  // Library-internal: other rooms include this header.

#include <vector>

#include "apiserver/openapi/route.h"

// The query parameters of each verb, which are the members of meta/v1's options.
namespace apiserver::inline v0::openapi {

Parameter PrettyParameter();
// Returns the parameter of a get.
Parameter ResourceVersionParameter();
// Returns the parameters of a list, without `watch`.
std::vector<Parameter> ListParameters();
Parameter WatchParameter();
// Return the parameters of a create or update, and of a patch.
std::vector<Parameter> WriteParameters();
std::vector<Parameter> PatchParameters();
// Of a delete, without the one that ignores what cannot be read.
std::vector<Parameter> DeleteParameters();
Parameter IgnoreReadErrorsParameter();

}  // namespace apiserver::inline v0::openapi
