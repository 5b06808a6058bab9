#include <algorithm>
#include <deque>
#include <utility>

#include "apiserver/audit/batching.h"
#include "apiserver/base/sync.h"
#include "base/status_macros.h"

namespace apiserver::v0::audit {

namespace {

using Monotonic = Clock::Monotonic;

// A token bucket: `qps` a second, `burst` at once. One thread.
class Throttle {
 public:
  Throttle(double qps, int burst) : qps_(qps), burst_(burst), tokens_(burst) {}

  // Takes a token; returns the time from which it may be used.
  // Tokens may become negative: the debt is the time for which the caller must wait.
  Monotonic Take(Monotonic now) {
    if (last_ != Monotonic()) {
      const std::chrono::duration<double> passed = now - last_;
      tokens_ = std::min(burst_, tokens_ + passed.count() * qps_);
    }
    last_ = now;
    tokens_ -= 1;
    if (tokens_ >= 0) return now;
    return now + std::chrono::duration_cast<std::chrono::nanoseconds>(
                     std::chrono::duration<double>(-tokens_ / qps_));
  }

 private:
  const double qps_;
  const double burst_;
  double tokens_;
  Monotonic last_ = {};
};

class Buffered final : public Backend {
 public:
  Buffered(BackendPtr delegate, BatchOptions options)
      : options_(options), delegate_(std::move(delegate)), shared_(std::make_shared<Shared>()) {}
  ~Buffered() override { Shutdown(std::chrono::milliseconds(0)); }

  std::string name() const override { return std::string(kPlugin) + "<" + delegate_->name() + ">"; }

  Status Run(const BackendEnvironment& environment) override {
    {
      auto state = shared_->Lock();
      if (state->running || state->stopping) return {};
    }
    RETURN_IF_ERROR(delegate_->Run(environment));
    environment_ = environment;
    shared_->Lock()->running = true;
    thread_ = Thread("audit-batches", [this] { SendUntilStopped(); });
    return {};
  }

  // Never waits: what does not fit is counted and dropped, as in Go's buffered backend.
  void ProcessEvents(Events events, Done done) override {
    std::size_t dropped = 0;
    {
      auto state = shared_->Lock();
      const bool open = state->running && !state->stopping;
      for (EventPtr& event : events) {
        const std::size_t bytes = BytesOf(*event);
        const bool room = state->events.size() < options_.buffer_size &&
                          state->bytes + bytes <= options_.buffer_bytes;
        if (!open || !room) {
          ++dropped;
          continue;
        }
        state->bytes += bytes;
        state->events.push_back(std::move(event));
      }
    }
    shared_->NotifyAll();
    if (dropped > 0) Count({Reason::kTooManyRequests, "audit buffer queue blocked"}, dropped);
    // As in Go, what is buffered counts as recorded, and what is dropped stops no request.
    if (done) done(true);
  }

  bool Holds() const override { return false; }

  // `grace` is for everything: the batches here first, and the delegate with the time that is left.
  void Shutdown(std::chrono::milliseconds grace) override {
    const Monotonic deadline = RealClock().Now() + grace;
    std::size_t dropped = 0;
    {
      auto state = shared_->Lock();
      state->stopping = true;
      shared_->NotifyAll();
      const bool flushed = state.WaitUntil(deadline, [&state] {
        return !state->running || (state->events.empty() && state->in_flight == 0);
      });
      if (!flushed) {
        dropped = state->events.size();
        state->events.clear();
        state->bytes = 0;
        state->abandoned = true;
        shared_->NotifyAll();
      }
    }
    if (dropped > 0) Count({Reason::kTimeout, "the server stopped first"}, dropped);
    delegate_->Shutdown(std::max(
        std::chrono::milliseconds(0),
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - RealClock().Now())));
    thread_.Join();
  }

 private:
  static constexpr std::string_view kPlugin = "buffered";

  struct State {
    std::deque<EventPtr> events;
    std::size_t bytes = 0;
    std::size_t in_flight = 0;  // The number of batches.
    bool running = false;
    bool stopping = false;
    bool abandoned = false;  // Shutdown() waits no longer.
  };
  // Outlives the backend: a delegate may finish late.
  using Shared = Guarded<State>;

  void SendUntilStopped() {
    Throttle throttle(options_.throttle_qps, options_.throttle_burst);
    for (;;) {
      Events batch = NextBatch();
      if (batch.empty()) return;
      if (options_.throttle) {
        const Monotonic at = throttle.Take(RealClock().Now());
        // Shutdown() does not wait for the throttle.
        auto state = shared_->Lock();
        (void)state.WaitUntil(at, [&state] { return state->stopping; });
      }
      Send(std::move(batch));
    }
  }

  // Waits for a batch that is full, or old enough. Empty: the backend has ended.
  Events NextBatch() {
    const Monotonic old = RealClock().Now() + options_.max_batch_wait;
    auto state = shared_->Lock();
    const auto full = [&] {
      return state->stopping || state->events.size() >= options_.max_batch_size;
    };
    // A batch of one event is full at once, so nothing is waited for.
    if (options_.max_batch_size > 1) (void)state.WaitUntil(old, full);
    state.Wait([&] { return state->stopping || !state->events.empty(); });
    const std::size_t count = std::min(options_.max_batch_size, state->events.size());
    Events batch;
    for (std::size_t i = 0; i < count; ++i) {
      state->bytes -= BytesOf(*state->events.front());
      batch.push_back(std::move(state->events.front()));
      state->events.pop_front();
    }
    // Limits the number of batches that a slow delegate holds at once.
    if (!batch.empty()) {
      state.Wait([&] { return state->abandoned || state->in_flight < options_.batches_in_flight; });
      ++state->in_flight;
    }
    return batch;
  }

  void Send(Events batch) {
    // The callback may run after this backend is destroyed, so it holds `shared_` and not `this`.
    delegate_->ProcessEvents(std::move(batch), [shared = shared_](bool) {
      --shared->Lock()->in_flight;
      shared->NotifyAll();
    });
  }

  void Count(const Status& error, std::size_t events) {
    if (!environment_.metrics) return;
    environment_.metrics->HandlePluginError(*environment_.log, kPlugin, error, events);
  }

  const BatchOptions options_;
  const BackendPtr delegate_;
  BackendEnvironment environment_;  // Set before `running`.
  const std::shared_ptr<Shared> shared_;
  Thread thread_;
};

}  // namespace

BackendPtr NewBufferedBackend(BackendPtr delegate, BatchOptions options) {
  return std::make_shared<Buffered>(std::move(delegate), options);
}

}  // namespace apiserver::v0::audit
