#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "storage/etcd/rpc.h"

namespace apiserver::inline v0::storage::etcd {

// Recognize the errors of etcd that the engine acts on. Their codes do not tell them apart: a
// compacted revision and a future one are both kOutOfRange.
bool IsCompacted(const RpcOutcome& outcome);
bool IsFutureRevision(const RpcOutcome& outcome);
bool IsLeaseNotFound(const RpcOutcome& outcome);
bool IsLoginRefused(const RpcOutcome& outcome);
// etcd has looked at the call's token only, and wants another one.
bool WantsToken(const RpcOutcome& outcome);
// There is nothing to log in to.
bool IsAuthOff(const RpcOutcome& outcome);
bool IsDenied(const RpcOutcome& outcome);

// True if another attempt may succeed: no member was reached, or the member has lost its leader.
bool IsTransient(const RpcOutcome& outcome);

// Returns the outcome of a call whose answer is no message of its kind.
RpcOutcome NotReadableOutcome();

// Returns the error for a failure that has no meaning of its own. `servers`: the ones that were
// asked.
Status ToStatus(const RpcOutcome& outcome, std::string_view servers);
// Returns the error of an opening that reached no member: kTimeout becomes kServiceUnavailable,
// since a call's deadline says less than that. Any other status stays as it is.
Status NewNotMetError(const Status& last);
// Returns the error of a write that may have happened.
Status NewUnknownOutcomeError(std::string_view why);

}  // namespace apiserver::inline v0::storage::etcd
