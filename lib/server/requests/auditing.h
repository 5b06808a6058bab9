#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "apiserver/audit/backend.h"
#include "apiserver/audit/context.h"
#include "apiserver/audit/policy.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/server/server.h"

namespace apiserver::inline v0::server {

// The parts that one server's audit filters share. Any thread.
class Auditing final {
 public:
  // Returns null if `config` asks for no audit.
  static std::unique_ptr<Auditing> Of(const Config& config, metrics::Registry& registry);

  // Starts the backend; call it before the first request.
  Status Run();
  // Writes all recorded events out; call it after the last request.
  void Shutdown();

  const audit::PolicyRuleEvaluator& policy() const { return *policy_; }
  audit::Backend& backend() const { return *backend_; }
  audit::Metrics& metrics() const { return metrics_; }
  const Clock& clock() const { return clock_; }
  LogSink& log() const { return log_; }

  // Hands the event to the backend in its present state, if the policy wants this stage. `last`: no
  // stage follows. `now`: the time, if the caller has read it.
  void Process(audit::AuditContext& context, audit::Stage stage, bool last = false,
               std::optional<Clock::Wall> now = std::nullopt) const;

 private:
  Auditing(const Config& config, metrics::Registry& registry);

  const std::shared_ptr<const audit::PolicyRuleEvaluator> policy_;
  const std::shared_ptr<audit::Backend> backend_;
  mutable audit::Metrics metrics_;
  const Clock& clock_;
  LogSink& log_;
};

}  // namespace apiserver::inline v0::server
