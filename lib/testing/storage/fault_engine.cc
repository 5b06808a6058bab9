#include "apiserver/testing/storage/fault_engine.h"

#include <atomic>
#include <thread>
#include <utility>

#include "apiserver/base/sync.h"
#include "base/status_macros.h"

namespace apiserver::v0::testing::storage {
namespace {

namespace kv = apiserver::storage::kv;

// The kinds of calls that faults are drawn for.
enum class Call : std::uint8_t { kRange, kTxn, kLose, kDelay, kTail };

// The faults' state, shared by the engine and its tails.
class Faults {
 public:
  void SetPlan(const FaultPlan& plan) { *plan_.Lock() = plan; }
  void EndTails() { ++ended_; }
  std::uint64_t ended() const { return ended_.load(); }

  // Draws whether the next call of this kind is one of the `rate` in ten thousand that fail.
  bool Happens(Call call, int FaultPlan::*rate) {
    const FaultPlan plan = *plan_.Lock();
    if (plan.*rate == 0) return false;
    return Draw(plan.seed, call) % 10'000 < static_cast<std::uint64_t>(plan.*rate);
  }
  void Delay() {
    if (!Happens(Call::kDelay, &FaultPlan::delays)) return;
    const FaultPlan plan = *plan_.Lock();
    const auto most = static_cast<std::uint64_t>(plan.delay_max.count());
    ++delays;
    std::this_thread::sleep_for(
        std::chrono::microseconds(Draw(plan.seed, Call::kDelay) % (most + 1)));
  }

  std::atomic<std::uint64_t> errors{0};
  std::atomic<std::uint64_t> lost_answers{0};
  std::atomic<std::uint64_t> delays{0};
  std::atomic<std::uint64_t> tail_ends{0};

 private:
  std::uint64_t Draw(std::uint64_t seed, Call call) {
    const auto kind = static_cast<std::uint64_t>(call);
    // The finalizer of SplitMix64. Each kind of call has its own counter, so that the faults of one
    // kind do not depend on the number of other calls.
    std::uint64_t x = seed * 0x9e3779b97f4a7c15 + (++calls_[kind] << 3) + kind;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  Guarded<FaultPlan> plan_;
  std::atomic<std::uint64_t> calls_[5] = {};
  std::atomic<std::uint64_t> ended_{0};
};

class FaultTail final : public kv::Tail {
 public:
  FaultTail(std::unique_ptr<kv::Tail> inner, std::shared_ptr<Faults> faults)
      : inner_(std::move(inner)), faults_(std::move(faults)), born_(faults_->ended()) {}

  State Next(kv::EventBatch& batch, const Waker& waker) override {
    // Once ended a tail stays so, as a real one.
    if (!over_ &&
        (faults_->ended() != born_ || faults_->Happens(Call::kTail, &FaultPlan::tail_ends))) {
      over_ = true;
      ++faults_->tail_ends;
    }
    return over_ ? State::kEnd : inner_->Next(batch, waker);
  }
  Status status() const override {
    return over_ ? Status(Reason::kServiceUnavailable, "injected: the log has ended")
                 : inner_->status();
  }
  kv::Revision compacted_revision() const override { return inner_->compacted_revision(); }

 private:
  std::unique_ptr<kv::Tail> inner_;
  std::shared_ptr<Faults> faults_;
  const std::uint64_t born_;
  bool over_ = false;
};

class Faulty final : public FaultEngine {
 public:
  explicit Faulty(kv::Engine& inner) : inner_(inner), faults_(std::make_shared<Faults>()) {}

  void FailRanges(int count, Status status) override {
    *ranges_.Lock() = {1, count, std::move(status)};
  }
  void FailTxns(int count, Status status) override {
    *txns_.Lock() = {1, count, std::move(status)};
  }
  void FailTxnAt(int n, Status status) override { *txns_.Lock() = {n, 1, std::move(status)}; }
  void LoseTxns(int count) override {
    *lost_.Lock() = {1, count, Status(Reason::kTimeout, "injected: the answer was lost")};
  }
  void EndTails() override { faults_->EndTails(); }
  void SetReady(Status status) override { *ready_.Lock() = std::move(status); }
  void SetPlan(const FaultPlan& plan) override { faults_->SetPlan(plan); }
  FaultCounts counts() const override {
    return {faults_->errors, faults_->lost_answers, faults_->delays, faults_->tail_ends};
  }

