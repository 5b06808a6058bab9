#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <vector>

#include "storage/etcd/grpc_rpc.h"

// The connections to the members. Private to grpc_*.cc: no other file includes gRPC.
namespace apiserver::inline v0::storage::etcd {

// One member. Watches have a connection of their own: their bursts must not hold up other calls.
struct Member {
  std::shared_ptr<grpc::Channel> calls;
  std::shared_ptr<grpc::Channel> streams;
  std::unique_ptr<grpc::GenericStub> call_stub;
  std::unique_ptr<grpc::GenericStub> stream_stub;
  // The time until which it is left aside because a call to it has timed out (steady clock's
  // count).
  std::atomic<Clock::Monotonic::rep> suspect_until = 0;

  bool suspect() const;
  void Suspect();
};

// The channels: one for each member rather than one for all, because the certificate of each is
// compared with its own name, and gRPC 1.51's own lists take address literals only.
class Channels {
 public:
  explicit Channels(const GrpcOptions& options);

  std::size_t size() const { return members_.size(); }
  Member& at(std::size_t i) { return *members_[i]; }
  // Returns a connected member, the next in turn. Null: none is. Makes the others connect.
  Member* Connected();
  // Returns the member for a stream: a connected one if there is one, else the next in turn.
  Member& ForStream();

 private:
  std::vector<std::unique_ptr<Member>> members_;
  std::atomic<std::size_t> next_call_ = 0;
  std::atomic<std::size_t> next_stream_ = 0;
};

}  // namespace apiserver::inline v0::storage::etcd
