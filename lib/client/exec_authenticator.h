#pragma once  // Library-internal: other rooms include this header.

#include <pthread.h>

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/function.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/client_config.h"
#include "client/exec_plug_in.h"

namespace apiserver::inline v0::client {

// Keeps the credentials that a plug-in has returned until they expire or a server refuses them, and
// runs it again then: once for all that wait, on a thread of its own. client-go's
// plugin/pkg/client/auth/exec.Authenticator. Methods may be called from any thread. Shared by its
// owner, which calls Stop(), with the calls in progress and the thread that runs the plug-in.
class ExecAuthenticator final : public std::enable_shared_from_this<ExecAuthenticator> {
 public:
  using Credentials = std::shared_ptr<const ExecCredentials>;
  // Gets credentials, or the reason why there are none; must not block. Called on the plug-in's
  // thread, on that which cancels the Context or calls Stop(), or at once on the caller's.
  using Done = UniqueFunction<void(Result<Credentials>)>;

  // Requires `config.exec`. Runs nothing yet. `deps` must live until Stop() has returned.
  ExecAuthenticator(ClientConfig config, const ExecPlugInDeps& deps)
      : clock_(*deps.clock), log_(*deps.log), plug_in_(std::move(config), deps) {}
  // Asserts that Stop() was called.
  ~ExecAuthenticator();
  ExecAuthenticator(const ExecAuthenticator&) = delete;
  ExecAuthenticator& operator=(const ExecAuthenticator&) = delete;

  // Asks for credentials without waiting. A cancelled `ctx` ends this request with kTimeout, its
  // deadline does not; the plug-in is killed when all requests that wait for it have been
  // cancelled.
  void Start(const Context& ctx, Done done);
  // Returns credentials that need no run. Null: there are none.
  Credentials Cached() const;
  // Waits for credentials. kWouldBlock: the plug-in must run, and `ctx` may not wait.
  Result<Credentials> Get(const Context& ctx);
  // Tells that a server has answered with 401. Runs the plug-in again unless the credentials were
  // replaced already; requests wait for it, and get the old ones if it fails.
  void Refuse(const Credentials& credentials);
  // Kills the plug-in if it runs, ends all requests with kServiceUnavailable, and waits for the
  // calls of Done that are in progress, except for one that calls this. Idempotent.
  void Stop();

 private:
  struct Waiter {
    Context ctx;
    Done done;
    Context::Registration registration;
  };
  using Waiters = std::list<std::shared_ptr<Waiter>>;
  struct State {
    Credentials cached;
    Waiters waiters;
    std::optional<Context> run;  // The Context of the plug-in's run. nullopt: it does not run.
    pthread_t thread = {};       // The thread of that run.
    bool refused = false;        // The run replaces refused credentials; nobody need wait for it.
    bool stopped = false;
  };

  // Returns the credentials unless they have expired; null: there are none.
  Credentials UnexpiredIn(const State& state) const;
  // Does the same, and returns null as well while refused ones are replaced.
  Credentials CachedIn(const State& state) const;
  void BeginRun(State& state);
  void Abandon(const std::shared_ptr<Waiter>& waiter);
  void RunUntilAnswered();
  // Takes over the outcome of a run, and returns the number of requests that it answers.
  std::size_t Settle(const Result<Credentials>& outcome);
  void Answer(const Result<Credentials>& outcome, std::size_t count);

  const Clock& clock_;
  LogSink& log_;
  ExecPlugIn plug_in_;  // Used by the thread of the run.
  Guarded<State> state_;
};

// Reports whether calls of `config` use its plug-in: as in client-go, not beside a token, a
// password or a certificate.
bool UsesExec(const ClientConfig& config);

// Calls Stop() when its owner is destroyed.
class OwnedExecAuthenticator {
 public:
  OwnedExecAuthenticator(ClientConfig config, const ExecPlugInDeps& deps)
      : shared_(std::make_shared<ExecAuthenticator>(std::move(config), deps)) {}
  ~OwnedExecAuthenticator() { shared_->Stop(); }
  OwnedExecAuthenticator(const OwnedExecAuthenticator&) = delete;
  OwnedExecAuthenticator& operator=(const OwnedExecAuthenticator&) = delete;
  ExecAuthenticator* operator->() const { return shared_.get(); }
  const std::shared_ptr<ExecAuthenticator>& shared() const { return shared_; }

 private:
  const std::shared_ptr<ExecAuthenticator> shared_;
};

}  // namespace apiserver::inline v0::client
