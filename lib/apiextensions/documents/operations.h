#pragma once

#include <map>
#include <string>

#include "apiextensions/documents/documented_version.h"

namespace apiserver::inline v0::apiextensions {

// Appends the paths of a version as members of a JSON object, separated by commas. In v2 what
// operations of all kinds have in common is a reference to a parameter, which is put into
// `parameters` by its name.
void AppendPaths(const DocumentedVersion& documented, openapi::Format form, std::string& out,
                 std::map<std::string, std::string>& parameters);

}  // namespace apiserver::inline v0::apiextensions
