#include "storage/etcd/client.h"

#include <algorithm>
#include <vector>

namespace apiserver::v0::storage::etcd {
namespace {

constexpr std::chrono::milliseconds kFirstPause{20};
constexpr std::chrono::milliseconds kLongestPause{500};
// The timeout of an attempt at one of several members; doubled each time.
constexpr std::chrono::milliseconds kAttempt{3000};

}  // namespace

// One call and its repetitions.
class Client::Attempts final : public RpcCall, public std::enable_shared_from_this<Attempts> {
 public:
  struct Request {
    std::string method;
    std::string bytes;
  };
  Attempts(std::shared_ptr<Client> client, Request request, const Options& options, Rpc::Done done,
           kv::CallGate::Pass pass)
      : client_(std::move(client)),
        request_(std::move(request)),
        options_(options),
        done_(std::move(done)),
        pass_(std::in_place, std::move(pass)) {
    client_->running_.Lock()->insert(this);
  }
  ~Attempts() override { client_->running_.Lock()->erase(this); }

  void Start() {
    RpcOptions options{.deadline = options_.deadline,
                       .member = options_.member,
                       .response_bytes_max = options_.response_bytes_max};
    // A member that hangs must leave time for another one.
    if (client_->rpc_->members() > 1) {
      options.deadline = std::min(options.deadline, RealClock().Now() + attempt_);
      attempt_ *= 2;
    }
    // The bytes are kept only if they may be sent again.
    auto call = client_->rpc_->Unary(
        request_.method, options_.retry ? request_.bytes : std::move(request_.bytes), options,
        [self = shared_from_this()](RpcOutcome outcome, std::string bytes) {
          self->OnDone(std::move(outcome), std::move(bytes));
        });
    auto state = state_.Lock();
    if (state->over) return;
    state->call = call;
    if (state->cancelled) call->Cancel();
  }

  void Cancel() override {
    std::shared_ptr<RpcCall> call;
    {
      auto state = state_.Lock();
      state->cancelled = true;
      call = state->call;
    }
    if (call != nullptr) call->Cancel();
  }

 private:
  struct State {
    std::shared_ptr<RpcCall> call;
    bool cancelled = false;
    bool over = false;
  };

  void OnDone(RpcOutcome outcome, std::string bytes) {
    bool again = options_.retry && IsTransient(outcome) && !client_->stopped() &&
                 // A pause beyond the deadline would only replace the reason by a timeout.
                 RealClock().Now() + pause_ < options_.deadline;
    {
      auto state = state_.Lock();
      state->call = nullptr;
      if (state->cancelled) again = false;
      state->over = !again;
    }
    if (!again) {
      Finish(std::move(outcome), std::move(bytes));
      return;
    }
    client_->timers_.After(pause_, [self = shared_from_this(), outcome]() mutable {
      if (self->client_->stopped() || self->state_.Lock()->cancelled) {
        self->Finish(std::move(outcome), "");
      } else {
        self->Start();
      }
    });
    pause_ = std::min(pause_ * 2, kLongestPause);
  }

  void Finish(RpcOutcome outcome, std::string bytes) {
    // The callback runs before the gate is released: Drain() must not return while it still runs.
    Rpc::Done done = std::move(done_);
    done(std::move(outcome), std::move(bytes));
    pass_.reset();
  }

  const std::shared_ptr<Client> client_;
  Request request_;
  const Options options_;
  Rpc::Done done_;
  std::optional<kv::CallGate::Pass> pass_;  // Held until it is done.
  std::chrono::milliseconds pause_ = kFirstPause;
  std::chrono::milliseconds attempt_ = kAttempt;
  Guarded<State> state_;
};

std::shared_ptr<RpcCall> Client::Call(const std::string& method, std::string request,
                                      const Options& options, Rpc::Done done) {
  kv::CallGate::Pass pass = gate_.Enter();
  if (!pass || stopped()) {
    done({RpcCode::kUnavailable, "the storage engine is stopped", /*sent=*/false}, "");
    return nullptr;
  }
  const auto attempts =
      std::make_shared<Attempts>(shared_from_this(), Attempts::Request{method, std::move(request)},
                                 options, std::move(done), std::move(pass));
  attempts->Start();
  return attempts;
}

void Client::CancelAll() {
  std::vector<std::shared_ptr<Attempts>> calls;
  {
    auto running = running_.Lock();
    for (Attempts* attempts : *running) {
      if (auto call = attempts->weak_from_this().lock()) calls.push_back(std::move(call));
    }
  }
  for (const auto& call : calls) call->Cancel();
}

}  // namespace apiserver::v0::storage::etcd
