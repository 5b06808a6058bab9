#pragma once

#include <memory>
#include <utility>

#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::testing {

// Hands everything on; what a test overrides is what it looks at. `inner` outlives it.
class ForwardingEngine : public apiserver::storage::kv::Engine {
 public:
  explicit ForwardingEngine(apiserver::storage::kv::Engine& inner) : inner_(inner) {}

  Result<apiserver::storage::kv::RangeResponse> Range(
      const Context& ctx, const apiserver::storage::kv::RangeRequest& request) override {
    return inner_.Range(ctx, request);
  }
  Result<apiserver::storage::kv::TxnResponse> Txn(
      const Context& ctx, const apiserver::storage::kv::TxnRequest& request) override {
    return inner_.Txn(ctx, request);
  }
  void TxnAsync(const Context& ctx, apiserver::storage::kv::TxnRequest request,
                UniqueFunction<void(Result<apiserver::storage::kv::TxnResponse>)> done) override {
    inner_.TxnAsync(ctx, std::move(request), std::move(done));
  }
  Result<std::unique_ptr<apiserver::storage::kv::Tail>> NewTail(
      std::string_view prefix, apiserver::storage::kv::Revision from) override {
    return inner_.NewTail(prefix, from);
  }
  Status RequestProgress(const Context& ctx) override { return inner_.RequestProgress(ctx); }
  Result<apiserver::storage::kv::Revision> CurrentRevision(const Context& ctx) override {
    return inner_.CurrentRevision(ctx);
  }
  void CurrentRevisionAsync(
      const Context& ctx,
      UniqueFunction<void(Result<apiserver::storage::kv::Revision>)> done) override {
    inner_.CurrentRevisionAsync(ctx, std::move(done));
  }
  Status Compact(const Context& ctx, apiserver::storage::kv::Revision revision) override {
    return inner_.Compact(ctx, revision);
  }
  apiserver::storage::kv::Revision CompactedRevision() const override {
    return inner_.CompactedRevision();
  }
  Result<apiserver::storage::kv::LeaseId> GrantLease(const Context& ctx,
                                                     std::chrono::seconds ttl) override {
    return inner_.GrantLease(ctx, ttl);
  }
  apiserver::storage::kv::Stats GetStats() const override { return inner_.GetStats(); }
  Status Ready() const override { return inner_.Ready(); }
  Result<std::unique_ptr<apiserver::storage::kv::Observation>> Observe(
      std::string_view prefix, apiserver::storage::kv::Observer& observer) override {
    return inner_.Observe(prefix, observer);
  }
  void Stop() override { inner_.Stop(); }

 private:
  apiserver::storage::kv::Engine& inner_;
};

}  // namespace apiserver::inline v0::testing
