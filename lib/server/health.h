#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/sync.h"
#include "apiserver/http/exchange.h"
#include "apiserver/server/server.h"

namespace apiserver::inline v0::server {

// The checks of one of /healthz, /livez, /readyz: "ping", then the others in order of addition.
// k8s.io/apiserver/pkg/server/healthz. Any thread.
class Health {
 public:
  // `name`: "healthz". How checks pass is counted in `slis`; null: nowhere.
  Health(std::string name, LogSink& log, metrics::Registry* slis = nullptr);

  // kConflict: there is one of that name.
  Status Add(std::string check_name, std::function<Status()> check, std::string group = {});
  // Called whenever all checks have passed; before the first request.
  void OnPassed(std::function<void()> passed) { passed_ = std::move(passed); }

  bool Passes() const;
  // Answers "/healthz" and "/healthz/<check>", whatever the method; none: there is no such check.
  std::optional<http::Step> Serve(http::Exchange& exchange) const;
  std::vector<std::string> CheckNames() const;
  const std::string& name() const { return name_; }

 private:
  struct Check {
    std::string name;
    std::function<Status()> run;
    std::string group;
  };
  using Checks = std::vector<Check>;

  std::shared_ptr<const Checks> Snapshot() const { return *checks_.Lock(); }
  // For /metrics/slis.
  void Observe(const Check& check, bool passed) const;
  // What is wrong with one; also if it throws.
  static Status Run(const Check& check);
  http::Step All(http::Exchange& exchange) const;
  std::optional<http::Step> One(http::Exchange& exchange, std::string_view check_name) const;

  std::string name_;
  LogSink& log_;
  // kubernetes_healthcheck and kubernetes_healthchecks_total; null: not counted.
  metrics::Family<metrics::Gauge>* result_ = nullptr;
  metrics::Family<metrics::Counter>* results_ = nullptr;
  std::function<void()> passed_;
  Guarded<std::shared_ptr<const Checks>> checks_{std::make_shared<const Checks>()};
};

}  // namespace apiserver::inline v0::server
