#pragma once

#include "storage/etcd/range.h"

namespace apiserver::inline v0::storage::etcd {

using WriteDone = UniqueFunction<void(Result<kv::TxnResponse>)>;

// One conditional write. Never waits. When the connection breaks before the answer, the write may
// have happened: the key is then read, linearizably.
//   - It holds what we wanted to write, put there right after what we expected: it has happened.
//   - It is as we expected it: the write is sent again, which is safe, as both name that revision.
//   - Else nobody can say, and `done` gets kTimeout.
std::shared_ptr<Work> StartWrite(std::shared_ptr<Client> client, kv::TxnRequest request,
                                 Clock::Monotonic deadline, WriteDone done);

}  // namespace apiserver::inline v0::storage::etcd
