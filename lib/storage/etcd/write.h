#pragma once

#include "storage/etcd/range.h"

namespace apiserver::inline v0::storage::etcd {

using WriteDone = UniqueFunction<void(Result<kv::TxnResponse>)>;

// Makes one conditional write. Never waits. When the connection breaks before the answer, the write
// may have happened: the key is then read, linearizably.
//   - It holds the new value, written right after the expected revision: the write has happened.
//   - It is at the expected revision: the write is sent again, which is safe, as both name that
//     revision.
//   - Otherwise the outcome is unknown, and `done` gets kTimeout.
// `done` is called once, on any thread, and must not block.
std::shared_ptr<Work> StartWrite(std::shared_ptr<Client> client, kv::TxnRequest request,
                                 Clock::Monotonic deadline, WriteDone done);

}  // namespace apiserver::inline v0::storage::etcd
