#pragma once

#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/patch/apply/updater.h"

namespace apiserver::inline v0::patch::apply {

// Returns kConflict with a cause for each conflict, and a message that names all, by manager.
// `conflicts` must not be empty.
Status NewConflictError(const std::vector<Conflict>& conflicts);

}  // namespace apiserver::inline v0::patch::apply
