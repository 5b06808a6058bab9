#include "server/requests/auditing.h"

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

void Auditing::Process(audit::AuditContext& context, audit::Stage stage, bool last) const {
  if (!context.Wants(stage)) return;
  metrics_.ObserveEvent();
  backend_->ProcessEvent(context.Snapshot(stage, last));
}

}  // namespace apiserver::v0::server
