#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "apiserver/base/status.h"
#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::testing::storage {

// How often what goes wrong, in calls of ten thousand. Whether the n-th call of a kind fails is a
// function of `seed` and n alone, so that a run can be repeated as far as its threads allow.
struct FaultPlan {
  std::uint64_t seed = 1;
  int range_errors = 0;  // Range, CurrentRevision: kServiceUnavailable.
  int txn_errors = 0;    // Txn: kServiceUnavailable, and nothing was written.
  int lost_answers = 0;  // Txn: kTimeout, but it was written.
  int delays = 0;        // Any of these: up to `delay_max` late.
  std::chrono::microseconds delay_max{2000};
  int tail_ends = 0;  // Tail::Next: the tail ends with kServiceUnavailable.
};

// What has gone wrong so far.
struct FaultCounts {
  std::uint64_t errors = 0;
  std::uint64_t lost_answers = 0;
  std::uint64_t delays = 0;
  std::uint64_t tail_ends = 0;
};

// An engine in front of another that fails as real ones do, when a test says so or by a plan: what
// it does is always something that an engine far away may do. Any thread.
class FaultEngine : public apiserver::storage::kv::Engine {
 public:
  // The next `count` calls of Range, or of Txn, answer `status` and do nothing.
  virtual void FailRanges(int count, Status status) = 0;
  virtual void FailTxns(int count, Status status) = 0;
  // The n-th call of Txn from now on (1: the next) answers `status` and does nothing.
  virtual void FailTxnAt(int n, Status status) = 0;
  // The next `count` calls of Txn are done, but answer kTimeout.
  virtual void LoseTxns(int count) = 0;
  // All tails that exist end with kServiceUnavailable.
  virtual void EndTails() = 0;
  // From now on Ready() says so; OK: as the engine behind.
  virtual void SetReady(Status status) = 0;
  // From now on faults come by `plan`; the default plan has none.
  virtual void SetPlan(const FaultPlan& plan) = 0;
  virtual FaultCounts counts() const = 0;
};

// `inner` must outlive it.
std::unique_ptr<FaultEngine> NewFaultEngine(apiserver::storage::kv::Engine& inner);

}  // namespace apiserver::inline v0::testing::storage
