#include "storage/etcd/token_rpc.h"

#include <utility>
#include <vector>

#include "storage/etcd/errors.h"
#include "storage/etcd/login.h"

namespace apiserver::v0::storage::etcd {
namespace {

// A call that waits for a token, is made, and perhaps made again with another one.
class TokenCall final : public RpcCall, public std::enable_shared_from_this<TokenCall> {
 public:
  struct Wanted {
    std::string method;
    std::string request;
    RpcOptions options;
  };
  TokenCall(std::shared_ptr<Rpc> rpc, std::shared_ptr<Login> login, Wanted wanted, Rpc::Done done)
      : rpc_(std::move(rpc)), login_(std::move(login)), wanted_(std::move(wanted)) {
    state_.Lock()->done = std::move(done);
  }

  // `seen`: the number of the token that will not do.
  void Begin(std::uint64_t seen) {
    {
      auto state = state_.Lock();
      state->running = nullptr;
      state->waiting = true;
    }
    login_->After(seen, [self = shared_from_this()](const RpcOutcome& outcome) {
      if (outcome.ok()) return self->Send();
      self->Finish(outcome, "");
    });
  }

  // A call that is being sent at this moment is cancelled by who sends it.
  void Cancel() override {
    std::shared_ptr<RpcCall> running;
    {
      auto state = state_.Lock();
      state->cancelled = true;
      running = state->running;
      if (running == nullptr && !state->waiting) return;
    }
    if (running != nullptr) return running->Cancel();
    Finish({RpcCode::kCancelled, "cancelled", /*sent=*/false}, "");
  }

 private:
  struct State {
    Rpc::Done done;                    // Null: it is over.
    std::shared_ptr<RpcCall> running;  // Null: it waits for a token, or is being sent.
    int attempt = 0;
    bool waiting = false;  // For a token.
    bool cancelled = false;
  };

  void Send() {
    int attempt = 0;
    {
      auto state = state_.Lock();
      if (!state->done) return;
      state->waiting = false;
      attempt = ++state->attempt;
    }
    const std::uint64_t number = login_->number();
    auto call =
        rpc_->Unary(wanted_.method, wanted_.request, wanted_.options,
                    [self = shared_from_this(), number](RpcOutcome outcome, std::string response) {
                      self->OnOutcome(number, std::move(outcome), std::move(response));
                    });
    {
      auto state = state_.Lock();
      // Otherwise this attempt has been answered already.
      if (!state->done || state->attempt != attempt || state->waiting) return;
      state->running = call;
      if (!state->cancelled) return;
    }
    if (call != nullptr) call->Cancel();
  }

  void OnOutcome(std::uint64_t number, RpcOutcome outcome, std::string response) {
    const bool again = WantsToken(outcome) && !std::exchange(repeated_, true);
    if (again) return Begin(number);
    Finish(std::move(outcome), std::move(response));
  }

  void Finish(RpcOutcome outcome, std::string response) {
    Rpc::Done done;
    {
      auto state = state_.Lock();
      done = std::exchange(state->done, nullptr);
      state->running = nullptr;
    }
    if (done) done(std::move(outcome), std::move(response));
  }

  const std::shared_ptr<Rpc> rpc_;
  const std::shared_ptr<Login> login_;
  const Wanted wanted_;    // Kept, as it may be sent again.
  bool repeated_ = false;  // Of one attempt after the other.
  Guarded<State> state_;
};

// A stream that is opened once there is a token.
class TokenStream final : public RpcStream, public std::enable_shared_from_this<TokenStream> {
 public:
  TokenStream(std::shared_ptr<Rpc> rpc, std::string method,
              std::shared_ptr<RpcStreamHandler> handler)
      : rpc_(std::move(rpc)), method_(std::move(method)) {
    state_.Lock()->handler = std::move(handler);
  }

  void Begin(Login& login) {
    login.After(0, [self = shared_from_this()](const RpcOutcome& outcome) {
      if (outcome.ok()) return self->Open();
      self->End(outcome);
    });
  }

  void Write(std::string message) override {
    auto state = state_.Lock();
    if (state->open != nullptr) return state->open->Write(std::move(message));
    if (!state->over) state->waiting.push_back(std::move(message));
  }

  void Cancel() override {
    std::shared_ptr<RpcStream> open;
    {
      auto state = state_.Lock();
      state->cancelled = true;
      open = state->open;
    }
    if (open != nullptr) return open->Cancel();
    End({RpcCode::kCancelled, "cancelled"});
  }

 private:
  struct State {
    std::shared_ptr<RpcStreamHandler> handler;  // Null: it is being opened, or it is over.
    std::shared_ptr<RpcStream> open;
    std::vector<std::string> waiting;  // Messages that were written before it was open.
    bool cancelled = false;
    bool over = false;  // It has ended without having been opened.
  };

  // The handler is the open stream's from here on, which also tells it the end.
  void Open() {
    std::shared_ptr<RpcStreamHandler> handler = std::exchange(state_.Lock()->handler, nullptr);
    if (handler == nullptr) return;
    auto open = rpc_->Stream(method_, std::move(handler));
    bool cancelled = false;
    {
      auto state = state_.Lock();
      for (std::string& message : std::exchange(state->waiting, {})) {
        open->Write(std::move(message));
      }
      state->open = open;
      cancelled = state->cancelled;
    }
    if (cancelled) open->Cancel();
  }

  void End(const RpcOutcome& outcome) {
    std::shared_ptr<RpcStreamHandler> handler;
    {
      auto state = state_.Lock();
      handler = std::exchange(state->handler, nullptr);
      if (handler == nullptr) return;
      state->over = true;
      state->waiting.clear();
    }
    handler->OnEnd(outcome);
  }

  const std::shared_ptr<Rpc> rpc_;
  const std::string method_;
  Guarded<State> state_;
};

class TokenRpc final : public Rpc {
 public:
  TokenRpc(std::shared_ptr<Rpc> inner, EtcdUser user, std::shared_ptr<SharedToken> token)
      : inner_(std::move(inner)),
        login_(std::make_shared<Login>(inner_, std::move(user), std::move(token))) {}
  ~TokenRpc() override { inner_->Stop(); }

  std::shared_ptr<RpcCall> Unary(const std::string& method, std::string request,
                                 const RpcOptions& options, Done done) override {
    const auto call = std::make_shared<TokenCall>(
        inner_, login_, TokenCall::Wanted{method, std::move(request), options}, std::move(done));
    call->Begin(0);
    return call;
  }

  std::shared_ptr<RpcStream> Stream(const std::string& method,
                                    std::shared_ptr<RpcStreamHandler> handler) override {
    const auto stream = std::make_shared<TokenStream>(inner_, method, std::move(handler));
    stream->Begin(*login_);
    return stream;
  }

  bool RenewCredentials() override { return login_->GiveUp(); }
  std::size_t members() const override { return inner_->members(); }
  void Stop() override { inner_->Stop(); }

 private:
  const std::shared_ptr<Rpc> inner_;
  const std::shared_ptr<Login> login_;
};

}  // namespace

std::shared_ptr<Rpc> NewTokenRpc(std::shared_ptr<Rpc> inner, EtcdUser user,
                                 std::shared_ptr<SharedToken> token) {
  return std::make_shared<TokenRpc>(std::move(inner), std::move(user), std::move(token));
}

}  // namespace apiserver::v0::storage::etcd
