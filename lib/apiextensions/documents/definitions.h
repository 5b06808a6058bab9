#pragma once

#include <string>

#include "apiextensions/documents/documented_version.h"

namespace apiserver::inline v0::apiextensions {

// Appends the definitions of a kind and of its list as members of a JSON object, separated by a
// comma.
void AppendDefinitions(const DocumentedVersion& documented, openapi::Format form, std::string& out);

}  // namespace apiserver::inline v0::apiextensions
