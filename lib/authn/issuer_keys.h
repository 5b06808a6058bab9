#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "apiserver/auth/look_up.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/status.h"
#include "apiserver/client/http_client.h"
#include "authn/jwk_set.h"

namespace apiserver::inline v0::authn {

using JwkSetPtr = std::shared_ptr<const JwkSet>;

struct IssuerKeysOptions {
  std::string issuer;         // Required; must match the discovery document.
  std::string discovery_url;  // Required.
  std::chrono::milliseconds timeout;
  std::chrono::nanoseconds refetch_interval;
  std::chrono::nanoseconds lifetime;
  const Clock* clock;
  LogSink* log;
  metrics::Registry* metrics;  // May be null.
  std::string server_id;
};

// The keys of one issuer: their URL comes from its discovery document; they are fetched on demand
// and never more often than the interval. Any thread.
class IssuerKeys final {
 public:
  IssuerKeys(IssuerKeysOptions options, std::shared_ptr<client::HttpClient> http);

  // Returns the keys that were fetched last. Null: none yet. Starts a fetch if they are old.
  JwkSetPtr Known() const;
  // Returns keys that may be newer: they are fetched now, unless that was done a moment ago or for
  // this very request. kWouldBlock: in flight; see auth::Waiting. kUnauthorized: there are none.
  Result<JwkSetPtr> Newer(const Context& ctx) const;
  // Starts a fetch if there are no keys yet.
  void Begin() const;
  // OK if there are keys; else the error of the fetch.
  Status Healthy() const;

 private:
  struct State;
  struct Fetch;

  std::shared_ptr<State> state_;
};

}  // namespace apiserver::inline v0::authn
