#pragma once

#include <memory>

#include "apiserver/base/status.h"
#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::testing {

// An engine in front of another that fails when a test says so. Any thread.
class FaultEngine : public storage::kv::Engine {
 public:
  // The next `count` calls of Range, or of Txn, answer `status` and do nothing.
  virtual void FailRanges(int count, Status status) = 0;
  virtual void FailTxns(int count, Status status) = 0;
  // From now on Ready() says so; OK: as the engine behind.
  virtual void SetReady(Status status) = 0;
};

// `inner` must outlive it.
std::unique_ptr<FaultEngine> NewFaultEngine(storage::kv::Engine& inner);

}  // namespace apiserver::inline v0::testing
