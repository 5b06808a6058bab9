#pragma once

#include <memory>

#include "storage/etcd/client.h"

namespace apiserver::inline v0::storage::etcd {

using RangeDone = UniqueFunction<void(Result<kv::RangeResponse>)>;

// Work that can be cancelled. Any thread; idempotent.
class Work {
 public:
  virtual ~Work() = default;
  virtual void Cancel() = 0;
};

// Reads a range, linearizably. One without a limit is read in pages of one revision, so that no
// answer becomes huge. `done` is called once, on any thread, and must not block.
std::shared_ptr<Work> StartRange(std::shared_ptr<Client> client, const kv::RangeRequest& request,
                                 Clock::Monotonic deadline, RangeDone done);

}  // namespace apiserver::inline v0::storage::etcd
