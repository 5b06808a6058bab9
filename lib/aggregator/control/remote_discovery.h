#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "aggregator/control/backend.h"
#include "aggregator/kind/facts.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/sync.h"
#include "apiserver/controller/controller.h"
#include "apiserver/discovery/discovery.h"
#include "apiserver/runtime/names.h"

namespace apiserver::inline v0::aggregator {

using DiscoveredVersions = std::map<runtime::GroupVersion, discovery::APIVersion>;

// Read the documents of an extension server: "/apis" in the aggregated form, and the list of one
// group version. kInvalid: it is none. Takes time and memory linear in the size.
Result<DiscoveredVersions> ReadAggregated(std::string_view json);
Result<discovery::APIVersion> ReadResourceList(std::string_view json, const std::string& version);
// Tells if a Content-Type names the aggregated form, in v2 or v2beta1.
bool IsAggregated(std::string_view content_type);

// Asks extension servers for their resources: the discoveryManager of k8s.io/kube-aggregator. One
// that does not answer keeps what it had, which is then stale. Any thread.
class RemoteDiscovery {
 public:
  struct Needs {
    Executor* pool = nullptr;  // Must outlive this.
    const Clock* clock = nullptr;
    LogSink* log = nullptr;
    std::shared_ptr<const Backend> backend;
    // Returns the present state of an APIService. nullopt: it does not exist.
    std::function<std::optional<Facts>(const std::string& name)> find;
    // Takes what a remote APIService has.
    std::function<void(const std::string& name, discovery::APIVersion version)> show;
    std::shared_ptr<metrics::Registry> metrics = nullptr;  // Null: nothing is counted.
  };
  explicit RemoteDiscovery(Needs needs);
  ~RemoteDiscovery() { Stop(); }

  // Asks the server of an APIService soon, and not only what was answered before.
  void Add(const std::string& name);
  // Ends all work and waits for what is running. Idempotent.
  void Stop();

 private:
  // The answer of one service, which may serve several group versions.
  struct Cached {
    DiscoveredVersions versions;
    std::string etag;
    Clock::Monotonic asked = {};
  };
  struct State {
    std::map<std::string, Clock::Monotonic> dirty;           // By APIService.
    std::map<std::string, std::string> services;             // By APIService.
    std::map<std::string, std::shared_ptr<Cached>> answers;  // By service.
    std::map<std::string, discovery::APIVersion> shown;      // By APIService, the last good one.
  };

  Status Sync(const std::string& name);
  // Takes note of the service of an APIService, empty: it has none, and forgets the answers of
  // services that none has any more.
  void SetService(const std::string& name, const std::string& service);
  Result<discovery::APIVersion> Fetch(const Facts& facts);
  Result<discovery::APIVersion> FetchList(const Facts& facts) const;

  const Needs needs_;
  const Context ctx_;  // Cancelled by Stop().
  Guarded<State> state_;
  const std::unique_ptr<controller::Controller> controller_;
};

}  // namespace apiserver::inline v0::aggregator
