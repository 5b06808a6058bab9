#pragma once

#include <memory>
#include <string>

#include "apiserver/base/sync.h"
#include "storage/etcd/grpc_channels.h"

namespace apiserver::inline v0::storage::etcd {

// One call: made, perhaps parked until a member is connected, started on a member, done.
class UnaryCall final : public RpcCall, public std::enable_shared_from_this<UnaryCall> {
 public:
  UnaryCall(std::string method, const std::string& request, const RpcOptions& options,
            Rpc::Done done);

  // Sends it, unless it was cancelled. `owner` must keep `member` alive.
  void Start(Member& member, std::shared_ptr<void> owner, bool wait_for_ready);
  void Cancel() override;

  const RpcOptions& options() const { return options_; }
  Clock::Monotonic give_up_at() const { return give_up_at_; }
  bool over() const { return *state_.Lock() == State::kOver; }

 private:
  enum class State : std::uint8_t { kParked, kStarted, kOver };

  void Finish(Member& member, const grpc::Status& status);

  const std::string method_;
  const RpcOptions options_;
  const Clock::Monotonic give_up_at_;
  grpc::ClientContext context_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  Rpc::Done done_;
  Guarded<State> state_{State::kParked};
};

// Translates gRPC's status.
RpcOutcome OutcomeOf(const grpc::Status& status);
std::string BytesOf(const grpc::ByteBuffer& buffer);
grpc::ByteBuffer BufferOf(const std::string& bytes);

}  // namespace apiserver::inline v0::storage::etcd
