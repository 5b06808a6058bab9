#pragma once

#include <string>
#include <vector>

#include "apiserver/options/flag_set.h"
#include "apiserver/options/server_run.h"
#include "apiserver/server/server.h"

// k8s.io/apiserver/pkg/server/options/feature.go.
namespace apiserver::inline v0::options {

// The features of a server beside its resources. Fields have the names and defaults of Go's
// FeatureOptions.
struct FeatureOptions {
  // --profiling: serves /debug/pprof/ and /debug/flags/, and lets /metrics be reset.
  bool enable_profiling = true;
  // --debug-socket-path: serves the same on a Unix socket; empty: it does not.
  std::string debug_socket_path = {};
  // --enable-priority-and-fairness: shares the requests in flight fairly. Off: requests over the
  // limits are rejected.
  bool enable_priority_and_fairness = true;

  // Adds the flags. The options must outlive the reading of the command line.
  void AddFlags(FlagSet& flags);
  // Returns a line for each mistake, which names flags and the remedy. `run` has the limits that
  // priority and fairness share.
  std::vector<std::string> Validate(const ServerRunOptions& run) const;
  // Sets the fields of `config` for these flags, of flow control the mode.
  void ApplyTo(server::Config& config) const;
};

}  // namespace apiserver::inline v0::options
