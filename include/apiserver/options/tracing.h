#pragma once

#include <string>

#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/options/flag_set.h"
#include "apiserver/server/server.h"

// k8s.io/apiserver/pkg/server/options/tracing.go.
namespace apiserver::inline v0::options {

// The tracing of requests.
struct TracingOptions {
  // --tracing-config-file: a TracingConfiguration; empty: there are no spans.
  std::string config_file = {};
  // Reads the file.
  const FileSystem* files = &RealFileSystem();

  // Adds the flag. The options must outlive the reading of the command line.
  void AddFlags(FlagSet& flags);
  // Sets the tracer, which has the name of `config`; sets the metrics too if there are none. `log`
  // must outlive the server. kInvalid: the file cannot be used, with the flag's name.
  Status ApplyTo(server::Config& config, LogSink& log) const;
};

}  // namespace apiserver::inline v0::options
