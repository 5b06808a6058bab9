#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/http/dialer.h"
#include "storage/etcd/http_rpc.h"
#include "storage/etcd/http_stream.h"
#include "storage/etcd/http_unary.h"
#include "storage/etcd/member_link.h"

namespace apiserver::inline v0::storage::etcd {

// The members, the calls that wait for one, and the deadlines of all. On the loop only.
class HttpCalls final : public HttpUnary::Owner, public std::enable_shared_from_this<HttpCalls> {
 public:
  using UnaryPtr = std::shared_ptr<HttpUnary>;

  // `loop` and `dialer` must outlive what runs on the loop.
  HttpCalls(Executor& loop, http::Dialer& dialer, const HttpRpcOptions& options);

  // Sends a call to its member, or to one that is connected, once there is one.
  void Begin(const UnaryPtr& call);
  // Begins a stream on a member that is connected, or on one that is dialled for it.
  void Begin(const std::shared_ptr<HttpStream>& stream);
  void OnOver(HttpUnary& call, RpcCode code) override;
  void OnRefused(UnaryPtr call) override;
  // Ends the calls that wait for a member. Called once the loop has stopped.
  void End();

 private:
  struct Member {
    std::shared_ptr<MemberLink> calls;
    std::shared_ptr<MemberLink> streams;
    // The time until which it is left aside because a call to it has timed out.
    Clock::Monotonic suspect_until = Clock::Monotonic::min();
    bool searched = false;
  };

  void Send(const UnaryPtr& call, std::size_t member, MemberLink::ConnectionPtr connection);
  // Sends it to any member with a connection. False: there is none.
  bool SendToAny(const UnaryPtr& call);
  void SendTo(std::size_t member, const UnaryPtr& call);
  std::size_t MemberForStream();
  // Dials a member again and again, until no call waits for any.
  void Search(std::size_t member);
  void OnSearched(std::size_t member);
  void TryParked();
  RpcOutcome NoneConnected() const;
  void SetDue(HttpUnary& call, Clock::Monotonic due);
  void SweepAt(Clock::Monotonic due);
  // Ends the calls whose time has passed.
  void Sweep();

  // Returns the token of this moment. Empty: none.
  std::string Token() const { return token_ == nullptr ? std::string() : *token_->Lock(); }

  Executor& loop_;
  const std::shared_ptr<SharedToken> token_;
  std::vector<Member> members_;
  std::size_t next_call_ = 0;
  std::size_t next_stream_ = 0;
  std::vector<UnaryPtr> parked_;  // They wait for any member.
  std::set<std::pair<Clock::Monotonic, HttpUnary*>> due_;
  Clock::Monotonic sweep_at_ = Clock::Monotonic::max();
};

// The outcome of a call that the transport does not take any more.
inline RpcOutcome EndedOutcome() {
  return {RpcCode::kUnavailable, "the transport has ended", /*sent=*/false};
}

}  // namespace apiserver::inline v0::storage::etcd
