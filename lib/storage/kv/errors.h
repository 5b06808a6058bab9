#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>

#include "apiserver/base/status.h"
#include "apiserver/storage/kv/engine.h"

// The errors that all engines return, in one wording.
namespace apiserver::inline v0::storage::kv {

Status NewCompactedError(Revision wanted, Revision compacted);
// The text is that of Go's storage.NewTooLargeResourceVersionError.
Status NewFutureRevisionError(Revision wanted, Revision current);
Status NewStoppedError();
Status NewLeaseNotFoundError(LeaseId lease);

// Checks a request before any store is looked at. `value_bytes_max` zero: no limit.
Status ValidateTxn(const TxnRequest& request, std::size_t value_bytes_max);
// Checks that a store at `current`, compacted at `compacted`, can answer for `wanted` (zero: now).
Status ValidateRevision(Revision wanted, Revision current, Revision compacted);
Status ValidateCompaction(Revision wanted, Revision current);

}  // namespace apiserver::inline v0::storage::kv
