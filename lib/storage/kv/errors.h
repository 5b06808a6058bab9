#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>

#include "apiserver/base/status.h"
#include "apiserver/storage/kv/engine.h"

// The errors every engine gives, in one wording.
namespace apiserver::inline v0::storage::kv {

Status NewCompactedError(Revision wanted, Revision compacted);
// As Go's storage.NewTooLargeResourceVersionError.
Status NewFutureRevisionError(Revision wanted, Revision current);
Status NewStoppedError();
Status NewLeaseNotFoundError(LeaseId lease);

// What is wrong with a request before any store is looked at. `value_bytes_max` zero: no limit.
Status ValidateTxn(const TxnRequest& request, std::size_t value_bytes_max);
// Whether a store at `current`, compacted at `compacted`, can answer for `wanted` (zero: now).
Status ValidateRevision(Revision wanted, Revision current, Revision compacted);
Status ValidateCompaction(Revision wanted, Revision current);

}  // namespace apiserver::inline v0::storage::kv
