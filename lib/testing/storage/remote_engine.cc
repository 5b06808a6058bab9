#include "apiserver/testing/storage/storage_conformance.h"

namespace apiserver::v0::testing::storage {
namespace {

namespace kv = apiserver::storage::kv;

// Forwards everything, but refuses what only an engine in the same process can do.
class RemoteEngine final : public kv::Engine {
 public:
  explicit RemoteEngine(kv::Engine& engine) : engine_(engine) {}

  Result<kv::RangeResponse> Range(const Context& ctx, const kv::RangeRequest& request) override {
    if (!ctx.may_block()) return Status(Reason::kWouldBlock, "the engine is far away");
    return engine_.Range(ctx, request);
  }
  Result<kv::TxnResponse> Txn(const Context& ctx, const kv::TxnRequest& request) override {
    return engine_.Txn(ctx, request);
  }
  Result<std::unique_ptr<kv::Tail>> NewTail(std::string_view prefix, kv::Revision from) override {
    return engine_.NewTail(prefix, from);
  }
  Status RequestProgress(const Context& ctx) override { return engine_.RequestProgress(ctx); }
  Result<kv::Revision> CurrentRevision(const Context& ctx) override {
    if (!ctx.may_block()) return Status(Reason::kWouldBlock, "the engine is far away");
    return engine_.CurrentRevision(ctx);
  }
  void CurrentRevisionAsync(const Context& ctx,
                            UniqueFunction<void(Result<kv::Revision>)> done) override {
    engine_.CurrentRevisionAsync(ctx, std::move(done));
  }
  Status Compact(const Context& ctx, kv::Revision revision) override {
    return engine_.Compact(ctx, revision);
  }
  kv::Revision CompactedRevision() const override { return engine_.CompactedRevision(); }
  Result<kv::LeaseId> GrantLease(const Context& ctx, std::chrono::seconds ttl) override {
    return engine_.GrantLease(ctx, ttl);
  }
  kv::Stats GetStats() const override { return engine_.GetStats(); }
  Status Ready() const override { return engine_.Ready(); }
  Result<std::unique_ptr<kv::Observation>> Observe(std::string_view /*prefix*/,
                                                   kv::Observer& /*observer*/) override {
    return Status(Reason::kMethodNotAllowed, "the engine is far away");
  }
  void Stop() override { engine_.Stop(); }

 private:
  kv::Engine& engine_;
};

}  // namespace

std::unique_ptr<kv::Engine> NewRemoteEngine(kv::Engine& engine) {
  return std::make_unique<RemoteEngine>(engine);
}

}  // namespace apiserver::v0::testing::storage
