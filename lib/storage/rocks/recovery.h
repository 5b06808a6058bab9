#pragma once

#include <vector>

#include "apiserver/base/progress.h"
#include "storage/kv/lease_table.h"
#include "storage/rocks/store.h"

namespace apiserver::inline v0::storage::rocks {

// The contents of a database.
struct Recovered {
  State state;
  kv::LeaseTable leases;  // Each with its whole time to live again.
  Revision oldest_change = 0;
};

// Returns the job of opening the store in `options`: its parts are Store::OpenDatabase() and
// Recover().
ProgressReporter::Job OpeningJob(const Options& options);

// Reads all keys of the database, and tells `opening` how many versions it has read. Writes the
// format into a new one. kInternalError: it is damaged, or of a newer format.
Result<Recovered> Recover(const Options& options, Database& database, ProgressReporter& opening);

// Returns the changes from revision `from` on.
Result<std::vector<kv::Event>> ReadChanges(const Database& database, Revision from);

}  // namespace apiserver::inline v0::storage::rocks
