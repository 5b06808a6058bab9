#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "aggregator/control/backend.h"
#include "aggregator/kind/facts.h"
#include "apiserver/aggregator/api_service.h"
#include "apiserver/aggregator/services.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/client/client.h"
#include "apiserver/controller/controller.h"

namespace apiserver::inline v0::aggregator {

// Returns why the service of an extension server cannot serve it. nullopt: nothing is known against
// it. Follows the checks before the request in pkg/controllers/status/remote.
std::optional<Condition> CheckService(const Services& services, const ProxiedAPIService& service);

// Keeps the condition Available of all APIServices: pkg/controllers/status of
// k8s.io/kube-aggregator. Any thread.
class Availability {
 public:
  struct Needs {
    Executor* pool = nullptr;  // Must outlive this.
    const Clock* clock = nullptr;
    LogSink* log = nullptr;
    std::shared_ptr<client::Client> client;
    std::shared_ptr<const Backend> backend;
    std::shared_ptr<const Services> services;  // Null: services are not checked.
    // Returns the present state of an APIService. Null: it does not exist.
    std::function<runtime::ObjectPtr(const std::string& name)> find;
    std::shared_ptr<metrics::Registry> metrics;
  };
  explicit Availability(Needs needs);
  ~Availability() { Stop(); }

  // Looks at an APIService soon.
  void Add(const std::string& name) { controller_->queue().Add({"", name}); }
  // Ends all work and waits for what is running. Idempotent.
  void Stop();
  // Looks at an APIService and writes its condition if that has changed; blocks. An error: it
  // should be looked at again.
  Status Sync(const std::string& name);

 private:
  // Asks the extension server. OK: it has answered.
  Status Probe(const Facts& facts) const;
  Status Write(const runtime::Object& api_service, const Condition& condition);

  const Needs needs_;
  const Context ctx_;  // Cancelled by Stop().
  metrics::Family<metrics::Gauge>& unavailable_;
  metrics::Family<metrics::Counter>& unavailable_total_;
  const std::unique_ptr<controller::Controller> controller_;
};

}  // namespace apiserver::inline v0::aggregator
