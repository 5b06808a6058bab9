#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "storage/etcd/rpc.h"

namespace apiserver::inline v0::storage::etcd {

// What etcd says, as far as the engine acts on it. Its numbers do not tell: both revisions that are
// gone and those that are to come are kOutOfRange.
bool IsCompacted(const RpcOutcome& outcome);
bool IsFutureRevision(const RpcOutcome& outcome);
bool IsLeaseNotFound(const RpcOutcome& outcome);
bool IsDenied(const RpcOutcome& outcome);

// Whether another try may fare better: nobody was there, or the member has lost its leader.
bool IsTransient(const RpcOutcome& outcome);

// What the caller is told of a failure that has no meaning of its own. `servers`: who was asked.
Status ToStatus(const RpcOutcome& outcome, std::string_view servers);
// Of opening, where nobody has answered for as long as it may take: a call's deadline says less
// than that. Anything but kTimeout stays as it is.
Status NewNotMetError(const Status& last);
// Of a write that may have happened.
Status NewUnknownOutcomeError(std::string_view why);

}  // namespace apiserver::inline v0::storage::etcd
