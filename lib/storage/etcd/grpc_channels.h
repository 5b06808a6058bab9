#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <memory>
#include <vector>

#include "storage/etcd/grpc_rpc.h"

// The connections. Private to grpc_*.cc: nothing else includes gRPC.
namespace apiserver::inline v0::storage::etcd {

// One member. Watches have a connection of their own: their bursts must not hold up anything else.
struct Member {
  std::shared_ptr<grpc::Channel> calls;
  std::shared_ptr<grpc::Channel> streams;
  std::unique_ptr<grpc::GenericStub> call_stub;
  std::unique_ptr<grpc::GenericStub> stream_stub;
  // Until when it is left aside because it has kept us waiting (steady clock's count).
  std::atomic<Clock::Monotonic::rep> suspect_until = 0;

  bool suspect() const;
  void Suspect();
};

// One gRPC channel for each member rather than one for all: the certificate of each is compared
// with its own name, and gRPC 1.51's own lists take address literals only.
class Channels {
 public:
  explicit Channels(const GrpcOptions& options);

  std::size_t size() const { return members_.size(); }
  Member& at(std::size_t i) { return *members_[i]; }
  // A connected member, the next in turn; null: none is. Makes the others connect.
  Member* Connected();
  // For a stream: a connected one if there is one, else the next in turn.
  Member& ForStream();

 private:
  std::vector<std::unique_ptr<Member>> members_;
  std::atomic<std::size_t> next_call_ = 0;
  std::atomic<std::size_t> next_stream_ = 0;
};

}  // namespace apiserver::inline v0::storage::etcd
