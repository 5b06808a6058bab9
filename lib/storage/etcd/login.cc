#include "storage/etcd/login.h"

#include <utility>

#include "storage/etcd/convert.h"
#include "storage/etcd/errors.h"

namespace apiserver::v0::storage::etcd {
namespace {

constexpr const char* kAuthenticateMethod = "/etcdserverpb.Auth/Authenticate";
// etcd computes a hash of the password for each login, which takes it a tenth of a second.
constexpr std::chrono::seconds kLoginMax{10};
// A younger token that is refused will not get better by another one.
constexpr std::chrono::seconds kYoung{2};

}  // namespace

void Login::After(std::uint64_t seen, Then then) {
  {
    auto state = state_.Lock();
    if (state->number == seen || state->stale) {
      state->waiting.push_back(std::exchange(then, nullptr));
      if (std::exchange(state->running, true)) return;
    }
  }
  if (then) return then({});
  Begin();
}

bool Login::GiveUp() {
  auto state = state_.Lock();
  if (state->number == 0 || RealClock().Now() - state->since < kYoung) return false;
  state->stale = true;
  return true;
}

void Login::Begin() {
  wire::AuthenticateRequest request;
  request.set_name(user_.name);
  request.set_password(user_.password);
  (void)rpc_->Unary(kAuthenticateMethod, request.SerializeAsString(),
                    {.deadline = RealClock().Now() + kLoginMax, .without_token = true},
                    [self = shared_from_this()](RpcOutcome outcome, const std::string& bytes) {
                      self->OnAnswer(std::move(outcome), bytes);
                    });
}

void Login::OnAnswer(RpcOutcome outcome, const std::string& bytes) {
  wire::AuthenticateResponse response;
  if (outcome.ok() && !response.ParseFromString(bytes)) outcome = NotReadableOutcome();
  // Then everyone may do everything, without a token.
  if (IsAuthOff(outcome)) outcome = {};
  outcome.sent = false;  // The call that waits for this was not.
  std::vector<Then> waiting;
  {
    auto state = state_.Lock();
    state->running = false;
    waiting = std::exchange(state->waiting, {});
    if (outcome.ok()) {
      *token_->Lock() = response.token();
      ++state->number;
      state->since = RealClock().Now();
      state->stale = false;
    }
  }
  for (Then& then : waiting) then(outcome);
}

}  // namespace apiserver::v0::storage::etcd
