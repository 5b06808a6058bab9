#include "server/requests/auditing.h"

#include <utility>

namespace apiserver::v0::server {

namespace {

// The time that a stopping server waits for its audit backend, which may be a remote one.
constexpr std::chrono::seconds kAuditShutdownGrace{30};

}  // namespace

std::unique_ptr<Auditing> Auditing::Of(const Config& config, metrics::Registry& registry) {
  if (!config.audit_policy || !config.audit_backend) return nullptr;
  return std::unique_ptr<Auditing>(new Auditing(config, registry));
}

Auditing::Auditing(const Config& config, metrics::Registry& registry)
    : policy_(config.audit_policy),
      backend_(config.audit_backend),
      metrics_(registry),
      clock_(*config.clock),
      log_(*config.log) {}

Status Auditing::Run() {
  return backend_->Run({.metrics = &metrics_, .log = &log_, .clock = &clock_});
}

void Auditing::Shutdown() { backend_->Shutdown(kAuditShutdownGrace); }

// Most events become a line of the log at once, straight from the one that the request collects.
void Auditing::Process(audit::AuditContext& context, audit::Stage stage, bool last,
                       std::optional<Clock::Wall> now) const {
  if (!context.Wants(stage)) return;
  metrics_.ObserveEvent();
  std::optional<audit::Event> kept;
  context.VisitAt(stage, now, [&](audit::Event& event, audit::RequestJson& json) {
    if (backend_->ProcessAtOnce(event, json)) return;
    if (last) {
      kept.emplace(std::move(event));
    } else {
      kept.emplace(event);
    }
  });
  if (kept) backend_->ProcessEvent(*std::move(kept));
}

}  // namespace apiserver::v0::server
