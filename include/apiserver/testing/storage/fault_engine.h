#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "apiserver/base/status.h"
#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::testing::storage {

// The rates of random faults, in calls of ten thousand. Whether the n-th call of a kind fails
// depends only on `seed` and n, so that a run can be repeated as far as its threads' timing allows.
struct FaultPlan {
  // Another seed makes other calls fail at the same rates.
  std::uint64_t seed = 1;
  int range_errors = 0;  // Range, CurrentRevision: kServiceUnavailable.
  int txn_errors = 0;    // Txn: kServiceUnavailable, and nothing was written.
  int lost_answers = 0;  // Txn: kTimeout, but it was written.
  int delays = 0;        // Range and Txn, if they may block: up to `delay_max` late.
  std::chrono::microseconds delay_max{2000};
  int tail_ends = 0;  // Tail::Next: the tail ends with kServiceUnavailable.
};

// The number of faults so far.
struct FaultCounts {
  std::uint64_t errors = 0;
  std::uint64_t lost_answers = 0;
  std::uint64_t delays = 0;
  std::uint64_t tail_ends = 0;
};

// An engine in front of another one that injects the faults of a remote engine: on request, or at
// random by a plan. Any thread. Delays block the calling thread, and only calls whose context may
// block are delayed.
class FaultEngine : public apiserver::storage::kv::Engine {
 public:
  // The next `count` calls of Range, or of Txn, return `status` and do nothing.
  virtual void FailRanges(int count, Status status) = 0;
  // Does the same for Txn.
  virtual void FailTxns(int count, Status status) = 0;
  // The n-th call of Txn from now on (1: the next) returns `status` and does nothing.
  virtual void FailTxnAt(int n, Status status) = 0;
  // The next `count` calls of Txn are done, but return kTimeout.
  virtual void LoseTxns(int count) = 0;
  // Ends all existing tails with kServiceUnavailable.
  virtual void EndTails() = 0;
  // Sets the result of Ready(). OK: the result of the engine behind.
  virtual void SetReady(Status status) = 0;
  // Sets the rates of random faults. The default plan has none.
  virtual void SetPlan(const FaultPlan& plan) = 0;
  // The faults injected so far, by requests and by the plan.
  virtual FaultCounts counts() const = 0;
};

// `inner` must outlive it.
std::unique_ptr<FaultEngine> NewFaultEngine(apiserver::storage::kv::Engine& inner);

}  // namespace apiserver::inline v0::testing::storage
