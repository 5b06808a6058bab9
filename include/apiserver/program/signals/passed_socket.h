#pragma once

#include <optional>
#include <string>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::program {

// A listening TCP socket that the service manager has opened for this process.
struct PassedSocket {
  int fd = -1;          // For http::ListenerOptions::socket.
  std::string address;  // The IP address that it is bound to, without brackets.
  int port = 0;
};

// Returns the socket that systemd, or another program as sd_listen_fds(3) describes, has passed to
// this process. nullopt: it has passed none. Variables that are meant for another process, as
// LISTEN_PID says, are not looked at. Else LISTEN_PID, LISTEN_FDS and LISTEN_FDNAMES are removed,
// and the sockets are not passed on to programs that this one starts.
//
// Such a socket survives a restart of the server: clients that connect meanwhile wait. It may have
// a port that this process could not open itself.
//
// Call it once, on main's thread, before the program starts threads.
// kInvalid: LISTEN_FDS is no number, there is more than one socket or none, or it is no TCP socket
// that listens. The message names it and the remedy.
Result<std::optional<PassedSocket>> TakePassedSocket();

}  // namespace apiserver::inline v0::program
