#include "apiserver/audit/backend.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "apiserver/audit/batching.h"
#include "base/status_macros.h"

namespace apiserver::v0::audit {

namespace {

class Union final : public Backend {
 public:
  explicit Union(std::vector<BackendPtr> backends) : backends_(std::move(backends)) {}

  // Go's union.String(): the name appears in logs and as the label `plugin` of errors.
  std::string name() const override {
    std::string names;
    for (const BackendPtr& backend : backends_) {
      names += (names.empty() ? "" : ",") + backend->name();
    }
    return "union[" + names + "]";
  }

  // The first error ends the server's start, so the backends behind it are not started.
  Status Run(const BackendEnvironment& environment) override {
    for (const BackendPtr& backend : backends_) RETURN_IF_ERROR(backend->Run(environment));
    return {};
  }

  void ProcessEvents(Events events, Done done) override {
    if (!done) {
      for (const BackendPtr& backend : backends_) backend->ProcessEvents(events, nullptr);
      return;
    }
    auto all = std::make_shared<All>(backends_.size(), std::move(done));
    for (const BackendPtr& backend : backends_) {
      backend->ProcessEvents(events, [all](bool processed) { all->One(processed); });
    }
  }

  // One backend that holds a request is enough.
  bool Holds() const override {
    return std::any_of(backends_.begin(), backends_.end(),
                       [](const BackendPtr& backend) { return backend->Holds(); });
  }

  void Shutdown(std::chrono::milliseconds grace) override {
    for (const BackendPtr& backend : backends_) backend->Shutdown(grace);
  }

 private:
  // Calls `done` after the last backend has.
  class All {
   public:
    All(std::size_t count, Done done) : left_(count), done_(std::move(done)) {}
    // Runs on each backend's thread, hence the atomics; the last caller's thread calls `done_`.
    void One(bool processed) {
      if (!processed) processed_ = false;
      if (--left_ == 0) done_(processed_);
    }

   private:
    std::atomic<std::size_t> left_;
    std::atomic<bool> processed_{true};
    Done done_;
  };

  std::vector<BackendPtr> backends_;
};

class IgnoreErrors final : public Backend {
 public:
  explicit IgnoreErrors(BackendPtr backend) : backend_(std::move(backend)) {}

  std::string name() const override { return "ignoreErrors<" + backend_->name() + ">"; }
  Status Run(const BackendEnvironment& environment) override { return backend_->Run(environment); }
  void ProcessEvents(Events events, Done done) override {
    if (!done) return backend_->ProcessEvents(std::move(events), nullptr);
    // The request goes on even if its events are lost; the backend has counted and logged them.
    backend_->ProcessEvents(std::move(events),
                            [done = std::move(done)](bool) mutable { done(true); });
  }
  void ProcessEvent(Event&& event) override { backend_->ProcessEvent(std::move(event)); }
  bool ProcessAtOnce(const Event& event, RequestJson& kept) override {
    return backend_->ProcessAtOnce(event, kept);
  }
  bool Holds() const override { return backend_->Holds(); }
  void Shutdown(std::chrono::milliseconds grace) override { backend_->Shutdown(grace); }

 private:
  BackendPtr backend_;
};

}  // namespace

void Backend::ProcessEvent(Event&& event) {
  ProcessEvents({std::make_shared<const Event>(std::move(event))}, nullptr);
}

Metrics::Metrics(metrics::Registry& registry)
    : events_(registry
                  .Counters({.name = "apiserver_audit_event_total",
                             .help = "[ALPHA] Counter of audit events generated and sent to the "
                                     "audit backend."})
                  .With({})),
      errors_(registry.Counters(
          {.name = "apiserver_audit_error_total",
           .help = "[ALPHA] Counter of audit events that failed to be audited properly. Plugin "
                   "identifies the plugin affected by the error.",
           .labels = {"plugin"}})),
      levels_(registry.Counters(
          {.name = "apiserver_audit_level_total",
           .help = "[ALPHA] Counter of policy levels for audit events (1 per request).",
           .labels = {"level"}})),
      rejected_(registry
                    .Counters({.name = "apiserver_audit_requests_rejected_total",
                               .help = "[ALPHA] Counter of apiserver requests rejected due to an "
                                       "error in audit logging backend."})
                    .With({})) {}

void Metrics::ObservePolicyLevel(Level level) {
  auto& kept = kept_levels_[static_cast<std::size_t>(level)];
  metrics::Counter* counter = kept.load(std::memory_order_acquire);
  // Two threads may both look the series up; they find the same one.
  if (counter == nullptr) {
    counter = &levels_.With({LevelWord(level)});
    kept.store(counter, std::memory_order_release);
  }
  counter->Add();
}

void Metrics::HandlePluginError(LogSink& log, std::string_view plugin, const Status& error,
                                std::size_t impacted) {
  errors_.With({plugin}).Add(static_cast<double>(impacted));
  Log(log, LogLevel::kError, "audit events were not recorded",
      {{"plugin", std::string(plugin)},
       {"events", std::to_string(impacted)},
       {"error", error.ToString()}});
}

// An estimate for limits of memory; exact sizes would mean encoding each event twice.
std::size_t BytesOf(const Event& event) {
  constexpr std::size_t kRest = 1024;  // Users, groups, references and times.
  std::size_t bytes = kRest + event.request_uri.size() + event.user_agent.size();
  if (event.request_object) bytes += event.request_object->size();
  if (event.response_object) bytes += event.response_object->size();
  for (const auto& [key, value] : event.annotations) bytes += key.size() + value.size();
  return bytes;
}

// Null backends are left out, so a caller need not know which ones are configured.
BackendPtr NewUnion(std::vector<BackendPtr> backends) {
  std::erase(backends, nullptr);
  if (backends.empty()) return nullptr;
  if (backends.size() == 1) return backends.front();
  return std::make_shared<Union>(std::move(backends));
}

BackendPtr NewIgnoreErrors(BackendPtr backend) {
  return std::make_shared<IgnoreErrors>(std::move(backend));
}

}  // namespace apiserver::v0::audit
