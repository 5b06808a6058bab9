#include "apiserver/testing/server/fault_engine.h"

#include <utility>

#include "apiserver/base/sync.h"

namespace apiserver::inline v0::testing {

namespace {

namespace kv = storage::kv;

class Faults final : public FaultEngine {
 public:
  explicit Faults(kv::Engine& inner) : inner_(inner) {}

  void FailRanges(int count, Status status) override {
    *ranges_.Lock() = {count, std::move(status)};
  }
  void FailTxns(int count, Status status) override { *txns_.Lock() = {count, std::move(status)}; }
  void SetReady(Status status) override { *ready_.Lock() = std::move(status); }

  Result<kv::RangeResponse> Range(const Context& ctx, const kv::RangeRequest& request) override {
    if (Status fault = Take(ranges_); !fault.ok()) return fault;
    return inner_.Range(ctx, request);
  }
  Result<kv::TxnResponse> Txn(const Context& ctx, const kv::TxnRequest& request) override {
    if (Status fault = Take(txns_); !fault.ok()) return fault;
    return inner_.Txn(ctx, request);
  }
  Result<std::unique_ptr<kv::Tail>> NewTail(std::string_view prefix, kv::Revision from) override {
    return inner_.NewTail(prefix, from);
  }
  Status RequestProgress(const Context& ctx) override { return inner_.RequestProgress(ctx); }
  Result<kv::Revision> CurrentRevision(const Context& ctx) override {
    return inner_.CurrentRevision(ctx);
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
  Result<kv::Revision> AddObserver(std::shared_ptr<kv::Observer> observer) override {
    return inner_.AddObserver(std::move(observer));
  }
  void Stop() override { inner_.Stop(); }

 private:
  struct Fault {
    int left = 0;
    Status status;
  };
  static Status Take(Guarded<Fault>& fault) {
    auto locked = fault.Lock();
    if (locked->left == 0) return {};
    --locked->left;
    return locked->status;
  }

  kv::Engine& inner_;
  Guarded<Fault> ranges_;
  Guarded<Fault> txns_;
  Guarded<Status> ready_;
};

}  // namespace

std::unique_ptr<FaultEngine> NewFaultEngine(kv::Engine& inner) {
  return std::make_unique<Faults>(inner);
}

}  // namespace apiserver::inline v0::testing
