#include "client/exec_authenticator.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <string>
#include <string_view>

#include "apiserver/base/detached.h"

namespace apiserver::v0::client {
namespace {

Status CannotGet(Reason reason, std::string_view why) {
  return {reason, "getting credentials: " + std::string(why)};
}

Status ClientGone() { return CannotGet(Reason::kServiceUnavailable, "the client is gone"); }

}  // namespace

bool UsesExec(const ClientConfig& config) {
  return config.exec && config.token.empty() && config.token_file.empty() &&
         config.username.empty() && config.password.empty() && config.certificate_file.empty() &&
         config.certificate_pem.empty();
}

ExecAuthenticator::~ExecAuthenticator() { assert(state_.Lock()->stopped); }

ExecAuthenticator::Credentials ExecAuthenticator::UnexpiredIn(const State& state) const {
  if (state.cached == nullptr) return nullptr;
  const auto& expires = state.cached->expires;
  return expires && clock_.WallNow() > *expires ? nullptr : state.cached;
}

ExecAuthenticator::Credentials ExecAuthenticator::CachedIn(const State& state) const {
  const bool replaced = state.run && state.refused;
  return replaced ? nullptr : UnexpiredIn(state);
}

ExecAuthenticator::Credentials ExecAuthenticator::Cached() const {
  return CachedIn(*state_.Lock());
}

void ExecAuthenticator::Start(const Context& ctx, Done done) {
  const auto waiter = std::make_shared<Waiter>(Waiter{ctx, std::move(done), {}});
  Result<Credentials> known = ClientGone();
  {
    const auto state = state_.Lock();
    if (Credentials cached = CachedIn(*state)) {
      known = std::move(cached);
    } else if (!state->stopped) {
      state->waiters.push_back(waiter);
      if (!state->run) BeginRun(*state);
      known = Credentials();
    }
  }
  if (!known.ok() || *known != nullptr) return waiter->done(std::move(known));
  waiter->registration =
      ctx.OnDone([self = weak_from_this(), weak = std::weak_ptr<Waiter>(waiter)] {
        const auto shared = self.lock();
        const auto abandoned = weak.lock();
        if (shared && abandoned) shared->Abandon(abandoned);
      });
}

Result<ExecAuthenticator::Credentials> ExecAuthenticator::Get(const Context& ctx) {
  if (Credentials cached = Cached()) return cached;
  if (!ctx.may_block()) return Status(Reason::kWouldBlock, "a credential plug-in is waited for");
  struct Answer {
    Notification there;
    std::optional<Result<Credentials>> value;
  };
  const auto answer = std::make_shared<Answer>();
  const Context waiting = Context::Child(ctx);
  Start(waiting, [answer](Result<Credentials> got) {
    answer->value = std::move(got);
    answer->there.Notify();
  });
  if (const auto deadline = ctx.deadline()) {
    const auto left = *deadline - RealClock().Now();
    if (!answer->there.WaitFor(std::chrono::ceil<std::chrono::milliseconds>(left))) {
      waiting.Cancel(Status(Reason::kTimeout, "context deadline exceeded"));
    }
  }
  answer->there.Wait();
  return std::move(*answer->value);
}

void ExecAuthenticator::Refuse(const Credentials& credentials) {
  const auto state = state_.Lock();
  if (state->stopped || state->cached != credentials) return;
  // A run that has just brought them goes on to another one.
  state->refused = true;
  if (!state->run) BeginRun(*state);
}

void ExecAuthenticator::Stop() {
  Waiters left;
  std::optional<Context> run;
  {
    const auto state = state_.Lock();
    state->stopped = true;
    left.swap(state->waiters);
    run = state->run;
  }
  const Status gone = ClientGone();
  if (run) run->Cancel(gone);
  for (const auto& waiter : left) waiter->done(gone);
  auto state = state_.Lock();
  // The plug-in's thread may be calling the Done that drops the client: it ends right after.
  if (pthread_equal(state->thread, pthread_self()) != 0) return;
  state.Wait([&] { return !state->run; });
}

void ExecAuthenticator::BeginRun(State& state) {
  state.run = Context::Child(Context::Background());
  RunDetached("exec-plugin", [self = shared_from_this()] { self->RunUntilAnswered(); });
}

void ExecAuthenticator::Abandon(const std::shared_ptr<Waiter>& waiter) {
  std::optional<Context> unwanted;
  {
    const auto state = state_.Lock();
    const auto at = std::find(state->waiters.begin(), state->waiters.end(), waiter);
    if (at == state->waiters.end()) return;
    state->waiters.erase(at);
    if (state->waiters.empty() && !state->refused) unwanted = state->run;
  }
  const Status why = waiter->ctx.Err();
  if (unwanted) unwanted->Cancel(why);
  waiter->done(CannotGet(Reason::kTimeout, why.message()));
}

void ExecAuthenticator::RunUntilAnswered() {
  Context run = Context::Background();
  {
    const auto state = state_.Lock();
    state->thread = pthread_self();
    run = *state->run;
  }
  while (true) {
    const Result<Credentials> outcome = plug_in_.Run(run);
    const std::size_t count = Settle(outcome);
    Answer(outcome, count);
    const auto state = state_.Lock();
    const bool wanted = !state->waiters.empty() || state->refused;
    if (!wanted || state->stopped) {
      state->run.reset();
      state->thread = {};
      state_.NotifyAll();
      return;
    }
    // They came, or credentials were refused, after the outcome; or the run that nobody wanted any
    // more was cancelled.
    run = Context::Child(Context::Background());
    state->run = run;
  }
}

std::size_t ExecAuthenticator::Settle(const Result<Credentials>& outcome) {
  const auto state = state_.Lock();
  if (outcome.ok()) {
    state->cached = *outcome;
  } else if (state->refused && !state->stopped) {
    Log(log_, LogLevel::kError, "credentials that were refused could not be replaced",
        {{"error", std::string(outcome.status().message())}});
  }
  state->refused = false;
  const bool cancelled = !outcome.ok() && state->run->done();
  return cancelled ? 0 : state->waiters.size();
}

// Stop() takes those that are left, so that they are looked up one by one.
void ExecAuthenticator::Answer(const Result<Credentials>& outcome, std::size_t count) {
  for (; count > 0; --count) {
    std::shared_ptr<Waiter> next;
    Credentials cached;
    {
      const auto state = state_.Lock();
      if (state->waiters.empty()) return;
      next = std::move(state->waiters.front());
      state->waiters.pop_front();
      // As client-go: refused credentials stay in use if they cannot be replaced.
      cached = UnexpiredIn(*state);
    }
    next->done(outcome.ok() || cached == nullptr ? outcome : Result<Credentials>(cached));
  }
}

}  // namespace apiserver::v0::client
