#include "apiserver/audit/webhook_backend.h"

#include <optional>
#include <utility>

#include "apiserver/audit/batching.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"
#include "apiserver/client/webhook.h"
#include "base/status_macros.h"

namespace apiserver::v0::audit {

namespace {

constexpr std::string_view kWebhookPlugin = "webhook";

// The state that responses need, which may come after the backend is gone.
struct WebhookShared {
  struct State {
    std::size_t in_flight = 0;
    std::size_t bytes = 0;
    bool stopping = false;
  };
  Guarded<State> state;
  BackendEnvironment environment;  // Set by Run.

  void Count(const Status& error, std::size_t events) const {
    if (!environment.metrics) return;
    environment.metrics->HandlePluginError(*environment.log, kWebhookPlugin, error, events);
  }
};

class WebhookBackend final : public Backend {
 public:
  // The order matters: pauses between attempts run on the pool, and Shutdown() ends them first.
  ~WebhookBackend() override {
    Shutdown(std::chrono::milliseconds(0));
    pool_->Stop();
  }

  Status Open(const WebhookBackendOptions& options) {
    ASSIGN_OR_RETURN(auto client,
                     client::NewFollowedClient(options.config, {.new_client = options.new_client,
                                                                .files = options.files,
                                                                .executor = pool_.get(),
                                                                .clock = options.clock}));
    in_flight_bytes_max_ = options.in_flight_bytes_max;
    client::WebhookOptions webhook{.client = std::move(client), .url = options.config.server};
    webhook.backoff.duration = options.initial_backoff;
    // As upstream, every error is retried.
    webhook.should_retry = [](const Status&) { return true; };
    webhook.executor = pool_.get();
    webhook.random = options.random;
    webhook.clock = options.clock;
    webhook_.emplace(std::move(webhook));
    return {};
  }

  std::string name() const override { return std::string(kWebhookPlugin); }

  Status Run(const BackendEnvironment& environment) override {
    shared_->environment = environment;
    return {};
  }

  void ProcessEvents(Events events, Done done) override {
    std::size_t bytes = 0;
    for (const EventPtr& event : events) bytes += BytesOf(*event);
    if (const Status refused = Enter(bytes); !refused.ok()) {
      shared_->Count(refused, events.size());
      if (done) done(false);
      return;
    }
    webhook_->Post(ctx_, EventListJson(events),
                   [shared = shared_, count = events.size(), bytes,
                    done = std::move(done)](const Result<http::ClientResponse>& answer) mutable {
                     if (!answer.ok()) shared->Count(answer.status(), count);
                     {
                       auto state = shared->state.Lock();
                       state->bytes -= bytes;
                       --state->in_flight;
                     }
                     shared->state.NotifyAll();
                     if (done) done(answer.ok());
                   });
  }

  // In the blocking modes a request waits for the webhook; a buffered backend around it holds none.
  bool Holds() const override { return true; }

  void Shutdown(std::chrono::milliseconds grace) override {
    {
      auto state = shared_->state.Lock();
      state->stopping = true;
      (void)state.WaitUntil(RealClock().Now() + grace, [&state] { return state->in_flight == 0; });
    }
    // Cancels the calls in flight and the pauses between attempts.
    ctx_.Cancel({Reason::kServiceUnavailable, "the server stopped first"});
  }

 private:
  Status Enter(std::size_t bytes) {
    auto state = shared_->state.Lock();
    if (state->stopping) return {Reason::kServiceUnavailable, "the audit webhook is closed"};
    // A single batch may exceed the limit: it could never be sent otherwise.
    if (state->in_flight > 0 && state->bytes + bytes > in_flight_bytes_max_) {
      return {Reason::kTooManyRequests, "too much is under way to the audit webhook"};
    }
    state->bytes += bytes;
    ++state->in_flight;
    return {};
  }

  // Runs pauses between attempts, and checks the client's files.
  const std::unique_ptr<ThreadPool> pool_ = NewThreadPool({.name = "audit-hook", .threads = 1});
  const std::shared_ptr<WebhookShared> shared_ = std::make_shared<WebhookShared>();
  const Context ctx_ = Context::Child(Context::Background());
  std::size_t in_flight_bytes_max_ = 0;
  std::optional<client::Webhook> webhook_;
};

}  // namespace

Result<BackendPtr> NewWebhookBackend(const WebhookBackendOptions& options) {
  auto backend = std::make_shared<WebhookBackend>();
  RETURN_IF_ERROR(backend->Open(options));
  return backend;
}

}  // namespace apiserver::v0::audit
