#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "storage/etcd/rpc.h"

namespace apiserver::inline v0::storage::etcd {

// A transport to a real etcd that counts calls, loses requests and answers, and holds calls back.
class LossyRpc final : public Rpc, public std::enable_shared_from_this<LossyRpc> {
 public:
  enum class Loss { kNone, kRequest, kAnswer };

  explicit LossyRpc(std::shared_ptr<Rpc> real) : real_(std::move(real)) {}

  // What happens to the next call of `method`; only to that one.
  void LoseNext(const std::string& method, Loss loss) { state_.Lock()->losses[method] = loss; }
  // Runs before the loss of that call is reported.
  void Meanwhile(UniqueFunction<void()> action) { state_.Lock()->meanwhile = std::move(action); }
  // What every member says its version is; empty: the truth.
  void PretendVersion(std::string version) { state_.Lock()->version = std::move(version); }
  int Calls(const std::string& method) const;
  // Calls of `method` wait until Release().
  void Hold(const std::string& method) { state_.Lock()->held_method = method; }
  void Release();

  std::shared_ptr<RpcCall> Unary(const std::string& method, std::string request,
                                 const RpcOptions& options, Done done) override;
  std::shared_ptr<RpcStream> Stream(const std::string& method,
                                    std::shared_ptr<RpcStreamHandler> handler) override {
    return real_->Stream(method, std::move(handler));
  }
  std::size_t members() const override { return real_->members(); }
  void Stop() override { real_->Stop(); }

 private:
  struct State {
    std::map<std::string, Loss> losses;
    std::map<std::string, int> calls;
    std::string version;
    std::string held_method;
    std::vector<UniqueFunction<void()>> held;
    UniqueFunction<void()> meanwhile;
  };
  void Report(Done& done);

  const std::shared_ptr<Rpc> real_;
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::storage::etcd
