#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "apiserver/base/executor.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"
#include "apiserver/http/listener.h"
#include "server/mux/path_mux.h"

namespace apiserver::inline v0::server {

// The /debug endpoints over HTTP without TLS on a Unix socket, which only its file's owner may
// open; who that is, is all that is asked. k8s.io/apiserver/pkg/server/routes/debugsocket.go.
class DebugSocket {
 public:
  struct Needs {
    Executor& pool;
    std::shared_ptr<MemoryBudget> memory;
    std::size_t body_bytes_max;
    LogSink& log;
  };
  // What it serves; before Listen().
  PathMux& mux() { return mux_; }

  explicit DebugSocket(const Needs& needs);
  DebugSocket(const DebugSocket&) = delete;
  DebugSocket& operator=(const DebugSocket&) = delete;
  // Stops. After the pool has stopped.
  ~DebugSocket() { Stop(); }

  // Replaces a socket that is there, of a process that ended without removing it. kConflict: what
  // is at `path` is no socket.
  Status Listen(const std::string& path);
  // Closes its connections and removes the file. Idempotent.
  void Stop();

 private:
  PathMux mux_;
  http::Service service_;
  std::string path_;
  std::unique_ptr<http::Listener> listener_;
};

}  // namespace apiserver::inline v0::server
