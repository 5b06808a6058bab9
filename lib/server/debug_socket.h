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

// The /debug endpoints over HTTP without TLS on a Unix socket. Only the owner of its file may open
// it, and there is no further authentication. k8s.io/apiserver/pkg/server/routes/debugsocket.go.
class DebugSocket {
 public:
  struct Needs {
    Executor& pool;
    std::shared_ptr<MemoryBudget> memory;
    std::size_t body_bytes_max;
    LogSink& log;
  };
  // Returns the paths to serve; add them before Listen().
  PathMux& mux() { return mux_; }

  explicit DebugSocket(const Needs& needs);
  DebugSocket(const DebugSocket&) = delete;
  DebugSocket& operator=(const DebugSocket&) = delete;
  // Stops. Destroy it after the pool has stopped.
  ~DebugSocket() { Stop(); }

  // Binds the socket. Replaces one that a process left behind when it ended. kConflict: the file at
  // `path` is no socket.
  Status Listen(const std::string& path);
  // Closes the connections and removes the file. Idempotent.
  void Stop();

 private:
  PathMux mux_;
  http::Service service_;
  std::string path_;
  std::unique_ptr<http::Listener> listener_;
};

}  // namespace apiserver::inline v0::server