  Result<kv::RangeResponse> Range(const Context& ctx, const kv::RangeRequest& request) override {
    RETURN_IF_ERROR(BeforeRead(ctx));
    return inner_.Range(ctx, request);
  }
  Result<kv::TxnResponse> Txn(const Context& ctx, const kv::TxnRequest& request) override {
    RETURN_IF_ERROR(Take(txns_));
    // Callers that may not block run on an event loop, which a sleep would stop.
    if (ctx.may_block()) faults_->Delay();
    if (faults_->Happens(Call::kTxn, &FaultPlan::txn_errors)) return Injected();
    // From here on the transaction is written, so that a fault can only lose its response.
    auto response = inner_.Txn(ctx, request);
    if (!response.ok()) return response;
    if (Status lost = Take(lost_); !lost.ok()) return Lost();
    if (faults_->Happens(Call::kLose, &FaultPlan::lost_answers)) return Lost();
    return response;
  }
  Result<std::unique_ptr<kv::Tail>> NewTail(std::string_view prefix, kv::Revision from) override {
    ASSIGN_OR_RETURN(auto tail, inner_.NewTail(prefix, from));
    return std::unique_ptr<kv::Tail>(std::make_unique<FaultTail>(std::move(tail), faults_));
  }
  Status RequestProgress(const Context& ctx) override { return inner_.RequestProgress(ctx); }
  Result<kv::Revision> CurrentRevision(const Context& ctx) override {
    if (faults_->Happens(Call::kRange, &FaultPlan::range_errors)) return Injected();
    return inner_.CurrentRevision(ctx);
  }
  void CurrentRevisionAsync(const Context& ctx,
                            UniqueFunction<void(Result<kv::Revision>)> done) override {
    if (faults_->Happens(Call::kRange, &FaultPlan::range_errors)) return done(Injected());
    inner_.CurrentRevisionAsync(ctx, std::move(done));
  }
  Status Compact(const Context& ctx, kv::Revision revision) override {
    return inner_.Compact(ctx, revision);
  }
  kv::Revision CompactedRevision() const override { return inner_.CompactedRevision(); }
  Result<kv::LeaseId> GrantLease(const Context& ctx, std::chrono::seconds ttl) override {
    return inner_.GrantLease(ctx, ttl);
  }
  kv::Stats GetStats() const override { return inner_.GetStats(); }
  Status Ready() const override {
    const Status fault = *ready_.Lock();
    return fault.ok() ? inner_.Ready() : fault;
  }
  Result<std::unique_ptr<kv::Observation>> Observe(std::string_view prefix,
                                                   kv::Observer& observer) override {
    return inner_.Observe(prefix, observer);
  }
  void Stop() override { inner_.Stop(); }

 private:
  struct Fault {
    int at = 1;  // Calls until it happens.
    int left = 0;
    Status status;
  };
  static Status Take(Guarded<Fault>& fault) {
    auto locked = fault.Lock();
    if (locked->left == 0) return {};
    if (locked->at > 1) {
      --locked->at;
      return {};
    }
    --locked->left;
    return locked->status;
  }
  Status Injected() {
    ++faults_->errors;
    return {Reason::kServiceUnavailable, "injected: the engine cannot be reached"};
  }
  Status Lost() {
    ++faults_->lost_answers;
    return {Reason::kTimeout, "injected: the answer was lost"};
  }
  Status BeforeRead(const Context& ctx) {
    RETURN_IF_ERROR(Take(ranges_));
    if (ctx.may_block()) faults_->Delay();
    if (faults_->Happens(Call::kRange, &FaultPlan::range_errors)) return Injected();
    return {};
  }

  kv::Engine& inner_;
  const std::shared_ptr<Faults> faults_;
  Guarded<Fault> ranges_;
  Guarded<Fault> txns_;
  Guarded<Fault> lost_;
  Guarded<Status> ready_;
};

}  // namespace

std::unique_ptr<FaultEngine> NewFaultEngine(kv::Engine& inner) {
  return std::make_unique<Faulty>(inner);
}

}  // namespace apiserver::v0::testing::storage
