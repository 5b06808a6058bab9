#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/options/flag_set.h"
#include "apiserver/server/server.h"

// k8s.io/apiserver/pkg/server/options/server_run_options.go.
namespace apiserver::inline v0::options {

// The limits of requests, and the operation of the server. Fields have the names and defaults of
// Go's ServerRunOptions.
struct ServerRunOptions {
  // --request-timeout: how long a request may take, watches aside.
  std::chrono::milliseconds request_timeout = std::chrono::minutes(1);
  // --min-request-timeout: seconds that a watch lasts at least, unless its client says otherwise.
  int min_request_timeout = 1800;
  // --feature-gates: "A=true", one each; of a gate named twice the last counts.
  std::vector<std::string> feature_gates = {};

  // --goaway-chance: the chance with which an answer over HTTP/2 sends its client to a new
  // connection; 0 ... 0.02.
  double goaway_chance = 0;
  // --cors-allowed-origins: regular expressions that pin both ends of the host.
  std::vector<std::string> cors_allowed_origins = {};
  // --strict-transport-security-directives: parts of the header of that name.
  std::vector<std::string> hsts_directives = {};
  // --livez-grace-period: how long after the start post-start hooks may run until /livez fails.
  std::chrono::milliseconds livez_grace_period{0};
  // --shutdown-delay-duration: how long the server serves on when /readyz fails already.
  std::chrono::milliseconds shutdown_delay_duration{0};
  // --shutdown-watch-termination-grace-period: over how long watches are ended; 0: all at once.
  std::chrono::milliseconds shutdown_watch_termination_grace_period{0};
  // --shutdown-send-retry-after: new requests are answered 429 while others are finished.
  bool shutdown_send_retry_after = false;

  // --max-requests-inflight: requests that only read; 0: no limit.
  int max_requests_in_flight = 400;
  // --max-mutating-requests-inflight: all others; 0: no limit.
  int max_mutating_requests_in_flight = 200;

  // Adds the flags. The options must outlive the reading of the command line.
  void AddFlags(FlagSet& flags);
  // Returns a line for each mistake, which names a flag and the remedy. The server checks
  // the rest itself: see server::Config::Complete.
  std::vector<std::string> Validate() const;
  // Sets the fields of `config` for these flags, of flow control the limits. kInvalid: a feature
  // gate is unknown.
  Status ApplyTo(server::Config& config) const;
};

}  // namespace apiserver::inline v0::options
