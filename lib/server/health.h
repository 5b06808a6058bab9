#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/sync.h"
#include "apiserver/http/exchange.h"
#include "server/health_probe.h"

namespace apiserver::inline v0::server {

// The checks of one of /healthz, /livez, /readyz: "ping", then the others in order of addition.
// k8s.io/apiserver/pkg/server/healthz. Any thread.
class Health {
 public:
  // `name`: "healthz". Results are counted in `slis`. Null: they are not counted.
  Health(std::string name, LogSink& log, metrics::Registry* slis = nullptr);

  struct Check {
    std::string name;
    std::shared_ptr<HealthProbe> probe;
    std::string group = {};
    // While it returns true, the check passes without being run. Called on a loop: it must not
    // block. Null: never.
    std::function<bool()> in_grace = nullptr;
  };
  // Adds a check. kConflict: there is one of that name.
  Status Add(Check check);
  // `passed` is called whenever all checks of a request have passed, on that request's loop; it
  // must not block. Set it before the first request.
  void OnPassed(std::function<void()> passed) { passed_ = std::move(passed); }

  // Runs the checks and waits for them.
  bool Passes() const;
  // Answers "/healthz" and "/healthz/<check>", whatever the method. nullopt: there is no such
  // check. The checks run side by side, and the loop goes on meanwhile.
  std::optional<http::Step> Serve(http::Exchange& exchange) const;
  std::vector<std::string> CheckNames() const;
  const std::string& name() const { return name_; }

 private:
  using Checks = std::vector<Check>;
  // The results by check; nullopt: it was not asked.
  using Outcomes = std::vector<std::optional<Status>>;
  struct Round;

  std::shared_ptr<const Checks> Snapshot() const { return *checks_.Lock(); }
  // Counts a result for /metrics/slis.
  void Observe(const Check& check, bool passed) const;
  // Runs those of `checks` that `asked` selects, all at once. `done` is called when the last one
  // has ended, on that check's thread, perhaps before this returns.
  static void Ask(const Checks& checks, const std::function<bool(const Check&)>& asked,
                  UniqueFunction<void(Outcomes)> done);
  http::Step All(http::Exchange& exchange) const;
  http::Step Report(http::Exchange& exchange, const Checks& checks, const Outcomes& outcomes) const;
  std::optional<http::Step> One(http::Exchange& exchange, std::string_view check_name) const;

  std::string name_;
  LogSink& log_;
  // The metrics kubernetes_healthcheck and kubernetes_healthchecks_total. Null: not counted.
  metrics::Family<metrics::Gauge>* result_ = nullptr;
  metrics::Family<metrics::Counter>* results_ = nullptr;
  std::function<void()> passed_;
  Guarded<std::shared_ptr<const Checks>> checks_{std::make_shared<const Checks>()};
};

}  // namespace apiserver::inline v0::server
