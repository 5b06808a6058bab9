#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apiserver/base/executor.h"
#include "apiserver/http/dialer.h"
#include "http/loop.h"
#include "storage/etcd/grpc_wire.h"
#include "storage/etcd/member_link.h"
#include "storage/etcd/rpc.h"

namespace apiserver::inline v0::storage::etcd {

// One call: waits for a member, is sent, and reads the answer. A call that a member has certainly
// not begun is sent once more. Its methods are for the loop, except for Cancel().
class HttpUnary final : public RpcCall,
                        public http::StreamObserver,
                        public std::enable_shared_from_this<HttpUnary> {
 public:
  // Finds members for calls. On the loop only.
  class Owner {
   public:
    virtual ~Owner() = default;
    // Called once, before the call's `done`.
    virtual void OnOver(HttpUnary& call, RpcCode code) = 0;
    // Called for a call that was refused and waits for a member again. Must not send it at once:
    // its connection does not know yet that it has ended.
    virtual void OnRefused(std::shared_ptr<HttpUnary> call) = 0;
  };

  HttpUnary(std::shared_ptr<http::Loop> loop, std::string method, std::string request,
            const RpcOptions& options, Rpc::Done done);
  // Ends a call that the loop has dropped.
  ~HttpUnary() override;
  HttpUnary(const HttpUnary&) = delete;
  HttpUnary& operator=(const HttpUnary&) = delete;

  void Cancel() override;

  const RpcOptions& options() const { return options_; }
  // Returns the time until which it may wait for a member.
  Clock::Monotonic give_up_at() const { return give_up_at_; }
  bool over() const { return !done_; }
  // Returns whether it may have reached a member.
  bool started() const { return connection_ != nullptr; }
  // The rest is set by its owner.
  void set_owner(std::shared_ptr<Owner> owner) { owner_ = std::move(owner); }
  std::size_t member = 0;     // The member that it was sent to.
  Clock::Monotonic due = {};  // When it is given up.

  // Sends it, unless it is over, with a token of etcd's authentication. Empty: none.
  void Start(MemberLink::ConnectionPtr connection, std::string token);
  // Ends it with kDeadlineExceeded, unless it is over.
  void Expire();
  // Ends a call that was not sent, unless it is over.
  void GiveUp(const RpcOutcome& outcome) {
    if (!over()) Finish(outcome, "");
  }

  void OnHead(const http::ResponseHead& head) override;
  void OnData(std::string_view bytes) override;
  void OnTrailers(const http::Headers& trailers) override;
  void OnEnd(const Status& status) override;

 private:
  // Ends it with `outcome`; the answer to what was sent is dropped.
  void Abandon(RpcOutcome outcome);
  // Returns the outcome of an answer that is complete.
  RpcOutcome Judged() const;
  void Finish(RpcOutcome outcome, std::string response);

  const std::shared_ptr<http::Loop> loop_;
  const std::string method_;
  std::string request_;  // Kept until it is over, as it may be sent again.
  const RpcOptions options_;
  const Clock::Monotonic give_up_at_;
  Rpc::Done done_;  // Null: it is over.
  std::shared_ptr<Owner> owner_;
  MemberLink::ConnectionPtr connection_;
  Executor::Cancel cancel_;
  bool sent_again_ = false;
  MessageReader reader_{options_.response_bytes_max};
  std::optional<std::string> response_;
  std::optional<RpcOutcome> told_;  // By the trailers.
};

// Returns the outcome of a request that HTTP could not complete.
RpcOutcome OutcomeOf(const Status& status);
// Returns the outcome that a head tells. None: messages and trailers follow.
std::optional<RpcOutcome> OutcomeOf(const http::ResponseHead& head);
// Returns the headers of every request, with room for more. `token`: as HttpUnary::Start() has it.
http::Headers RequestHeaders(std::size_t more, std::string token);

}  // namespace apiserver::inline v0::storage::etcd
