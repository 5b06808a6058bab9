#pragma once

#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/patch/apply/updater.h"

namespace apiserver::inline v0::patch::apply {

// kConflict: a cause for each, and a message that names all, by manager. `conflicts` is not empty.
Status NewConflictError(const std::vector<Conflict>& conflicts);

}  // namespace apiserver::inline v0::patch::apply
