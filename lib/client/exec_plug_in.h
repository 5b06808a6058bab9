#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/client/client_config.h"
#include "client/exec_credential.h"

namespace apiserver::inline v0::client {

// The services that an ExecPlugIn uses. They outlive it.
struct ExecPlugInDeps {
  const FileSystem* files = &RealFileSystem();
  const Clock* clock = &RealClock();
  LogSink* log = &NullLogSink();
};

// The plug-in of a configuration. For one thread at a time.
class ExecPlugIn {
 public:
  // Requires `config.exec`.
  ExecPlugIn(ClientConfig config, const ExecPlugInDeps& deps)
      : config_(std::move(config)), deps_(deps) {}

  // Runs the program, with what it writes to standard error going to the log, and reads its output.
  // Waits for its end, at most until `ctx` is done. kTimeout: `ctx` was, or the limit has passed;
  // kServiceUnavailable: it cannot be run, has failed, or its output cannot be used.
  Result<std::shared_ptr<const ExecCredentials>> Run(const Context& ctx);

 private:
  Result<ExecCredentials> Output(const Context& ctx);
  Result<ExecCluster> Cluster() const;
  void LogErrors(const std::string& errors) const;
  Status NotFound();

  const ClientConfig config_;
  const ExecPlugInDeps deps_;
  // The times that the error of a missing program has told how to install it, since then.
  std::size_t hints_ = 0;
  Clock::Monotonic hints_since_;
};

}  // namespace apiserver::inline v0::client
