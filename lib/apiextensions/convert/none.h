#pragma once

#include <memory>

#include "apiserver/runtime/convert.h"

namespace apiserver::inline v0::apiextensions {

// Returns the converter of the strategy "None": only apiVersion changes, then the object is pruned
// by the schema of the version wanted. Never blocks; stateless.
std::shared_ptr<const runtime::VersionConverter> NewNoneConverter();

}  // namespace apiserver::inline v0::apiextensions
