#pragma once

#include "storage/rocks/committer.h"
#include "storage/rocks/store.h"

namespace apiserver::inline v0::storage::rocks {

// Reads what the database holds into store.state, and what the committer starts with. Writes the
// format into a new store. kInternalError: damaged, or of a newer format.
Result<Committer::Start> Recover(Store& store);

}  // namespace apiserver::inline v0::storage::rocks
