#pragma once

#include <functional>

#include "apiserver/server/server.h"

namespace examples {

// Starts `server`, calls `on_ready` once it is ready, and stops it cleanly on SIGINT or SIGTERM; a
// second signal ends the process at once. Raises the soft limit on open files, which a server with
// thousands of watches needs, and says so. The exit code for main(). Call it from main's thread,
// before any other thread of the program's own exists.
int RunUntilSignal(apiserver::server::GenericAPIServer& server,
                   const std::function<void()>& on_ready);

// Blocks SIGINT and SIGTERM in this thread and all it starts, so that RunUntilSignal gets them.
// Call it first in main().
void BlockSignals();

// Prints `error: <what>` and returns 1.
int Fail(const apiserver::Status& status);

}  // namespace examples
