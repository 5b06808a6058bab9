#pragma once

#include <functional>

#include "apiserver/base/status.h"
#include "apiserver/server/server.h"

// The end of a program by signals. The rooms program.signals and program do what a program's main()
// does and a library must not: they read flags from argv, handle signals, write to standard output
// and standard error, and choose exit codes. No other room of the library does any of this, so a
// host that has its own main() leaves both out.
namespace apiserver::inline v0::program {

// Blocks SIGINT and SIGTERM in this thread and in all threads that it starts, so that
// RunUntilSignal receives them, and ignores SIGPIPE. Call it first in main().
void BlockSignals();

// Starts `server`, calls `on_ready` on this thread once the server is ready (it may block), and
// stops the server cleanly on SIGINT or SIGTERM, which it says on standard error after a call of
// `on_stop` (null: there is none); a second signal ends the process at once with exit code 1.
// Raises the soft limit on open files, which a server with thousands of watches needs, and says so
// on standard error. Where systemd has started the process it is told READY=1, STOPPING=1 and, if
// it asks for it, WATCHDOG=1 for as long as the server's pool answers: sd_notify(3), without
// libsystemd. Returns the exit code for main(): 0 after a signal, 1 if the server does not start.
// Call it on main's thread, after BlockSignals() and before the program starts threads of its own.
int RunUntilSignal(server::GenericAPIServer& server, const std::function<void()>& on_ready,
                   const std::function<void()>& on_stop = nullptr);

// Prints `error: <message>` on standard error and returns 1.
int Fail(const Status& status);

}  // namespace apiserver::inline v0::program
