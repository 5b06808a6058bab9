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
  std::string issuer;         // Required; what the discovery document must say.
  std::string discovery_url;  // Required.
  std::chrono::milliseconds timeout;
  std::chrono::nanoseconds refetch_interval;
  std::chrono::nanoseconds lifetime;
  const Clock* clock;
  LogSink* log;
  metrics::Registry* metrics;  // May be null.
  std::string server_id;
};

// The keys of one issuer: the place from its discovery document, then the set, fetched when they
// are needed and never more often than the interval. Any thread.
class IssuerKeys final {
 public:
  IssuerKeys(IssuerKeysOptions options, std::shared_ptr<client::HttpClient> http);

  // Null: none were fetched yet. Begins to fetch newer ones if they are old.
  JwkSetPtr Known() const;
  // Keys that may be newer than those known: fetched now, unless that was done a moment ago or for
  // this very request. kWouldBlock: under way; see auth::Waiting. kUnauthorized: there are none.
  Result<JwkSetPtr> Newer(const Context& ctx) const;
  // Begins to fetch them, if none are known.
  void Begin() const;
  // OK once there are keys; else why there are none.
  Status Healthy() const;

 private:
  struct State;
  struct Fetch;

  std::shared_ptr<State> state_;
};

}  // namespace apiserver::inline v0::authn
