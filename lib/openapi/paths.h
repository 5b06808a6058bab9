#pragma once

#include <set>
#include <span>
#include <string>

#include "apiserver/openapi/route.h"
#include "openapi/tree.h"

namespace apiserver::inline v0::openapi {

// Returns the `paths` object of a document.
runtime::Value PathsOf(std::span<const Route* const> routes, const Tree& tree, Format format);
// Returns the definitions that routes name.
std::set<std::string> DefinitionsNamedBy(std::span<const Route* const> routes);

}  // namespace apiserver::inline v0::openapi
