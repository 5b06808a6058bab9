#pragma once

#include <string>
#include <vector>

#include "apiserver/audit/options.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/options/flag_set.h"
#include "apiserver/server/server.h"

// k8s.io/apiserver/pkg/server/options/audit.go.
namespace apiserver::inline v0::options {

// The recording of requests: --audit-*.
struct AuditOptions {
  // The fields of the flags, with upstream's defaults. `standard_output` is the program's to set:
  // without it --audit-log-path=- is refused.
  audit::Options values = {};

  // Adds the flags. The options must outlive the reading of the command line.
  void AddFlags(FlagSet& flags);
  // Returns a line for each mistake, which names a flag and the remedy. Reads no file.
  std::vector<std::string> Validate() const;
  // Sets the policy and the backend; a policy that nothing is written by is a warning on `log`,
  // which must outlive the server. Sets the metrics too if there are none. kInvalid: one line that
  // names flag or file, line and remedy.
  Status ApplyTo(server::Config& config, LogSink& log) const;
};

}  // namespace apiserver::inline v0::options
